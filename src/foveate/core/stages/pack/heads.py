"""What goes on in a later chunk leans on what it stands in there (SPEC U1, U2).

Rows of a table that was cut into chunks lean on the names of their columns, records of a list on
what opens it, code on the signatures around it. A document's texts are read in order, and a shape
leaves something open: a table its names, code the lines below which deeper ones may come. What
follows and is of the same kind is in it. Where the metadata of a chunk name the chunks with the
names or signatures around it, no others count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from operator import itemgetter
from typing import NamedTuple

from foveate.core.grouping import head_places, place_in_document
from foveate.core.renditions import shapes_of
from foveate.core.text.shapes.shape import Shape, indent_of, line_end, line_start, repair_first
from foveate.core.types import CODE_HEADS, TABLE_NAMES, Candidate, Chunk, Part, Span

LONGEST_REST = 4_000
"""Characters at the beginning of a chunk that may be the rest of a record."""
INNERMOST = 1_000_000
"""The indentation of a line that was cut, which is in all that is open."""
_EMPTY_LINE = re.compile(r"\n[ \t\r]*\n")
"""Between prose and a table that has nothing to do with the one before."""
_GOES_ON_DEEPER = tuple(":{([,\\")
"""Ends of a line below which deeper ones may stand."""
_LOOKED_AT = 60  # lines from which the indentation of the first is read


def link_heads(pool: Sequence[Candidate], firsts: Sequence[int], heads: list[int]) -> None:
    """Let each piece lean on what it stands in, if that is in an earlier one; `heads` is changed.

    Pieces of candidate i are `firsts[i]` up to `firsts[i + 1]`.
    """
    documents: dict[str, list[int]] = {}
    for owner, candidate in enumerate(pool):
        if candidate.sentences is not None:
            documents.setdefault(candidate.document_id, []).append(owner)
    for owners in documents.values():
        if any(_may_lean(pool[owner]) for owner in owners):
            reader = _Document(heads)
            for candidate, pieces in _texts(pool, owners, firsts):
                reader.read(candidate, pieces)


def _may_lean(candidate: Candidate) -> bool:
    """Whether it is of records, rows or code, as most texts are not."""
    return bool(shapes_of(candidate.chunk, candidate.parts)) or any(
        CODE_HEADS in chunk.metadata for chunk, _ in _chunks_of(candidate)
    )


class _Pieces(NamedTuple):
    """The pieces of a text in order: where each of them stands, and its number."""

    spans: list[Span]
    numbers: list[int]

    def holding(self, start: int, end: int) -> tuple[Span, int]:
        """Where the piece stands that has this as a whole, and its number, -1 if none has."""
        at = bisect_right(self.spans, start, key=itemgetter(0)) - 1
        if at >= 0 and end <= self.spans[at][1]:
            return self.spans[at], self.numbers[at]
        return (0, 0), -1


def _texts(
    pool: Sequence[Candidate], owners: Sequence[int], firsts: Sequence[int]
) -> Iterator[tuple[Candidate, _Pieces]]:
    """A document's texts with their pieces, as they read; divided passages are one again."""
    texts: dict[str, list[int]] = {}
    for owner in sorted(owners, key=lambda owner: place_in_document(pool[owner].chunk)):
        one = pool[owner]
        texts.setdefault(one.chunk.content_hash if one.parts else one.id, []).append(owner)
    for same in texts.values():
        numbers: dict[Span, int] = {}
        parts: dict[Span, Part] = {}
        for owner in same:
            sentences = pool[owner].sentences
            numbers |= zip(sentences.spans if sentences else (), count(firsts[owner]))
            parts |= {part.span: part for part in pool[owner].parts}
        whole = tuple([parts[span] for span in sorted(parts)])
        spans = sorted(numbers)
        yield replace(pool[same[0]], parts=whole), _Pieces(spans, [numbers[span] for span in spans])


def _chunks_of(candidate: Candidate) -> list[tuple[Chunk, Span]]:
    """The chunks of a candidate, and where each stands in its text."""
    return [(part.chunk, part.span) for part in candidate.parts] or [
        (candidate.chunk, (0, len(candidate.text)))
    ]


@dataclass(slots=True)
class _Open:
    """What may go on: its piece, the sequence of the chunk that it stands in, and its shape.

    `indent`: of a signature, and `inner`: of the lines in it, -1 while none is known.
    """

    piece: int
    sequence: int
    shape: Shape
    indent: int = 0
    inner: int = -1


@dataclass(slots=True)
class _Document:
    """What is open at the place of the document that was reached.

    `tables`: the last one with names by the sequence of its chunk. `end`, `line`: where the last
    text ends in the document, and its last line.
    """

    heads: list[int]
    signatures: list[_Open] = field(default_factory=list)
    table: _Open | None = None
    tables: dict[int, _Open] = field(default_factory=dict)
    end: int | None = None
    line: str = ""

    def read(self, candidate: Candidate, pieces: _Pieces) -> None:
        """Link the pieces of the next text."""
        text, chunks, at = candidate.text, _chunks_of(candidate), 0
        for shape in shapes_of(candidate.chunk, candidate.parts):
            between = text[at : shape.start]
            if between.strip() or (at and shape.name != "code"):
                self.signatures = []
            chunk, (first, _) = next(one for one in chunks if shape.start < one[1][1])
            is_first = not text[first : shape.start].strip()
            if shape.name == "code":
                indent = self._code_indent(text, shape, chunk, is_first=is_first, is_open=not at)
                self._read_code(text, shape, indent, (pieces, chunks))
            else:
                if is_first and not at and TABLE_NAMES in chunk.metadata:
                    self.table = self.tables.get(_sequence(chunk.metadata[TABLE_NAMES]))
                self._read_rows(text, shape, between, pieces, is_first=not at)
            if shape.head >= 0:
                start, end = shape.spans[shape.head]
                _, piece = pieces.holding(start, end)
                sequence = _chunk_at(chunks, start).sequence
                self.table = _Open(piece, sequence, shape) if piece >= 0 else None
                if self.table is not None:
                    self.tables[sequence] = self.table
            at = shape.end
        if text[at:].strip():
            self.table, self.signatures = None, []
        last = chunks[-1][0]
        self.end, self.line = last.end, last.text[last.text.rfind("\n") + 1 :]

    def _read_rows(
        self, text: str, shape: Shape, between: str, pieces: _Pieces, *, is_first: bool
    ) -> None:
        """Rows or records that go on lean on what is open, where that is next before them."""
        is_rest = is_first and len(between) <= LONGEST_REST
        is_next = not (_EMPTY_LINE.search(between) if is_rest else between.strip())
        if not is_next and not is_first:
            self.table = None
        if self.table is None or not is_next or not _continues(self.table.shape, shape):
            return
        rows = {a for counted in shape.counted for a, _ in counted.spans}
        starts = sorted(rows) or [a for a, _ in shape.spans]  # of a few lines none is counted
        deep = self.table.shape.columns if shape.name == "indented" else -1
        for (a, b), piece in dict([pieces.holding(row, row + 1) for row in starts]).items():
            lead = b - a - len(text[a:b].lstrip(" \t"))
            if piece >= 0 and self.heads[piece] == piece and (deep in (-1, lead) or a == 0):
                self.heads[piece] = self.table.piece

    def _read_code(
        self,
        text: str,
        shape: Shape,
        first: int,
        places: tuple[_Pieces, Sequence[tuple[Chunk, Span]]],
    ) -> None:
        """Lines lean on the signature that they are deeper than; `first`: how deep the first is."""
        pieces, chunks = places
        holders = {lean for unit, lean in enumerate(shape.leans) if lean != unit}
        for unit, (start, _) in enumerate(shape.spans):
            indent = _indent_at(text, start) if unit else first
            while self.signatures and self.signatures[-1].indent >= indent:
                self.signatures.pop()
            around = self.signatures[-1] if self.signatures else None
            _, piece = pieces.holding(start, start + 1)
            if around is not None and indent < INNERMOST:
                around.inner = indent if around.inner < 0 else around.inner
            if around is not None and piece >= 0 and self.heads[piece] == piece != around.piece:
                self.heads[piece] = around.piece
            if piece >= 0 and (unit in holders or unit == len(shape.spans) - 1):
                sequence = _chunk_at(chunks, start).sequence
                self.signatures.append(_Open(piece, sequence, shape, indent))

    def _code_indent(
        self, text: str, shape: Shape, chunk: Chunk, *, is_first: bool, is_open: bool
    ) -> int:
        """How deep the first line is, which may have lost its indentation or its beginning."""
        indent = _indent_at(text, shape.start)
        if CODE_HEADS in chunk.metadata and is_first:
            around = {sequence for _, sequence in head_places(chunk)}
            self.signatures = [one for one in self.signatures if one.sequence in around]
            return indent or INNERMOST
        if not is_open:
            return indent
        code = text[shape.start : shape.end]
        lines = [*islice(filter(str.strip, code.splitlines()), _LOOKED_AT)]
        indents = [*map(indent_of, lines)]
        repair_first(indents)
        if chunk.start is not None and chunk.start == self.end and self.line:
            return INNERMOST if self.line.strip() else indent_of(self.line) + indents[0]
        following = max(indents[1:2], default=0)
        if indents[0] < following and not lines[0].rstrip().endswith(_GOES_ON_DEEPER):
            return INNERMOST
        deeper = [one.inner for one in self.signatures if 0 <= one.inner < following]
        return deeper[-1] if deeper and not indents[0] else indents[0]


def _sequence(named: object) -> int:
    """The sequence of a chunk that metadata name; -1 for none."""
    return named if type(named) is int else -1


def _chunk_at(chunks: Sequence[tuple[Chunk, Span]], at: int) -> Chunk:
    """The chunk that has this place of the text."""
    return chunks[max(bisect_right(chunks, at, key=lambda one: one[1][0]) - 1, 0)][0]


def _indent_at(text: str, at: int) -> int:
    return indent_of(text[line_start(text, at) : line_end(text, at)])


def _continues(before: Shape, shape: Shape) -> bool:
    """Whether the shape may be the rest of the one before."""
    if before.name == "indented":
        return shape.name == "indented"
    if "code" in (before.name, shape.name) or (shape.head >= 0 and shape.columns):
        return False
    kind = before.name.partition(" ")[0]
    return kind == shape.name.partition(" ")[0] and before.columns == shape.columns
