"""Splits a text into the units of chunks (sentences, code lines, table rows) and counts them.

Units come in slices, counted in a few batches, so memory holds a slice of any text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from foveate.core.text.blocks import BlockKind, each_block, trim_span
from foveate.core.text.graphemes import (
    last_grapheme_boundary,
    last_word_boundary,
    next_grapheme_boundary,
)
from foveate.core.text.sentences import each_unit
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.strings import read_shapes
from foveate.core.types import CODE_HEADS, TABLE_NAMES
from foveate.ingest.loaders.blocks import Rows
from foveate.ports import Section

CountBatch = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text, in order."""

SLICE = 2_048
"""Units that are counted together."""

MANY_ROWS = 1_000
"""In a table of more rows than that, short rows may share a chunk; in others each has its own."""

LONGEST_SHAPED = 4_000_000
"""Characters; a longer text is read by lines and sentences, so that memory holds a slice of it."""

_MAX_COUNTED_GAP = 2  # characters of white space that are counted with the unit behind them
_PIECES_PER_CHUNK = 5
_LONGEST_CLUSTER = 64


Heads: TypeAlias = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """`text[start:end]`, which no chunk divides; a tuple, because a text may have millions.

    `gap`: tokens of wide white space before it. `path`: the headings of its section. `opens`:
    whether it is the first of its section; `separate`: and of a page, sheet or row that has chunks
    of its own; `row`: and of a row that may share a chunk. `block`: the index of its block.
    `whole`: whether one chunk should hold the block (code, tables). `heads`: where the row with the
    names of its table begins; for code, its signatures.
    """

    start: int
    end: int
    tokens: int = 0
    gap: int = 0
    heading: bool = False
    path: str = ""
    opens: bool = False
    separate: bool = False
    row: bool = False
    block: int = 0
    whole: bool = False
    heads: Heads = ()


def split_units(
    text: str,
    sections: Sequence[Section],
    count: CountBatch,
    *,
    size: int,
    language: str,
    front: int = 0,
) -> Iterator[Unit]:
    """The text's units behind its front in order, each of at most `size` tokens, counted."""
    found = (unit for unit in _iter_units(text, sections, language) if unit.end > front)
    before, taken = -1, 0
    while some := list(islice(found, SLICE)):
        weighed = _count_units(text, some, before, count, size)
        limits, taken = _unit_limits(weighed, size, taken)
        yield from _cut_long_units(text, weighed, limits, count, size)
        before = some[-1].end


def _iter_units(text: str, sections: Sequence[Section], language: str) -> Iterator[Unit]:
    coming, gathers = iter(sections), len(sections) > MANY_ROWS
    here, following = None, next(coming, None)
    of_table = isinstance(sections, Rows)
    for number, (kind, units, heads) in enumerate(_each_block(text, language, plain=of_table)):
        for start, end in units:
            before = here
            while following is not None and following.start <= start:
                here, following = following, next(coming, None)
            opens = here is not before
            separate = opens and _page_and_row(here) != _page_and_row(before)
            row = separate and gathers and _are_rows(before, here)
            yield Unit(
                start=start,
                end=end,
                heading=kind == "heading",
                path=here.path if here is not None else "",
                opens=opens,
                separate=separate and not row,
                row=row,
                block=number,
                whole=kind in ("code", "table"),
                heads=heads,
            )


def _each_block(
    text: str, language: str, *, plain: bool
) -> Iterator[tuple[BlockKind, Iterable[tuple[int, int]], Heads]]:
    """The blocks with their units, and `Unit.heads` of what is no prose.

    Records, rows and statements are blocks of one unit. `plain`: there are paragraphs alone, such
    as rows that are written out, which may look like fields of a larger record.
    """
    shapes = () if plain or len(text) > LONGEST_SHAPED else read_shapes(text)
    at = 0
    for shape in (*shapes, None):
        prose = text[at : shape.start if shape else len(text)] if shapes else text
        for span, kind in each_block(prose):
            units = each_unit(prose, span, kind, language)
            yield kind, ((start + at, end + at) for start, end in units), ()
        if shape is None:
            return
        for unit, span in enumerate(shape.spans):
            yield "code", (span,), _heads(shape, unit)
        at = shape.end


def _heads(shape: Shape, unit: int) -> Heads:
    """`Unit.heads` of the unit."""
    if shape.name == "code":
        return _signatures(shape, unit)
    if shape.head < 0 or not shape.is_table:
        return ()
    return ((TABLE_NAMES, shape.spans[shape.head][0]),)


def _signatures(shape: Shape, unit: int) -> Heads:
    """Where each piece of code that the unit is in begins, the outermost first."""
    found: list[tuple[str, int]] = []
    while shape.leans[unit] != unit:
        unit = shape.leans[unit]
        found.append((CODE_HEADS, shape.spans[unit][0]))
    return tuple(reversed(found))


def _page_and_row(section: Section | None) -> tuple[int | None, int | None]:
    return (section.page, section.row) if section is not None else (None, None)


def _are_rows(one: Section | None, other: Section | None) -> bool:
    """Whether both are rows of one table: a citation differs in the row alone."""
    if one is None or other is None or one.row is None or other.row is None:
        return False
    return (one.page, one.path) == (other.page, other.path)


def _count_units(
    text: str, found: list[Unit], before: int, count: CountBatch, size: int
) -> list[Unit]:
    """Count all units, each with the space before it, and wide gaps, in one batch.

    `before`: where the previous unit ends; negative if there is none.
    """
    first = text[before : found[0].start] if before >= 0 else ""
    gaps = [first, *(text[one.end : unit.start] for one, unit in pairwise(found))]
    wide = [gap if len(gap) > _MAX_COUNTED_GAP else "" for gap in gaps]
    kinds = sorted(set(wide) - {""})
    texts = [
        text[unit.start - (0 if far else len(gap)) : unit.end]
        for unit, gap, far in zip(found, gaps, wide, strict=True)
    ]
    counts = count([*texts, *kinds])
    weights = {"": 0, **dict(zip(kinds, counts[len(found) :], strict=True))}
    weighed = [
        unit._replace(tokens=tokens, gap=weights[gap])
        for unit, tokens, gap in zip(found, counts, wide, strict=False)
    ]
    return _recount_long_units(text, weighed, count, size)


def _recount_long_units(text: str, found: list[Unit], count: CountBatch, size: int) -> list[Unit]:
    """Count long units without the space too: " word" may be one token where "word" is two."""
    long = [i for i, unit in enumerate(found) if unit.tokens <= size < 2 * unit.tokens]
    if long:
        counts = count([text[found[i].start : found[i].end] for i in long])
        for i, tokens in zip(long, counts, strict=True):
            found[i] = found[i]._replace(tokens=max(tokens, found[i].tokens))
    return found


def _cut_long_units(
    text: str, found: list[Unit], limits: list[int], count: CountBatch, size: int
) -> list[Unit]:
    """Cut long units, one batch a round, until every unit fits."""
    while True:
        cut = [_cut_unit(text, *pair) for pair in zip(found, limits, strict=True)]
        fresh = [piece for pieces in cut if len(pieces) > 1 for piece in pieces]
        if not fresh:
            return found
        tokens = iter(count([text[piece.start : piece.end] for piece in fresh]))
        found = [
            piece._replace(tokens=next(tokens)) if len(pieces) > 1 else piece
            for pieces in cut
            for piece in pieces
        ]
        limits = [size] * len(found)


def _unit_limits(found: list[Unit], size: int, taken: int) -> tuple[list[int], int]:
    """The limit of each unit: less after headings, which the chunk must hold too.

    `taken`: tokens of the headings before these units; returned for those at their end.
    """
    limits: list[int] = []
    for unit in found:
        limits.append(size - taken if 2 * taken <= size else size)
        taken = taken + unit.tokens + unit.gap + 1 if unit.heading else 0
    return limits, taken


def _cut_unit(text: str, unit: Unit, limit: int) -> list[Unit]:
    """The unit, or its pieces of about a fifth of a chunk."""
    if unit.tokens <= limit or unit.end - unit.start < 2:
        return [unit]
    step = max(1, (unit.end - unit.start) * limit // (_PIECES_PER_CHUNK * unit.tokens))
    pieces: list[Unit] = []
    at = unit.start
    while at < unit.end:
        stop = _cut_position(text, unit, at, at + step)
        start, end = trim_span(text, at, stop)
        if end > start:
            first = not pieces
            gap = unit.gap if first else 0
            pieces.append(
                unit._replace(
                    start=start,
                    end=end,
                    gap=gap,
                    opens=unit.opens and first,
                    separate=unit.separate and first,
                    row=unit.row and first,
                )
            )
        at = stop
    return pieces


def _cut_position(text: str, unit: Unit, at: int, stop: int) -> int:
    """Where to cut near `stop`: between words, else graphemes, else code points."""
    if stop >= unit.end:
        return unit.end
    for cut in (last_word_boundary(text, stop, at), last_grapheme_boundary(text, stop, at)):
        if cut > at:
            return cut
    ceiling = min(unit.end, stop + _LONGEST_CLUSTER)
    beyond = next_grapheme_boundary(text, stop + 1, at, ceiling)
    return beyond if beyond < ceiling else stop


class Window:
    """Units of a stream by number, with approximate weights of ranges; `drop` frees old ones."""

    def __init__(self, coming: Iterator[Unit]) -> None:
        self._coming = coming
        self._held: list[Unit] = []
        self._sums = [0]
        self._dropped = 0

    def __getitem__(self, at: int) -> Unit:
        return self._held[at - self._dropped]

    def has(self, at: int) -> bool:
        """Whether there is such a unit."""
        while at - self._dropped >= len(self._held):
            unit = next(self._coming, None)
            if unit is None:
                return False
            self._held.append(unit)
            self._sums.append(self._sums[-1] + unit.tokens + unit.gap)
        return True

    def within(self, first: int, last: int) -> list[Unit]:
        """The units of a range."""
        return self._held[first - self._dropped : last - self._dropped]

    def of(self, first: int, last: int) -> int:
        """The weight of a range."""
        gap = self[first].gap if first < last else 0
        return self._sums[last - self._dropped] - self._sums[first - self._dropped] - gap

    def of_block(self, first: int, most: int) -> int:
        """The weight of the block from this unit, or more than `most`."""
        end = first + 1
        while self.of(first, end) <= most and self.has(end):
            if self[end].block != self[first].block:
                break
            end += 1
        return self.of(first, end)

    def of_row(self, first: int, most: int) -> int:
        """The weight of the row from this unit, or at least `most`."""
        end = first + 1
        while self.of(first, end) < most and self.has(end) and not self[end].opens:
            end += 1
        return self.of(first, end)

    def of_row_before(self, at: int, most: int) -> int:
        """The weight of the row that ends here, or at least `most`."""
        first = at - 1
        while self.of(first, at) < most and first > self._dropped and not self[first].opens:
            first -= 1
        return self.of(first, at)

    def drop(self, before: int) -> None:
        """Free the units before this one."""
        del self._held[: before - self._dropped]
        del self._sums[: before - self._dropped]
        self._dropped = before
