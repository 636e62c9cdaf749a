"""`[DOC: path]` once for a run of one document, then one text after another, each on its own lines.

Texts stand as they are, further lines included, so nothing tells the texts of one run apart, and
`parse` gives a run back as one block. A header is written where the document or its metadata
changes, and under a page summary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    BETWEEN,
    TextFormat,
    block_separator,
    fields,
    format_details,
    is_same_document,
    one_line,
    parse_blocks,
    parse_details,
)
from foveate.core.text.escape import Guard
from foveate.core.types import Block

_DOC = "[DOC: "
_MARK = r"(?i:[ \t]*+doc[ \t]*+:)"
_HEAD = re.compile(r"^\[DOC: ([^\n]*)\]\n", re.MULTILINE)
_BODY = body_guard(square=(_MARK,), markers=True)
_LINE = line_guard(_MARK, markers=True)
_FIELD = field_guard(_MARK, markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc(TextFormat):
    """Texts under their document's path."""

    name = "doc"
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    joins_runs: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("source",)

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line between documents (each text ends its own line)."""
        gap = "" if is_same_document(block, previous) else "\n"
        return block_separator(previous, block, gap)

    def header(self, block: Block, previous: Block | None) -> str:
        """`[DOC: path, key: value]`, or nothing within a run."""
        if is_same_document(block, previous):
            return ""
        path = _FIELD(one_line(block.source)) + format_details(block, _FIELD, page=False)
        return f"{_DOC}{BETWEEN(path)}]\n"

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the text's line."""
        return "\n" if block.kind == "chunk" else ""

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The runs back, a block each; each has its document's source and metadata."""
        text = text.removesuffix("\n")
        return parse_blocks(text, _HEAD, self.gap, (_BODY, _LINE), _parse_header)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, its document's source and metadata."""
        return ParsedBlock(text=block.text, fields=fields(block, "source"))

    def label(self, block: Block) -> str:
        """The path."""
        return one_line(block.source)


def _parse_header(head: re.Match[str]) -> dict[str, str]:
    source, found = parse_details(BETWEEN.undo(head[1]), _FIELD)
    return {**found, "source": _FIELD.undo(source)}
