"""The blocks of a text: headings, paragraphs, list items, code, tables.

Markdown, plain text and underlined titles are read, in one linear pass. Every character that is not
white space is in exactly one block; blocks are trimmed and in order. Where conventions disagree,
the reading that keeps lines apart wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from foveate.core.types import Span

BlockKind: TypeAlias = Literal["paragraph", "heading", "list", "code", "table"]

_RARE_ENDS = "\r\f\v\u2028\u2029"
# A class of many characters is slow to run over, so texts with line feeds alone are read without.
_END = rf"(?:\r\n|[\n{_RARE_ENDS}]|\Z)"
_LINE, _USUAL_LINE = (re.compile(f"({rest}*+){_END}") for rest in (rf"[^\n{_RARE_ENDS}]", "."))
# No label begins with the first character of these lines, and nothing behind them changes them.
_PLAIN = r"[^\s\d`~#|:\-=^*\"+_'\u2022\u2023\u25aa\u25e6].*+"
_PARAGRAPH = re.compile(rf"({_PLAIN}(?:\n{_PLAIN})*+)(?:\n(?:\n|\Z)|\Z)")
_LABEL = re.compile(
    r"""
      (?P<blank>\s*+\Z)
    | (?P<fence>[ ]{0,3}+(?:`{3,}+[^`]*+\Z|~{3,}+))
    | (?P<atx>[ ]{0,3}+\#{1,6}+(?:[ \t]|\Z))
    | (?P<delimiter>[ ]*+\|?+[ ]*+:?+-++:?+[ ]*+(?:\|[ ]*+(?::?+-++:?+[ ]*+)?+)++\Z)
    | (?P<underline>[ ]{0,3}+(?:={2,}+|-{2,}+|\^{3,}+|\*{3,}+|"{3,}+|\+{3,}+|_{3,}+|'{3,}+|\#{7,}+)
        [ \t]*+\Z)
    | (?P<item>[ \t]*+(?:[-*+\u2022\u2023\u25aa\u25e6]|\d{1,9}+[.)])[ \t]++\S)
    | (?P<row>[ \t]*+(?:\|.*\||\+[-=][-=+]*+\+)[ \t]*+\Z)
    | (?P<indent>(?:[ ]{4}|[ ]{0,3}+\t))
    | (?P<text>)
    """,
    re.VERBOSE,
)
_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*+\r?\n(?=[\w-]++[ \t]*+:)(?:.*+\r?\n)*?(?:---|\.\.\.)[ \t]*+(?=\r?\n|\Z)"
)
_FENCE = re.compile(r" *+(`{3,}+|~{3,}+)")
_ORDERED = re.compile(r"[ \t]*+(\d++)[.)]")


@dataclass(slots=True)
class _Block:
    kind: BlockKind
    start: int
    end: int
    lines: int = 1
    fence: str = ""


def block_spans(text: str) -> list[tuple[Span, BlockKind]]:
    r"""The blocks of the text in order, as trimmed half-open spans with their kinds.

    >>> block_spans("# Tea\n\nBoil water.\n- cup\n- leaf")
    [((0, 5), 'heading'), ((7, 18), 'paragraph'), ((19, 24), 'list'), ((25, 31), 'list')]
    """
    return list(each_block(text))


def each_block(text: str) -> Iterator[tuple[Span, BlockKind]]:
    """The same blocks one by one, each as soon as no later line can change it."""
    front = front_matter(text)
    blocks = [_Block("code", 0, front)] if front else []
    current: _Block | None = None
    at, size = front, len(text)
    is_usual = _is_usual(text)
    line = (_USUAL_LINE if is_usual else _LINE).match
    while at < size:
        if text[at] == "\n" and not (current and current.fence):
            current, at = None, at + 1
            continue
        plain = _PARAGRAPH.match(text, at) if is_usual and current is None else None
        if plain:
            blocks.append(_Block("paragraph", *plain.span(1)))
            at = plain.end()
        elif found := line(text, at):
            current = _add_line(text, *found.span(1), blocks, current)
            at = found.end()
        if len(blocks) > 1:
            done = blocks.pop(0)
            yield trim_span(text, done.start, done.end), done.kind
    for last in blocks:
        yield trim_span(text, last.start, last.end), last.kind


def front_matter(text: str) -> int:
    """Where the YAML front matter of the text ends; 0 if there is none."""
    match = _FRONT_MATTER.match(text)
    return match.end() if match else 0


def line_spans(text: str, first: int = 0) -> Iterator[Span]:
    """The lines from character `first` on, without their ends; a last empty line is left out."""
    size = len(text)
    for match in (_USUAL_LINE if _is_usual(text) else _LINE).finditer(text, first):
        if match.start() < size:
            yield match.span(1)


def trim_span(text: str, start: int, end: int) -> Span:
    """The span without white space at its two ends; empty at `start` if it is nothing else."""
    piece = text[start:end].rstrip()
    end = start + len(piece)
    if piece[:1].isspace():
        start += len(piece) - len(piece.lstrip())
    return (start, end)


def _is_usual(text: str) -> bool:
    """Whether its lines end with line feeds alone."""
    return all(end not in text for end in _RARE_ENDS)


def _add_line(
    text: str, start: int, end: int, blocks: list[_Block], current: _Block | None
) -> _Block | None:
    if current is not None and current.fence:
        return _continue_fence(text, start, end, current)
    match = _LABEL.match(text, start, end)
    label = match.lastgroup if match else "text"
    if label == "blank":
        return None
    if current is not None and label in ("underline", "delimiter", "fence"):
        kind = _kind_from_next_line(text, start, end, current)
        if kind is not None:
            current.kind, current.end, current.lines = kind, end, current.lines + 1
            return None if kind == "heading" else current
    if current is not None and _is_continuation(text, start, end, str(label), current):
        current.end, current.lines = end, current.lines + 1
        return current
    return _open_block(text, start, end, str(label), blocks)


def _continue_fence(text: str, start: int, end: int, block: _Block) -> _Block | None:
    block.end = end
    closing = _FENCE.match(text, start, end)
    if closing is None or text[closing.end() : end].strip():
        return block
    return None if closing.group(1).startswith(block.fence) else block


def _kind_from_next_line(text: str, start: int, end: int, block: _Block) -> BlockKind | None:
    if block.kind != "paragraph":
        return None
    rule = text[start:end].strip()
    if set(rule) <= set("|:- ") and "|" in rule:
        one_row = block.lines == 1 and "|" in text[block.start : block.end]
        return "table" if one_row else None
    if len(set(rule)) > 1:
        return None
    if rule[0] in "=-":
        return "heading"
    title = text[block.start : block.end].strip()
    return "heading" if block.lines == 1 and len(rule) >= max(4, len(title)) else None


def _is_continuation(text: str, start: int, end: int, label: str, block: _Block) -> bool:
    if block.kind == "table":
        return label in ("row", "delimiter") or "|" in text[start:end]
    if block.kind == "code":
        return label == "indent"
    if block.kind == "heading":
        return False
    if label == "item":
        ordered = _ORDERED.match(text, start, end)
        # As in CommonMark: "1986. A fine year" at the start of a line does not open a list.
        return block.kind == "paragraph" and ordered is not None and ordered.group(1) != "1"
    return label in ("text", "indent")


def _open_block(text: str, start: int, end: int, label: str, blocks: list[_Block]) -> _Block | None:
    """A new block for the line; None where nothing can be added to it."""
    after_list = bool(blocks) and blocks[-1].kind == "list"
    fence = ""
    kind: BlockKind = "paragraph"
    if label == "fence":
        opening = _FENCE.match(text, start, end)
        kind, fence = "code", opening.group(1) if opening else ""
    elif label == "atx":
        kind = "heading"
    elif label == "item" or (label == "indent" and after_list):
        kind = "list"
    elif label == "indent":
        kind = "code"
    elif label == "row":
        kind = "table"
    block = _Block(kind, start, end, 1, fence)
    blocks.append(block)
    return None if label in ("atx", "underline") else block
