"""`[DOC: path]` once for a run of one document, then one text after another, a line each.

A line that is not indented starts a new text: further lines of a text are indented by one space,
and a first line that is empty or begins with a space gets a backslash in front. A header is written
where the document or its metadata changes, and under a page summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import aside
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.header import (
    fields,
    format_details,
    is_same_document,
    one_line,
    parse_details,
)
from foveate.core.text.escape import text_start_rule
from foveate.core.types import Block

_DOC = "[DOC: "
_MARK = r"(?i:[ \t]*+doc[ \t]*+:)"
_BODY = body_guard(square=(_MARK,), markers=True).with_rules(text_start_rule("", r"[ ]|\n|\Z"))
_LINE = line_guard(_MARK, markers=True)
_FIELD = field_guard(_MARK, markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """Texts under their document's path."""

    name = "doc"
    reads: ClassVar[tuple[str, ...]] = ("source",)

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line between documents (each text ends its own line)."""
        gap = "" if is_same_document(block, previous) else "\n"
        return aside.block_separator(previous, block, gap)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """`[DOC: path, key: value]`, or nothing within a run."""
        if is_same_document(block, previous):
            return ""
        path = _FIELD(one_line(block.source)) + format_details(block, _FIELD, page=False)
        return f"{_DOC}{aside.BETWEEN(path)}]\n"

    def body(self, text: str) -> str:
        """Neutralised, document labels too; lines after the first indented by one space."""
        return _BODY(text).replace("\n", "\n ")

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the text's line."""
        return "\n" if block.kind == "chunk" else ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, _LINE) + "\n", ""

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back; each has its document's source and metadata."""
        found: list[ParsedBlock] = []
        at = aside.supplements_end(text)
        while at < len(text):
            end = text.find("\n\n", at)
            end = len(text) - 1 if end < 0 else end
            found += _parse_run(text, at, end)
            at = end + 2
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, its document's source and metadata."""
        return ParsedBlock(text=block.text, fields=fields(block, "source"))

    def label(self, block: Block) -> str:
        """The path."""
        return one_line(block.source)


def _parse_run(text: str, at: int, end: int) -> list[ParsedBlock]:
    """The texts of one run, `text[at:end]`, without the last line's newline."""
    head = at if text.startswith(_DOC, at) else text.index("\n", at) + 1
    start = text.index("\n", head) + 1
    inner = aside.BETWEEN.undo(text[head + len(_DOC) : start - 2])
    source, known = parse_details(inner, _FIELD)
    known["source"] = _FIELD.undo(source)
    extra = {"summary": aside.parse_summary(text[at : head - 1], _LINE)} if head > at else {}
    found = []
    for indented in _split_texts(text[start:end]):
        body = _BODY.undo(indented.replace("\n ", "\n"))
        found.append(ParsedBlock(text=body, fields={**known, **extra}, start=start))
        start += len(indented) + 1
        extra = {}
    return found


def _split_texts(lines: str) -> list[str]:
    texts: list[list[str]] = []
    for line in lines.split("\n"):
        if texts and line.startswith(" "):
            texts[-1].append(line)
        else:
            texts.append([line])
    return ["\n".join(parts) for parts in texts]
