"""YAML and text like it: keys with values, lists of them, nested by indentation; never evaluated.

Items of a list of records are units; what is longer is opened, and what is in it leans on the line
that opens it. Stanzas that begin with the same key are records too.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from foveate.core.text.sentences import unit_spans
from foveate.core.text.shapes.json import (
    FEWEST_RECORDS,
    LONGEST_RECORD,
    LONGEST_ROOT,
    LONGEST_STRING,
    LONGEST_VALUE,
)
from foveate.core.text.shapes.shape import (
    ReadResult,
    ShapeBuilder,
    indent_of,
    line_end,
    repair_first,
)
from foveate.core.types import Span

FEWEST_LINES = 4
LEAST_SHARE = 0.7
"""Of the lines are keys or items."""
MAX_VALUE = 120
"""Characters of a line on average; longer ones are sentences."""
DEEPEST = 40

KEY = re.compile(
    r"[ \t]*+(?:-[ \t]++)*+(?:[\w./@$-]++|\"[^\"\n]{1,60}+\"|'[^'\n]{1,60}+')[ \t]*+:(?=\s|\Z)"
)
_PLAIN_KEY = re.compile(r"([\w./@$-]++)[ \t]*+:")
_VALUE = re.compile(r"(?![ \t]*+-)[^\n:]++:[ \t]++[^\s|>&!{\[]")
_BLOCK = re.compile(r":[ \t]++[|>][+-]?[ \t\r]*+\Z")
_TORN_KEY = re.compile(r"[ \t]*+[\w./@$-]*+\Z")
_ITEM = re.compile(r"[ \t]*+-(?=[ \t]|\Z)")
_PASSED = re.compile(r"[ \t]*+(?:#|---[ \t]*+\r?\Z|\.\.\.[ \t]*+\r?\Z)")


@dataclass(slots=True)
class _Node:
    start: int
    end: int
    depth: float
    item: bool
    key: str = ""
    inner: list[_Node] = field(default_factory=list)

    def is_record_list(self) -> bool:
        holders = [one for one in self.inner if one.inner]
        items = sum(one.item for one in holders)
        return len(holders) >= FEWEST_RECORDS and (
            2 * items > len(self.inner)
            or (len(holders) > FEWEST_RECORDS and 5 * len(holders) >= 4 * len(self.inner))
        )


def read_indented(text: str, start: int) -> ReadResult:
    """The lines from here on that are keys, items, or deeper than one of those."""
    lines, stop = _lines(text, start)
    if len(lines) < FEWEST_LINES:  # as in most prose
        return ReadResult(None, stop)
    keys = [line for line in lines if KEY.match(text, *line)]
    items = sum(bool(_ITEM.match(text, *line)) for line in lines)
    nested = sum(
        bool(KEY.match(text, a, b)) for a, b in lines if text[a:b].lstrip().startswith("- ")
    )
    size = sum(b - a for a, b in lines)
    foreign = sum(text[b - 1] in ",;{[" for _, b in lines)
    if (
        4 * foreign > len(lines)
        or len(keys) < LEAST_SHARE * (len(lines) - _block_lines(text, lines))
        or size > MAX_VALUE * len(lines)
        or (items and len(keys) == nested and len(keys) < 2 * items)
    ):
        return ReadResult(None, stop)
    root = _tree(text, lines)
    _gather_rest(root)
    _gather_stanzas(text, root)
    builder = ShapeBuilder()
    lists = any(True for _ in _record_lists(root))
    head, inner = _write(text, root, builder, -1, 0, lists=lists)
    shape = builder.shape(text, "indented", lines[-1][1], head=head, columns=inner)
    return ReadResult(shape, stop)


def _block_lines(text: str, lines: list[Span]) -> int:
    """How many of the lines are text below a key that ends with `|` or `>`."""
    count, key = 0, -1
    for a, b in lines:
        lead = indent_of(text[a:b])
        if 0 <= key < lead:
            count += 1
        else:
            key = lead if _BLOCK.search(text, a, b) else -1
    return count


def _lines(text: str, start: int) -> tuple[list[Span], int]:
    lines: list[Span] = []
    at, least, blank = start, indent_of(text[start : line_end(text, start)]), 0
    while at < len(text):
        end = line_end(text, at)
        line = text[at:end]
        if not line.strip():
            blank += 1
            if blank > 1:
                break
        elif _PASSED.match(line):
            blank = 0
        elif (
            KEY.match(line)
            or _ITEM.match(line)
            or (lines and not blank and (indent_of(line) > least or _TORN_KEY.match(text, at)))
        ):
            lines.append((at, end))
            blank = 0
        else:
            break
        at = end + 1
    return lines, max(at, start + 1)


def _tree(text: str, lines: list[Span]) -> _Node:
    root = _Node(lines[0][0], lines[-1][1], -1.0, item=False)
    stack = [root]
    indents = [indent_of(text[a:b]) for a, b in lines]
    repair_first(indents)
    if not lines[0][0] and _VALUE.match(text) and len(lines) > 1 and KEY.match(text, *lines[1]):
        indents[0] = indents[1] + bool(_ITEM.match(text, *lines[1]))  # nothing is below a value
    for (a, b), lead in zip(lines, indents, strict=True):
        line = text[a:b]
        item = bool(_ITEM.match(line))
        depth = lead + 0.5 * item
        while stack[-1].depth >= depth:
            stack.pop()
        key = _PLAIN_KEY.match(line.lstrip())
        first = a + len(line) - len(line.lstrip())
        node = _Node(first, b, depth, item, key.group(1) if key else "")
        stack[-1].inner.append(node)
        stack.append(node)
        for outer in stack[:-1] if len(stack) <= DEEPEST else ():
            outer.end = b
    return root


def _gather_rest(root: _Node) -> None:
    """What is deeper than a later line of the first level is the rest of a record that was cut."""
    least = min(one.depth for one in root.inner)
    many = next(n for n, one in enumerate(root.inner) if one.depth == least)
    if many:
        rest = root.inner[:many]
        root.inner[:many] = [_Node(rest[0].start, rest[-1].end, rest[0].depth, item=False)]


def _gather_stanzas(text: str, root: _Node) -> None:
    """Where one key comes again and again, what is from it to the next is one record.

    That is the key that most stanzas begin with, or else the first: a text that was cut may begin
    in the middle of a record.
    """
    if len(root.inner) <= FEWEST_LINES:
        return
    times = Counter(one.key for one in root.inner)
    opening = Counter(
        one.key
        for before, one in pairwise(root.inner)
        if one.key and text.count("\n", before.end, one.start) > 1
    )
    first = max(opening, key=opening.__getitem__, default=root.inner[0].key)
    if not first or times[first] < FEWEST_RECORDS or times[first] == len(root.inner):
        return
    stanzas: list[_Node] = []
    for one in root.inner:
        if one.key == first or not stanzas:
            stanzas.append(_Node(one.start, one.end, one.depth, item=True, inner=[one]))
        else:
            stanzas[-1].inner.append(one)
            stanzas[-1].end = one.end
    root.inner = stanzas


def _is_repeated(node: _Node) -> bool:
    """Whether all lines in it have one key, which no object has: rows that are written out."""
    keys = {one.key for one in node.inner}
    return len(keys) == 1 < len(node.inner) and "" not in keys


def _record_lists(node: _Node, depth: int = 0) -> list[_Node]:
    if node.is_record_list():
        return [node]
    if depth >= DEEPEST:
        return []
    return [found for one in node.inner if one.inner for found in _record_lists(one, depth + 1)]


def _write(
    text: str, node: _Node, builder: ShapeBuilder, head: int, depth: int, *, lists: bool
) -> tuple[int, int]:
    """The units of what is in the node; the last unit that opens some, and their indentation."""
    last = head, int(node.inner[0].depth) if head >= 0 else 0
    listed = node.is_record_list()
    spans: list[Span] = []
    noun = "records" if listed or _is_repeated(node) else "" if lists else "fields"
    if noun and len(node.inner) > 1:
        builder.counted.append((noun, spans))
    for one in node.inner:
        size = one.end - one.start
        limit = LONGEST_RECORD if listed else LONGEST_ROOT if one.item else LONGEST_VALUE
        own = builder.add(one.start, head)
        if one.inner and depth < DEEPEST and (size > limit or (not listed and _record_lists(one))):
            last = _write(text, one, builder, own, depth + 1, lists=lists)
        elif not one.inner and size > LONGEST_STRING:
            for a, _ in unit_spans(text, (one.start, one.end), "paragraph")[1:]:
                builder.add(a, own)
        spans.append((one.start, one.end))
    return last
