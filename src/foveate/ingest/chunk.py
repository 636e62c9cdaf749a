"""A document's text to chunks: whole sentences, never over size, never across a heading or page.

Units (sentences, code lines, table rows) are packed greedily; a heading opens a new chunk and
stays with its text; a chunk that goes on in the same section begins with the last whole units of
the one before. Every chunk is then counted as it stands and shortened where it is too long.
Rules: pure; linear; `text[start:end] == piece.text`; every character that is not white space and
not of the front is in a chunk. Not here: reading files (`loaders`), writing chunks (`run`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from foveate.core.errors import BadOption
from foveate.ingest.units import CountBatch, Unit, units
from foveate.ports import Section

__all__ = ["Piece", "chunk", "refuse_sizes"]

_SMALLEST = 16
_INDENT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk before it has a document: `text` stands at `start:end`; `line` counts from 1.

    `section`, `page` and `row` are those of its first text that is no heading.
    """

    sequence: int
    start: int
    end: int
    text: str
    tokens: int
    byte_offset: int
    line: int
    section: str = ""
    page: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """Units `first:last`; those before `own` are overlap. `indent`: keep the first line's."""

    first: int
    own: int
    last: int
    indent: bool = True


def chunk(
    text: str,
    sections: Sequence[Section],
    count: CountBatch,
    *,
    size: int = 350,
    overlap: int = 70,
    language: str = "en",
    front: int = 0,
) -> list[Piece]:
    """Chunks of at most `size` tokens by `count`, sharing up to `overlap` with the one before.

    Sections smaller than a tenth of `size` share a chunk with the next, but two pages or two rows
    never share one, for a citation names one place. A unit that is longer
    than `size` is cut between words, or characters where there are none. `front`: so many
    characters at the beginning are in no chunk, and count in all offsets. Raises `BadOption`.

    >>> words = lambda texts: [len(text.split()) for text in texts]
    >>> [piece.text for piece in chunk("Boil water. " * 12, [], words, size=16, overlap=0)]
    ['Boil water. ... Boil water.', 'Boil water. ... Boil water.']
    """
    refuse_sizes(size, overlap)
    found = units(text, sections, count, size=size, language=language, front=front)
    runs = list(_packed(_Weights(found), size, overlap))
    settled = _settled(text, found, runs, count, size)
    return list(_pieces(text, sections, found, settled))


def refuse_sizes(size: int, overlap: int) -> None:
    """Raise `BadOption` where chunks of this size and overlap cannot be made."""
    if size < _SMALLEST:
        raise BadOption(f"chunk: size is {size} tokens; it must be {_SMALLEST} or more")
    if not 0 <= overlap <= size // 2:
        raise BadOption(f"chunk: overlap is {overlap} tokens; it must be from 0 to {size // 2}")


class _Weights:
    """Units, and how much a stretch of them weighs, about, in constant time."""

    def __init__(self, found: Sequence[Unit]) -> None:
        self.units = found
        self._sums = [0, *accumulate(unit.tokens + unit.gap for unit in found)]
        self._blocks = {unit.block: i + 1 for i, unit in enumerate(found)}

    def of(self, first: int, last: int) -> int:
        gap = self.units[first].gap if first < last else 0
        return self._sums[last] - self._sums[first] - gap

    def of_block(self, first: int) -> int:
        return self.of(first, self._blocks[self.units[first].block])


def _packed(weights: _Weights, size: int, overlap: int) -> Iterator[_Run]:
    first = own = at = 0
    runs: list[_Run] = []
    while at < len(weights.units):
        if at > own and _ends(weights, first, own, at, size):
            last = _without_headings(weights.units, own, at)
            runs.append(_Run(first, own, last))
            first, own, at = _overlap(weights, first, last, overlap), last, last
        while first < own and weights.of(first, at + 1) > size:
            first += 1
        at += 1
    if own < at:
        runs.append(_Run(first, own, at))
    return iter(_with_tail(runs, weights, size))


def _ends(weights: _Weights, first: int, own: int, at: int, size: int) -> bool:
    """Whether the chunk that began at `first` ends before unit `at`."""
    unit = weights.units[at]
    so_far = weights.of(first, at)
    if weights.of(first, at + 1) > size:
        return True
    if unit.opens:
        return unit.apart or weights.of(own, at) >= size // 10
    if not unit.whole or weights.units[at - 1].block == unit.block or 2 * so_far < size:
        return False
    block = weights.of_block(at)
    return block <= size < so_far + unit.gap + block


def _without_headings(found: Sequence[Unit], own: int, last: int) -> int:
    """Headings at the end of a chunk go to the next, unless there is nothing else."""
    end = last
    while end > own and found[end - 1].heading:
        end -= 1
    return end if end > own else last


def _overlap(weights: _Weights, before: int, own: int, overlap: int) -> int:
    """The first unit that is said again in the chunk that begins with unit `own`."""
    first = own
    if own < len(weights.units) and weights.units[own].opens:
        return own
    while first - 1 > before and weights.of(first - 1, own) <= overlap:
        first -= 1
        if weights.units[first].opens:
            break
    return first


def _with_tail(runs: list[_Run], weights: _Weights, size: int) -> list[_Run]:
    """A tiny last chunk goes to the one before it."""
    if len(runs) > 1:
        before, tail = runs[-2:]
        tiny = weights.of(tail.own, tail.last) < size // 10 and not weights.units[tail.own].apart
        if tiny and weights.of(before.first, tail.last) <= size:
            runs[-2:] = [replace(before, last=tail.last)]
    return runs


def _settled(
    text: str, found: Sequence[Unit], runs: list[_Run], count: CountBatch, size: int
) -> list[tuple[_Run, int]]:
    """Every run with its true count; what is over size gives up overlap, then is halved.

    Where a run was halved, the next gives up overlap until it begins after both halves do.
    """
    settled: list[tuple[_Run, int]] = []
    while runs:
        counts = count([text[slice(*_span(text, found, run))] for run in runs])
        over: list[_Run] = []
        for run, tokens in zip(runs, counts, strict=True):
            if tokens <= size or (run.last - run.first == 1 and not run.indent):
                settled.append((run, tokens))
            else:
                over += _shorter(run)
        if not over:
            settled, over = _in_order(settled)
        runs = over
    return settled


def _in_order(settled: list[tuple[_Run, int]]) -> tuple[list[tuple[_Run, int]], list[_Run]]:
    """The runs that begin after the one before does, and the rest, cut so that they do."""
    kept: list[tuple[_Run, int]] = []
    late: list[_Run] = []
    begun = -1
    for run, tokens in sorted(settled, key=lambda pair: pair[0].own):
        if run.first > begun:
            kept.append((run, tokens))
        else:
            late.append(replace(run, first=begun + 1))
        begun = max(run.first, begun + 1)
    return kept, late


def _shorter(run: _Run) -> list[_Run]:
    if run.indent:
        return [replace(run, indent=False)]
    if run.first < run.own:
        return [replace(run, first=(run.first + run.own + 1) // 2)]
    middle = (run.own + run.last) // 2
    return [replace(run, last=middle), replace(run, first=middle, own=middle)]


def _span(text: str, found: Sequence[Unit], run: _Run) -> tuple[int, int]:
    start, end = found[run.first].start, found[run.last - 1].end
    if run.indent and found[run.first].whole:
        line = text.rfind("\n", max(0, start - _INDENT), start) + 1
        if (line or start <= _INDENT) and not text[line:start].strip():
            start = line
    return start, end


def _pieces(
    text: str,
    sections: Sequence[Section],
    found: Sequence[Unit],
    settled: Sequence[tuple[_Run, int]],
) -> Iterator[Piece]:
    starts = [section.start for section in sections]
    at, line, byte = 0, 1, 0
    for sequence, (run, tokens) in enumerate(settled):
        start, end = _span(text, found, run)
        passed = text[at:start]
        line += passed.count("\n") + passed.count("\r") - passed.count("\r\n")
        byte += len(passed.encode())
        at = start
        body = next((u for u in found[run.first : run.last] if not u.heading), found[run.first])
        place = bisect_right(starts, body.start) - 1
        section = sections[place] if place >= 0 and body.start < sections[place].end else None
        yield Piece(
            sequence=sequence,
            start=start,
            end=end,
            text=text[start:end],
            tokens=tokens,
            byte_offset=byte,
            line=line,
            section=section.path if section else "",
            page=section.page if section else None,
            row=section.row if section else None,
        )
