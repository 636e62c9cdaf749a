"""YAML and text like it: keys with values, lists of them, nested by indentation; never evaluated.

A line and the lines below it that are deeper are one value, and `json.py` makes units of values.
Stanzas that begin with the same key are records too.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from foveate.core.text.shapes.json import FEWEST_RECORDS, Node, Writer
from foveate.core.text.shapes.shape import (
    ReadResult,
    Shape,
    indent_of,
    line_end,
    line_start,
    repair_first,
)
from foveate.core.types import Span

FEWEST_LINES = 4
LEAST_SHARE = 0.7
"""Of the lines are keys or items."""
MAX_VALUE = 120
"""Characters of a line on average; longer ones are sentences."""

OPENS = (
    r"[ \t]*+(?:-[ \t]++)*+(?:[\w./@$-]{1,64}+|\"[^\"\n]{1,60}+\"|'[^'\n]{1,60}+')[ \t]*+:(?=\s|\Z)"
)
_KEY = re.compile(OPENS)
_PLAIN_KEY = re.compile(r"[ \t]*+([\w./@$-]++)[ \t]*+:")
_VALUE = re.compile(r"(?![ \t]*+-)[^\n:]++:[ \t]++[^\s|>&!{\[]")
_BLOCK = re.compile(r":[ \t]++[|>][+-]?[ \t\r]*+\Z")
_TORN_KEY = re.compile(r"[ \t]*+[\w./@$-]*+\Z")
_ITEM = re.compile(r"[ \t]*+-(?=[ \t]|\Z)")
_PASSED = re.compile(r"[ \t]*+(?:#|---[ \t]*+\r?\Z|\.\.\.[ \t]*+\r?\Z)")


def read_indented(text: str, start: int) -> ReadResult:
    """The lines from here on that are keys, items, or deeper than one of those."""
    lines, stop = _lines(text, start)
    if len(lines) < FEWEST_LINES or not _are_fields(text, lines):  # as in most prose
        return ReadResult(None, stop)
    root = _tree(text, lines)
    _gather_stanzas(text, root)
    shape = Writer(text).shape(root, "indented")
    return ReadResult(shape._replace(columns=_depth_below(text, shape)), stop)


def _are_fields(text: str, lines: list[Span]) -> bool:
    """Whether most of the lines are keys with short values, or items that begin with one."""
    keys = [line for line in lines if _KEY.match(text, *line)]
    items = [line for line in lines if _ITEM.match(text, *line)]
    nested = len(set(keys) & set(items))
    foreign = sum(text[b - 1] in ",;{[" for _, b in lines)
    return (
        4 * foreign <= len(lines)
        and len(keys) >= LEAST_SHARE * (len(lines) - _block_lines(text, lines))
        and sum(b - a for a, b in lines) <= MAX_VALUE * len(lines)
        and not (items and len(keys) == nested and len(keys) < 2 * len(items))
    )


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
            _KEY.match(line)
            or _ITEM.match(line)
            or (lines and not blank and (indent_of(line) > least or _TORN_KEY.match(text, at)))
        ):
            lines.append((at, end))
            blank = 0
        else:
            break
        at = end + 1
    return lines, max(at, start + 1)


def _tree(text: str, lines: list[Span]) -> Node:
    """The lines as values, each with the deeper ones below it; an item is deeper than its key."""
    root = Node(lines[0][0], lines[-1][1])
    stack, tops, items = [(-1.0, root)], list[float](), Counter[int]()
    indents = [indent_of(text[a:b]) for a, b in lines]
    repair_first(indents)
    if not lines[0][0] and _VALUE.match(text) and len(lines) > 1 and _KEY.match(text, *lines[1]):
        indents[0] = indents[1] + bool(_ITEM.match(text, *lines[1]))  # nothing is below a value
    before = 0
    for (a, b), indent in zip(lines, indents, strict=True):
        is_item = bool(_ITEM.match(text, a, b))
        depth = indent + is_item / 2
        while stack[-1][0] >= depth:
            stack.pop()[1].end = before
        parent, before = stack[-1][1], b
        tops += [depth] * (parent is root)
        node = Node(a + len(text[a:b]) - len(text[a:b].lstrip()), b, keyed=True)
        parent.inner.append(node)
        items[id(parent)] += is_item
        parent.bracket = "[" if 2 * items[id(parent)] > len(parent.inner) else "{"
        stack.append((depth, node))
    for _, node in stack[1:]:
        node.end, node.cut = before, True
    rest = tops.index(min(tops))  # what is deeper than a later line was cut from its beginning
    if rest:
        root.inner[:rest] = [Node(root.start, root.inner[rest - 1].end, keyed=True)]
    return root


def _depth_below(text: str, shape: Shape) -> int:
    """The indentation of what the head of the shape opens."""
    below = (n for n, lean in enumerate(shape.leans) if lean == shape.head < n)
    at = shape.spans[next(below, 0)][0]
    return indent_of(text[line_start(text, at) : line_end(text, at)]) if shape.head >= 0 else 0


def _gather_stanzas(text: str, root: Node) -> None:
    """Where one key comes again and again, what is from it to the next is one record.

    That is the key that most stanzas begin with, or else the first: a text that was cut may begin
    in the middle of a record.
    """
    if len(root.inner) <= FEWEST_LINES:
        return
    names = [_PLAIN_KEY.match(text, one.start) for one in root.inner]
    keys = [name[1] if name else "" for name in names]
    times = Counter(keys)
    opening = Counter(
        key
        for key, (before, one) in zip(keys[1:], pairwise(root.inner), strict=True)
        if key and text.count("\n", before.end, one.start) > 1
    )
    first = max(opening, key=opening.__getitem__, default=keys[0])
    if not first or times[first] < FEWEST_RECORDS or times[first] == len(root.inner):
        return
    stanzas: list[Node] = []
    for key, one in zip(keys, root.inner, strict=True):
        if key == first or not stanzas:
            stanzas.append(Node(one.start, one.end, "{", keyed=True, inner=[one]))
        else:
            stanzas[-1].inner.append(one)
            stanzas[-1].end = one.end
    root.inner, root.bracket = stanzas, "["
