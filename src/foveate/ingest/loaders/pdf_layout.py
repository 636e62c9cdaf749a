"""The order of a PDF page: columns one after another, rows of tables with their empty cells.

A page keeps the order of its file where no line has a wide gap. Else lines are parted at their gaps
and put together again: where several lines leave the same gutter free, what is beside it are
columns of prose, if their lines are long, or of a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from foveate.ingest.loaders.inline import PLAIN, Inline, Look

WIDE = 0.8  # of a line's height: a gap between two columns, and no space of a justified line
_GUTTER = 0.4  # of a line's height, what several lines leave free together
LONG = 7.0  # of a line's height: how long lines of prose are
_NEAR = 3.0  # of a line's height: rows with more between them are apart
_MOST_ROWS, _MOST_PIECES, _MOST_GUTTERS = 400, 20_000, 50
_MOST_COLUMNS = 4  # of prose
_LEAST_ROWS = 3
_DEPTH = 3  # columns within columns
_SMALL, _ABOVE, _BELOW = 0.85, 0.15, 0.03  # of the height of what is raised or lowered
_KERN = 0.3  # of a line's height: before what is raised
_MARK = re.compile(r"[^\w\s]|o|\(?(?:[0-9]{1,3}|[A-Za-z]{1,4})[.)]")
"""The mark of a list's item, which stands apart from its text and is no column."""
_WORDS = re.compile(r"\s+|\S+")
_RAISED, _LOWERED = Look(place=1), Look(place=-1)


@dataclass(slots=True, eq=False)
class Title:
    """A heading; `size`: its height, 0 if it is bold alone."""

    text: str = ""
    size: float = 0


Text = str | list[list[str]] | Title
"""Lines of a text, rows of a table, or a heading."""


class Glyph(NamedTuple):
    """Characters of one height and their box on the page; without a box (`right` 0) a space.

    `head`: the right of the first of them; `tail`: the left of the last. `is_bold`: as far as
    that was looked for.
    """

    sign: str
    left: float = 0
    bottom: float = 0
    right: float = 0
    top: float = 0
    head: float = 0
    tail: float = 0
    is_bold: bool = False

    @property
    def height(self) -> float:
        """Of the line that it would make."""
        return self.top - self.bottom


@dataclass(slots=True)
class Piece:
    """A part of a line without wide gaps. `place`: of its line in the file, a half for a field.

    `is_running`: whether pages repeat it. `title`: the heading that it is a part of.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    place: float = 0
    is_upright: bool = False  # whether it goes up or down the page
    is_bold: bool = False
    is_running: bool = False
    title: Title | None = None

    @property
    def height(self) -> float:
        """Of its line."""
        return self.top - self.bottom


def page_pieces(glyphs: Iterable[Glyph], fields: Sequence[Piece] = ()) -> list[Piece]:
    """The pieces of a page in the order of its file."""
    pieces = [
        _piece(part, place) for place, line in enumerate(_lines(glyphs)) for part in _parts(line)
    ]
    pieces = [piece for piece in pieces if piece.text.strip()]
    for each in fields:
        each.place = _place_beside(each, pieces)
    return sorted([*pieces, *fields], key=lambda piece: piece.place)


def arrange(pieces: Sequence[Piece]) -> list[Text]:
    """The texts of a page in the order in which they are read."""
    has_gaps = any(one.place == other.place for one, other in pairwise(pieces))
    has_fields = any(piece.place % 1 for piece in pieces)
    if not (has_gaps or has_fields) or len(pieces) > _MOST_PIECES:
        return [*_as_text(pieces)]
    upright = [piece for piece in pieces if piece.is_upright]
    if 2 * len(upright) > len(pieces):
        return [*_as_text(pieces)]
    return list(_read_pieces([piece for piece in pieces if not piece.is_upright], upright))


def _lines(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """The lines as the file has them; what is raised or lowered belongs to the line beside it."""
    line: list[Glyph] = []
    last: Glyph | None = None
    has_ended = False
    for glyph in glyphs:
        if glyph.sign in "\r\n":
            has_ended = True
            continue
        if not glyph.right:
            line += [glyph] if line and not has_ended else []
            continue
        if last is None or (not has_ended and last[2:5:2] == glyph[2:5:2]):
            pass  # at the height of the one before, as most are
        elif _is_apart(last, glyph, has_ended=has_ended):
            yield line
            line = []
        else:
            _set_space(line, last, glyph, has_ended=has_ended)
        line.append(glyph)
        last, has_ended = glyph, False
    if line:
        yield line


def _is_apart(last: Glyph, glyph: Glyph, *, has_ended: bool) -> bool:
    shared = min(last.top, glyph.top) - max(last.bottom, glyph.bottom)
    if shared < min(last.height, glyph.height) / 3:  # unless the line goes up or down the page
        beside = min(last.right, glyph.head) - max(last.tail, glyph.left)
        return has_ended or beside < min(last.right - last.tail, glyph.head - glyph.left) / 2
    gap, height = glyph.left - last.right, max(last.height, glyph.height)
    return has_ended and not -height / 10 <= gap < height / 2


def _set_space(line: list[Glyph], last: Glyph, glyph: Glyph, *, has_ended: bool) -> None:
    """A space as far as there is one before the glyph: none before what is raised."""
    gap, height = glyph.left - last.right, max(last.height, glyph.height)
    if glyph.height < _SMALL * last.height and glyph.bottom > last.bottom and gap < _KERN * height:
        while not line[-1].right:
            line.pop()
    elif has_ended and gap > height / 6:
        line.append(Glyph(" "))


def _parts(line: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    """The parts of a line between wide gaps."""
    part: list[Glyph] = []
    last: Glyph | None = None
    for glyph in line:
        if last is not None and glyph.right and not last.tail <= glyph.left <= last.right:
            wide = WIDE * max(last.height, glyph.height)
            is_apart = glyph.left - last.right > wide or glyph.head < last.tail - wide
            if is_apart and not _MARK.fullmatch("".join(each.sign for each in part).strip()):
                yield part
                part = []
        part.append(glyph)
        last = glyph if glyph.right else last
    if part:
        yield part


def _piece(part: Sequence[Glyph], place: int) -> Piece:
    """The part as a piece, with its raised and lowered figures."""
    drawn = [glyph for glyph in part if glyph.right]
    sizes = Counter[tuple[float, float]]()
    for glyph in drawn:
        sizes[glyph.bottom, glyph.top] += len(glyph.sign) - glyph.sign.count(" ")
    bottom, top = max(sizes, key=lambda size: (sizes[size] * (size[1] - size[0]), size))
    height, line = top - bottom, Inline()
    for glyph in part if len(sizes) > 1 else ():
        look = PLAIN
        if glyph.right and glyph.height < _SMALL * height:
            above = (glyph.bottom - bottom) / height
            look = _RAISED if above > _ABOVE else _LOWERED if above < _BELOW else PLAIN
        for word in _WORDS.findall(glyph.sign):
            line.add(word, PLAIN if word.isspace() else look)
    left, right = min(glyph.left for glyph in drawn), max(glyph.right for glyph in drawn)
    lowest, highest = min(glyph.bottom for glyph in drawn), max(glyph.top for glyph in drawn)
    is_upright = sizes.total() > 2 and highest - lowest > 2 * max(height, right - left)
    has_scripts = len(sizes) > 1 and not is_upright
    text = line.text() if has_scripts else "".join([glyph.sign for glyph in part])
    is_bold = all(glyph.is_bold for glyph in drawn)
    return Piece(text, left, bottom, right, bottom + height, place, is_upright, is_bold)


def _place_beside(piece: Piece, others: Sequence[Piece]) -> float:
    """The place behind what stands left of a field, or above it."""
    middle = (piece.top + piece.bottom) / 2
    above = [other for other in others if other.top > middle]
    beside = [o for o in above if o.bottom < middle and o.left < piece.left]
    nearest = max(beside, key=lambda o: o.left, default=None)
    nearest = nearest or min(above, key=lambda o: o.bottom, default=None)
    return nearest.place + 0.5 if nearest is not None else -1.5


@dataclass(slots=True)
class Row:
    """Pieces side by side, from the left."""

    pieces: list[Piece] = field(default_factory=list)
    bottom: float = 0
    top: float = 0

    @property
    def height(self) -> float:
        """Of the lines in it."""
        return self.top - self.bottom

    def free(self) -> Iterator[tuple[float, float]]:
        """What it leaves free, from the left."""
        edge = float("-inf")
        for piece in self.pieces:
            if piece.left > edge:
                yield edge, piece.left
            edge = max(edge, piece.right)
        yield edge, float("inf")


def rows_from_top(pieces: Iterable[Piece]) -> list[Row]:
    """The rows from the top."""
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda piece: -(piece.top + piece.bottom)):
        last = rows[-1] if rows else None
        shared = 0.0 if last is None else min(last.top, piece.top) - max(last.bottom, piece.bottom)
        if last is None or shared < min(last.height, piece.height) / 2:
            last = Row([], piece.bottom, piece.top)
            rows.append(last)
        last.pieces.append(piece)
    for row in rows:
        row.pieces.sort(key=lambda piece: piece.left)
    return rows


Gutter = tuple[float, float]


def _shared_gutters(rows: Sequence[Row], first: int) -> tuple[int, list[Gutter]]:
    """How far from this row on some gutter stays free, and which do all the way."""
    inner = list(rows[first].free())[1:-1]
    gutters = sorted(inner, key=lambda gutter: gutter[0] - gutter[1])[:_MOST_GUTTERS]
    end = first + 1
    for end in range(first + 1, min(len(rows), first + _MOST_ROWS) + 1):
        if end == len(rows) or rows[end - 1].bottom - rows[end].top > _NEAR * rows[end].height:
            break
        free = list(rows[end].free())
        least = _GUTTER * rows[end].height
        crossed = ((max(a, c), min(b, d)) for a, b in gutters for c, d in free)
        left = [(a, b) for a, b in crossed if b - a >= least]
        if not left or (len(left) < len(gutters) and len(rows[end].pieces) == 1):
            break  # a line across the columns
        gutters = left
    return end, [gutter for gutter in gutters if _parts_rows(gutter, rows[first:end])]


def _parts_rows(gutter: Gutter, rows: Sequence[Row]) -> bool:
    """Whether several rows have something on both of its sides."""
    both = (
        any(piece.right <= gutter[0] for piece in row.pieces)
        and any(piece.left >= gutter[1] for piece in row.pieces)
        for row in rows
    )
    return sum(both) > 1


def _columns(rows: Sequence[Row], gutters: Sequence[Gutter]) -> list[list[list[Piece]]]:
    """By column and row, the pieces in it."""
    edges = sorted(gutter[1] for gutter in gutters)
    columns: list[list[list[Piece]]] = [[[] for _ in rows] for _ in range(len(edges) + 1)]
    for number, row in enumerate(rows):
        for piece in row.pieces:
            at = sum(piece.left >= edge for edge in edges)
            columns[at][number].append(piece)
    return columns


def _is_prose(columns: Sequence[Sequence[Sequence[Piece]]]) -> bool:
    """Whether the lines of each column are long."""
    if len(columns) > _MOST_COLUMNS:
        return False
    for column in columns:
        lines = [line for line in column if line]
        longest = median((line[-1].right - line[0].left) / line[0].height for line in lines)
        if longest < LONG:
            return False
    return True


def _read_pieces(
    pieces: Sequence[Piece], upright: Sequence[Piece] = (), depth: int = 0
) -> Iterator[Text]:
    """The texts of these pieces: of columns and tables, and other lines as the file has them."""
    rows = rows_from_top(pieces)
    found: list[tuple[float, list[Text]]] = []
    others = list(upright)
    at = 0
    while at < len(rows):
        end, gutters = _shared_gutters(rows, at) if len(rows[at].pieces) > 1 else (at, [])
        if not gutters or end - at < _LEAST_ROWS:
            others += rows[at].pieces
            at += 1
            continue
        place = min(piece.place for row in rows[at:end] for piece in row.pieces)
        columns = _columns(rows[at:end], gutters)
        if _is_prose(columns):
            found.append((place, [*_read_columns(columns, depth)]))
        else:
            while end - at > _LEAST_ROWS and len(rows[end - 1].pieces) == 1:
                end -= 1  # a line below the table
            found.append((place, [_table(columns, end - at)]))
        at = end
    found.sort(key=lambda each: each[0])
    others.sort(key=lambda piece: -piece.top if depth else piece.place)
    for place, texts in found:
        before = [piece for piece in others if piece.place < place]
        yield from _as_text(before)
        yield from texts
        others = [piece for piece in others if piece.place >= place]
    yield from _as_text(others)


def _read_columns(columns: Sequence[Sequence[Sequence[Piece]]], depth: int) -> Iterator[Text]:
    for column in columns:
        inner = [piece for line in column for piece in line]
        yield from _read_pieces(inner, depth=depth + 1) if depth < _DEPTH else _as_text(inner)


def _table(columns: Sequence[Sequence[Sequence[Piece]]], rows: int) -> list[list[str]]:
    return [
        [" ".join(piece.text.strip() for piece in column[row]) for column in columns]
        for row in range(rows)
    ]


def _as_text(pieces: Sequence[Piece]) -> Iterator[Text]:
    """The lines in the order of the file, and the headings between them."""
    lines = [[*line] for _, line in groupby(pieces, key=lambda piece: int(piece.place))]
    for title, group in groupby(lines, key=lambda line: line[0].title if not line[1:] else None):
        text = "\n".join(" ".join(piece.text.strip() for piece in line) for line in group)
        yield text if title is None else Title(text, title.size)
