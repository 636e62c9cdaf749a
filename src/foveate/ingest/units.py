"""The units that chunks are made of: sentences, code lines, table rows, with what they weigh.

All texts are counted in a few batches: once each, and again in pieces where one alone is too long
for a chunk. Not here: which units go together (`chunk`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from foveate.core.text.blocks import block_spans, trimmed
from foveate.core.text.graphemes import next_cut, safe_cut, word_cut
from foveate.core.text.sentences import unit_spans
from foveate.ports import Section

__all__ = ["CountBatch", "Unit", "units"]

CountBatch = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text, in order."""

_NARROW = 2  # characters of white space that are counted with the unit behind them
_PIECES = 5
_LONGEST_CLUSTER = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """`text[start:end]`, which no chunk takes apart.

    `gap`: tokens of the white space before it where that is wide. `opens`: a section begins
    here; `apart`: on a page or in a row of its own, which is what a citation names. `block`: the
    index of its block; `whole`: it is better kept in one chunk (code, tables).
    """

    start: int
    end: int
    tokens: int = 0
    gap: int = 0
    heading: bool = False
    opens: bool = False
    apart: bool = False
    block: int = 0
    whole: bool = False


def units(
    text: str,
    sections: Sequence[Section],
    count: CountBatch,
    *,
    size: int,
    language: str,
    front: int = 0,
) -> list[Unit]:
    """The text's units behind its front in order, each of at most `size` tokens, counted."""
    found = [unit for unit in _spans(text, sections, language) if unit.end > front]
    found = _weighed(text, found, count, size)
    return _short(text, found, count, size)


def _spans(text: str, sections: Sequence[Section], language: str) -> Iterator[Unit]:
    starts = [section.start for section in sections]
    last = -1
    for number, (span, kind) in enumerate(block_spans(text)):
        for start, end in unit_spans(text, span, kind, language):
            reached = bisect_right(starts, start) - 1
            yield Unit(
                start=start,
                end=end,
                heading=kind == "heading",
                opens=reached > last,
                apart=reached > last and _place(sections, reached) != _place(sections, last),
                block=number,
                whole=kind in ("code", "table"),
            )
            last = reached


def _place(sections: Sequence[Section], at: int) -> tuple[int | None, int | None]:
    return (sections[at].page, sections[at].row) if at >= 0 else (None, None)


def _weighed(text: str, found: list[Unit], count: CountBatch, size: int) -> list[Unit]:
    """Count all units, each with the space before it, and the wide gaps, in one batch."""
    if not found:
        return []
    gaps = ["", *(text[before.end : unit.start] for before, unit in pairwise(found))]
    wide = [gap if len(gap) > _NARROW else "" for gap in gaps]
    kinds = sorted(set(wide) - {""})
    texts = [
        text[unit.start - (0 if far else len(gap)) : unit.end]
        for unit, gap, far in zip(found, gaps, wide, strict=True)
    ]
    counts = count([*texts, *kinds])
    weights = {"": 0, **dict(zip(kinds, counts[len(found) :], strict=True))}
    weighed = [
        replace(unit, tokens=tokens, gap=weights[gap])
        for unit, tokens, gap in zip(found, counts, wide, strict=False)
    ]
    return _alone(text, weighed, count, size)


def _alone(text: str, found: list[Unit], count: CountBatch, size: int) -> list[Unit]:
    """Count long units without the space too: " word" may be one token where "word" is two."""
    long = [i for i, unit in enumerate(found) if unit.tokens <= size < 2 * unit.tokens]
    if long:
        counts = count([text[found[i].start : found[i].end] for i in long])
        for i, tokens in zip(long, counts, strict=True):
            found[i] = replace(found[i], tokens=max(tokens, found[i].tokens))
    return found


def _short(text: str, found: list[Unit], count: CountBatch, size: int) -> list[Unit]:
    """Cut what is too long, again and again, one batch a round, until every unit fits."""
    limits = _limits(found, size)
    while True:
        cut = [_cuts(text, *pair) for pair in zip(found, limits, strict=True)]
        fresh = [piece for pieces in cut if len(pieces) > 1 for piece in pieces]
        if not fresh:
            return found
        tokens = iter(count([text[piece.start : piece.end] for piece in fresh]))
        found = [
            replace(piece, tokens=next(tokens)) if len(pieces) > 1 else piece
            for pieces in cut
            for piece in pieces
        ]
        limits = [size] * len(found)


def _limits(found: list[Unit], size: int) -> list[int]:
    """What each unit may weigh: less after headings, which a chunk must hold as well."""
    limits: list[int] = []
    taken = 0
    for unit in found:
        limits.append(size - taken if 2 * taken <= size else size)
        taken = taken + unit.tokens + unit.gap + 1 if unit.heading else 0
    return limits


def _cuts(text: str, unit: Unit, limit: int) -> list[Unit]:
    """The unit, or its pieces of about a fifth of a chunk, so that a few of them fill one."""
    if unit.tokens <= limit or unit.end - unit.start < 2:
        return [unit]
    step = max(1, (unit.end - unit.start) * limit // (_PIECES * unit.tokens))
    pieces: list[Unit] = []
    at = unit.start
    while at < unit.end:
        stop = _cut(text, unit, at, at + step)
        start, end = trimmed(text, at, stop)
        if end > start:
            first = not pieces
            gap = unit.gap if first else 0
            pieces.append(
                replace(
                    unit,
                    start=start,
                    end=end,
                    gap=gap,
                    opens=unit.opens and first,
                    apart=unit.apart and first,
                )
            )
        at = stop
    return pieces


def _cut(text: str, unit: Unit, at: int, stop: int) -> int:
    """Where to cut after `at`, near `stop`: between words, else characters, else code points."""
    if stop >= unit.end:
        return unit.end
    for cut in (word_cut(text, stop, at), safe_cut(text, stop, at)):
        if cut > at:
            return cut
    ceiling = min(unit.end, stop + _LONGEST_CLUSTER)
    beyond = next_cut(text, stop + 1, at, ceiling)
    return beyond if beyond < ceiling else stop
