"""JSON and JSON Lines, read leniently: a cut end, NaN, single quotes and lone parts are no errors.

Nothing is evaluated; one pass over the tokens finds where values begin and end. Elements of a list
of records are units and are not cut, unless one is longer than `LONGEST_RECORD`; longer values are
opened, and what is in them leans on the key and bracket that open them, which is its path.
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
"""Characters; a longer text between tags is read by its sentences."""
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

_TOKEN = re.compile(
    r"""\s*+(?:
        (?P<string>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')
      | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<comma>,) | (?P<colon>:)
      | (?P<bare>[^\s"'{}\[\],:]++)
      | (?P<torn>["'])
      | (?P<end>\Z))""",
    re.VERBOSE | re.DOTALL,
)
_RESUMES = re.compile(r"[}\]]\s*+,?\s*+(?=[{\[]\s*+[\"'{\[])")
_INK = re.compile(r"\S")
_PAIR = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Node:
    """A value from its key, if it has one, to its end; `inner` are a container's values."""

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
    scan = _Scan(text, start)
    scan.run()
    root = scan.root
    size = root.end - start
    ends = not _INK.search(text, root.end)
    whole = size >= SHORTEST or (ends and not _INK.search(text, 0, start))
    is_long = ends and size >= LONGEST_VALUE and '"' in text[start : start + SHORTEST]
    if not whole or (scan.keys < FEWEST_KEYS and not is_long and not _is_grid(root)):
        return ReadResult(None, max(scan.at, start + 1))
    builder = ShapeBuilder()
    writer = Writer(text, builder)
    writer.write(root)
    if not builder.starts:
        return ReadResult(None, max(scan.at, start + 1))
    lines = len(root.inner) > 1 and not scan.commas
    name = "json lines" if lines else "json"
    shape = builder.shape(text, name, root.end, head=writer.open, broken=scan.broken)
    return ReadResult(shape, max(scan.at, start + 1))


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


class _Scan:
    """One pass over the tokens; ends where they stop being JSON."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.root = Node(start, start)
        self.stack = [self.root]
        self.keys = 0
        self.commas = False
        self.broken = False
        self._key = -1  # where the key stands whose value comes next
        self._scalar: Span | None = None

    def run(self) -> None:
        """Read until the end, or until a token that cannot stand there."""
        match = _TOKEN.match
        while True:
            token = match(self.text, self.at)
            kind = token.lastgroup if token else "end"
            if token is None or kind == "end":
                break
            a, b = token.span(kind or 0)
            if kind == "torn":
                if self.text[a] == '"' or self.text.find("'", a + 1) < 0:
                    b = len(self.text)  # nothing closes it
                if len(self.stack) > 1 and b == len(self.text):
                    self._scalar, self.at = (a, b), b
                break
            if not self._take(kind or "", a, b):
                break
            self.at = b
        self._add_scalar()
        open_ones = self.stack[1:]
        self.broken = bool(open_ones)
        for node in reversed(open_ones):
            node.end, node.cut = self.at, True
        if self.root.inner:
            self.root.end = max(self.root.end, self.at if open_ones else self.root.inner[-1].end)

    def _take(self, kind: str, a: int, b: int) -> bool:
        """Whether the token can stand there."""
        if kind == "open":
            return self._open(a)
        if kind == "close":
            return self._close(a, b)
        if kind == "comma":
            self._add_scalar()
            if len(self.stack) == 1:
                self.commas, self.root.end = True, b
            return bool(self.root.inner)
        inside = len(self.stack) > 1
        if kind == "colon":
            if self._scalar is None or self._key >= 0:
                return False
            quoted = self.text[self._scalar[0]] in "\"'"
            self.keys += quoted
            self._key, self._scalar = self._scalar[0], None
            return quoted or inside
        if self._scalar is not None or (not inside and kind == "bare" and self._key < 0):
            return False
        self._scalar = (a, b)
        return True

    def _open(self, at: int) -> bool:
        if self._scalar is not None:
            return False
        keyed = self._key >= 0
        node = Node(self._key if keyed else at, -1, self.text[at], keyed)
        self._key = -1
        self.stack[-1].inner.append(node)
        self.stack.append(node)
        return True

    def _close(self, at: int, end: int) -> bool:
        self._add_scalar()
        if len(self.stack) == 1:
            self.root.end = end
            return bool(self.root.inner)
        if _PAIR[self.stack[-1].bracket] != self.text[at]:
            return False
        self.stack.pop().end = end
        return True

    def _add_scalar(self) -> None:
        """Add a value that no bracket follows to its container."""
        if self._scalar is not None:
            inside = len(self.stack) > 1
            if inside or self._key >= 0:
                keyed = self._key >= 0
                start = self._key if keyed else self._scalar[0]
                self.stack[-1].inner.append(Node(start, self._scalar[1], "", keyed))
            self._scalar = None
        self._key = -1


class Writer:
    """Writes the units of values into a builder; `open`: what opens the value the text ends in."""

    def __init__(self, text: str, builder: ShapeBuilder) -> None:
        self.text = text
        self.builder = builder
        self.lists = False
        self.is_alone = False  # whether nothing else is in the text
        self.open = -1  # the unit that opens what the text ends in

    def write(self, root: Node) -> None:
        """All units of the values that stand side by side."""
        self.lists = has_record_list(root)
        self.is_alone = not (
            _INK.search(self.text, 0, root.start) or _INK.search(self.text, root.end)
        )
        self._inner(root, -1, 0)

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
        if self.text[node.start] != "<" or node.size <= LONGEST_STRING:
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
