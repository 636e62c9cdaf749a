"""JSON and JSON Lines, read leniently: a cut end, NaN, single quotes and lone parts are no errors.

Nothing is evaluated; one pass finds where values begin and end. `Writer` makes units of values, of
those that XML and YAML have too: elements of a list of records are units and are not cut, unless
one is longer than `LONGEST_RECORD`; longer values are opened, and what is in them leans on the key
and bracket that open them, which is its path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from foveate.core.text.sentences import unit_spans
from foveate.core.text.shapes.shape import ReadResult, Shape, ShapeBuilder
from foveate.core.types import Span

LONGEST_RECORD = 4_000
"""Characters; a longer record is opened, for it fits no small budget."""
LONGEST_VALUE = 400
"""Characters; a longer value that is no record is opened."""
LONGEST_ROOT = 1_200
"""Characters; a single object up to that many is one record."""
LONGEST_STRING = 1_200
"""Characters; a longer text between tags or behind a key is read by its sentences."""
SCALARS = 80
"""Characters; so much of a list of numbers or words is one unit."""
DEEPEST = 40
"""Values inside one another that are opened; deeper ones stay whole."""
SHORTEST = 200
"""Characters; fewer in a longer text are part of what stands around them."""
LEAST_RESUMED = 0.4
"""Of a text that begins in the middle of a record is whole ones."""
FEWEST_KEYS = 2
FEWEST_RECORDS = 2
FEWEST_MEMBERS = 3

_STRING = r"""(?:"(?:[^"\\]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')"""
_VALUE = re.compile(
    rf"""\s*+(?P<key>(?P<quoted>{_STRING})\s*+:|[^\s"'{{}}\[\],:]++\s*+:(?!/))?\s*+
    (?:(?P<open>[{{\[])|(?P<string>{_STRING})|(?P<bare>[^\s"'{{}}\[\],:]++)|(?P<torn>"|'[^'\n]*+\Z))?""",
    re.VERBOSE | re.DOTALL,
)
_AFTER = re.compile(r"\s*+([,}\]])")
_RESUMES = re.compile(r"[}\]]\s*+,?\s*+(?=[{\[]\s*+[\"'{\[])")
INLINE = re.compile(r"\{\s*\"|\[\s*[\[{]")
_INK = re.compile(r"\S")
_PAIR = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Node:
    """A value from its key, if it has one, to its end; `inner` are a container's values.

    `bracket`: of a list or an object. `cut`: the text ends in it.
    """

    start: int
    end: int = -1
    bracket: str = ""
    keyed: bool = False
    inner: list[Node] = field(default_factory=list)
    cut: bool = False

    @property
    def size(self) -> int:
        """Characters."""
        return self.end - self.start

    def is_record_list(self) -> bool:
        """Whether its containers are records: in a list two, in an object most of three."""
        holders = sum(bool(one.bracket) for one in self.inner)
        if self.bracket == "{":
            return holders >= FEWEST_MEMBERS and 5 * holders >= 4 * len(self.inner)
        return holders >= FEWEST_RECORDS


def read_json(text: str, start: int) -> ReadResult:
    """JSON values from here on, one after another; commas between them are allowed."""
    root, at, keys, is_list = _scan(text, start)
    ends = not _INK.search(text, root.end)
    whole = root.size >= SHORTEST or (ends and not _INK.search(text, 0, start))
    is_long = ends and root.size >= LONGEST_VALUE and '"' in text[start : start + SHORTEST]
    if not root.inner or not whole or (keys < FEWEST_KEYS and not is_long and not _is_grid(root)):
        return ReadResult(None, max(at, start + 1))
    name = "json lines" if len(root.inner) > 1 and not is_list else "json"
    return ReadResult(Writer(text).shape(root, name), max(at, start + 1))


def resume_json(text: str) -> Shape | None:
    """The records from the first whole one on, where the text begins in the middle of another."""
    if text.lstrip().startswith(("{", "[")):
        return None
    found = _RESUMES.search(text, 0, LONGEST_RECORD)
    shape = read_json(text, found.end()).shape if found else None
    is_most = shape is not None and shape.end - shape.start > LEAST_RESUMED * len(text)
    return shape if is_most else None


def _is_grid(root: Node) -> bool:
    rows = root.inner[0].inner if len(root.inner) == 1 else root.inner
    return len(rows) > FEWEST_RECORDS and all(
        row.bracket == "[" and len(row.inner) > 1 for row in rows
    )


def _scan(text: str, start: int) -> tuple[Node, int, int, bool]:
    """The values from here on, up to what cannot stand there.

    How far the text was read, how many keys have quotation marks, and whether a comma stands
    between values of the first level.
    """
    root = Node(start, start)
    stack, at, keys, is_list = [root], start, 0, False
    while (value := _VALUE.match(text, at)) and (kind := value.lastgroup):
        if len(stack) == 1 and not (value["open"] or value["quoted"]):
            at = len(text) if value["torn"] else at
            break
        first = value.start("key" if value["key"] else kind)
        keys += bool(value["quoted"])
        at = len(text) if value["torn"] else value.end(kind)  # nothing closes it
        node = Node(first, at, value["open"] or "", keyed=bool(value["key"]))
        stack[-1].inner.append(node)
        if node.bracket:
            stack.append(node)
        while after := _AFTER.match(text, at):
            if after[1] == ",":
                is_list |= len(stack) == 1
            elif len(stack) > 1:
                if _PAIR[stack[-1].bracket] != after[1]:
                    break
                stack.pop().end = after.end()
            at = after.end()
        if after or (at == node.end and not node.bracket and len(stack) > 1):
            break  # a bracket that does not match, or two values side by side
    for node in reversed(stack[1:]):
        node.end, node.cut = at, True
    root.cut = len(stack) > 1
    root.end = at if root.inner else start
    return root, at, keys, is_list


class Writer:
    """Makes units of values; `open`: the unit that opens what the text ends in, -1 for none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.builder = ShapeBuilder()
        self.lists = False
        self.is_alone = False  # whether nothing else is in the text
        self.open = -1

    def shape(self, root: Node, name: str, *, columns: int = 0) -> Shape:
        """All units of the values that stand side by side in the root."""
        self.lists = has_record_list(root)
        before, behind = _INK.search(self.text, 0, root.start), _INK.search(self.text, root.end)
        self.is_alone = not (before or behind)
        self._inner(root, -1, 0)
        self.builder.starts[0] = min(self.builder.starts[0], root.start)
        return self.builder.shape(
            self.text, name, root.end, head=self.open, columns=columns, broken=root.cut
        )

    def _inner(self, node: Node, head: int, depth: int) -> None:
        listed = node.is_record_list()
        spans: list[Span] = []
        noun = "records" if listed else "" if self.lists else "fields"
        if noun and len(node.inner) > 1:
            self.builder.counted.append((noun, spans))
        reached = -1  # how far the unit of short values that is being gathered goes
        for one in node.inner:
            if node.bracket == "[" and not one.bracket and one.size <= SCALARS:
                if one.end > reached:
                    self.builder.add(one.start, head)
                    reached = one.start + SCALARS
            elif self._opens(one, listed=listed, root=depth == 0) and depth < DEEPEST:
                self._open(one, head, depth)
            else:
                self._value(one, head)
            if one.bracket or node.bracket or not listed:
                spans.append((one.start, one.end))

    def _opens(self, node: Node, *, listed: bool, root: bool) -> bool:
        if not node.bracket or not node.inner:
            return False
        if listed:
            return node.size > LONGEST_RECORD
        if root and self.is_alone and node.bracket == "[" and node.is_record_list():
            return True  # a short list has records as a long one has
        if root and not node.cut and not has_record_list(node):
            return node.size > LONGEST_ROOT
        return node.size > LONGEST_VALUE or node.cut

    def _open(self, node: Node, head: int, depth: int) -> None:
        at = len(self.builder.starts)
        opener = self.builder.add(node.start, head) if node.keyed else head
        if node.cut and node.keyed:
            self.open = opener
        self._inner(node, opener, depth + 1)
        if not node.keyed and len(self.builder.starts) > at:
            self.builder.starts[at] = node.start  # the bracket goes with what it opens

    def _value(self, node: Node, head: int) -> None:
        first = self.builder.add(node.start, head)
        if node.size <= LONGEST_STRING or self.text[node.start] in "\"'{[":
            return  # strings are read through by `strings.py`
        for a, _ in unit_spans(self.text, (node.start, node.end), "paragraph")[1:]:
            self.builder.add(a, first)


def has_record_list(node: Node) -> bool:
    """Whether the value, or one in it, is a list of records."""
    waiting, depth = [node], 0
    while waiting and depth < DEEPEST:
        if any(one.is_record_list() for one in waiting):
            return True
        waiting = [inner for one in waiting for inner in one.inner if inner.size > LONGEST_VALUE]
        depth += 1
    return False
