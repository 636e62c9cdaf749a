"""Cuts a document's text into chunks: whole sentences, never across a heading or page.

Units (sentences, code lines, table rows) are packed greedily. A heading opens a chunk and stays
with its text; a chunk that continues a section begins with the last units of the previous one.
Every chunk is counted as it is and shortened if it is too long. Linear time; memory holds a slice
of units and chunks. `text[start:end] == piece.text`, and every character outside the front that is
not white space is in a chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import TypeAlias

from foveate.core.errors import BadOption
from foveate.ingest.units import CountBatch, Heads, Window, split_units
from foveate.ports import Section

SLICE = 256
"""Chunks that are settled together."""

_SMALLEST = 16
_SMALL = 10  # of so many parts of a chunk: what is smaller may share one
_INDENT = 80
_SAYS = re.compile(r"\w")


Place: TypeAlias = tuple[int, int | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk before it belongs to a document: `text` is at `start:end`; `line` counts from 1.

    `section`, `page` and `row` are those of its first text that is not a heading. `heads`: its
    `Unit.heads` that stand before the chunk, and the errors of its log.
    `places`: of more than one section or row, where each begins, its row and its path.
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
    heads: Heads = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class _UnitRange:
    """Units `first:last`; those before `own` are overlap. `indent`: keep the first line's."""

    first: int
    own: int
    last: int
    indent: bool = True


def each_chunk(
    text: str,
    sections: Sequence[Section],
    count: CountBatch,
    *,
    size: int = 350,
    overlap: int = 70,
    language: str = "en",
    front: int = 0,
) -> Iterator[Piece]:
    """Yield chunks of at most `size` tokens, sharing up to `overlap` with the previous one.

    Sections smaller than a tenth of `size` share a chunk with the next. Two pages or rows never
    share one, because a citation names one place; the exception are small rows of a table of more
    than a thousand rows. A unit longer than `size` is cut between words or characters. `front`:
    length of the beginning that is in no chunk but counts in all offsets. Raises `BadOption`.
    """
    check_sizes(size, overlap)
    found = Window(split_units(text, sections, count, size=size, language=language, front=front))
    runs = _pack_units(found, size, overlap)
    yield from _build_pieces(text, sections, found, _fit_to_size(text, found, runs, count, size))


def check_sizes(size: int, overlap: int) -> None:
    """Raise `BadOption` if chunks of this size and overlap cannot be made."""
    if size < _SMALLEST:
        raise BadOption(f"chunk: size is {size} tokens; it must be {_SMALLEST} or more")
    if not 0 <= overlap <= size // 2:
        raise BadOption(f"chunk: overlap is {overlap} tokens; it must be from 0 to {size // 2}")


def _pack_units(found: Window, size: int, overlap: int) -> Iterator[_UnitRange]:
    first = own = 0
    while found.has(own):
        run = _next_run(found, first, own, size)
        yield run
        first, own = _overlap_start(found, run.first, run.last, overlap), run.last


def _next_run(found: Window, first: int, own: int, size: int) -> _UnitRange:
    """The units from `own` on that share a chunk, behind as much of `first:own` as fits."""
    at = own
    while found.has(at):
        if at > own and _is_chunk_end(found, _UnitRange(first, own, at), size):
            return _UnitRange(first, own, _trim_headings(found, own, at))
        while first < own and found.of(first, at + 1) > size:
            first += 1
        at += 1
    return _UnitRange(first, own, at)


def _is_chunk_end(found: Window, run: _UnitRange, size: int) -> bool:
    at = run.last
    unit = found[at]
    so_far = found.of(run.first, at)
    if found.of(run.first, at + 1) > size:
        return True
    if unit.row:
        return _row_ends(found, so_far, at, size)
    if unit.opens:
        return unit.separate or found.of(run.own, at) >= size // _SMALL
    if not unit.whole or found[at - 1].block == unit.block or 2 * so_far < size:
        return False
    block = found.of_block(at, size)
    return block <= size < so_far + unit.gap + block


def _row_ends(found: Window, so_far: int, at: int, size: int) -> bool:
    """Whether the row that begins at `at` needs a chunk of its own, or the one before has one."""
    small = size // _SMALL
    row = found.of_row(at, small)
    if row >= small or found.of_row_before(at, small) >= small:
        return True
    return so_far + found[at].gap + row > size


def _trim_headings(found: Window, own: int, last: int) -> int:
    """Move headings at the end of a chunk to the next, unless there is nothing else."""
    end = last
    while end > own and found[end - 1].heading:
        end -= 1
    return end if end > own else last


def _overlap_start(found: Window, before: int, own: int, overlap: int) -> int:
    """The first unit that is repeated in the chunk that begins with unit `own`."""
    first = own
    if found.has(own) and found[own].opens:
        return own
    while first - 1 > before and found.of(first - 1, own) <= overlap:
        first -= 1
        if found[first].opens:
            break
    return first


def _fit_to_size(
    text: str, found: Window, runs: Iterator[_UnitRange], count: CountBatch, size: int
) -> Iterator[tuple[_UnitRange, int]]:
    begun = -1
    while some := list(islice(runs, SLICE)):
        for run, tokens in _fitted(text, found, some, count, size, begun=begun):
            yield run, tokens
            begun = run.first
        found.drop(some[-1].first)


def _fitted(
    text: str, found: Window, runs: list[_UnitRange], count: CountBatch, size: int, *, begun: int
) -> list[tuple[_UnitRange, int]]:
    """Runs with their true counts; a run over size gives up overlap, then is halved.

    `begun`: where the previous run begins. After a halved run, the next one gives up overlap until
    it begins after both halves.
    """
    settled: list[tuple[_UnitRange, int]] = []
    while runs:
        counts = count([text[slice(*_span(text, found, run))] for run in runs])
        over: list[_UnitRange] = []
        for run, tokens in zip(runs, counts, strict=True):
            if tokens <= size or (run.last - run.first == 1 and not run.indent):
                settled.append((run, tokens))
            else:
                over += _shorten(run)
        if not over:
            settled, over = _enforce_order(settled, begun)
        runs = over
    return settled


def _enforce_order(
    settled: list[tuple[_UnitRange, int]], begun: int
) -> tuple[list[tuple[_UnitRange, int]], list[_UnitRange]]:
    """The runs that begin after the previous one, and the rest, cut so that they do."""
    kept: list[tuple[_UnitRange, int]] = []
    late: list[_UnitRange] = []
    for run, tokens in sorted(settled, key=lambda pair: pair[0].own):
        if run.first > begun:
            kept.append((run, tokens))
        else:
            late.append(replace(run, first=begun + 1))
        begun = max(run.first, begun + 1)
    return kept, late


def _shorten(run: _UnitRange) -> list[_UnitRange]:
    if run.indent:
        return [replace(run, indent=False)]
    if run.first < run.own:
        return [replace(run, first=(run.first + run.own + 1) // 2)]
    middle = (run.own + run.last) // 2
    return [replace(run, last=middle), replace(run, first=middle, own=middle)]


def _span(text: str, found: Window, run: _UnitRange) -> tuple[int, int]:
    start, end = found[run.first].start, found[run.last - 1].end
    if run.indent and found[run.first].whole:
        line = text.rfind("\n", max(0, start - _INDENT), start) + 1
        if (line or start <= _INDENT) and not text[line:start].strip():
            start = line
    return start, end


def _build_pieces(
    text: str,
    sections: Sequence[Section],
    found: Window,
    settled: Iterator[tuple[_UnitRange, int]],
) -> Iterator[Piece]:
    at, line, byte = 0, 1, 0
    for sequence, (run, tokens) in enumerate(settled):
        start, end = _span(text, found, run)
        passed = text[at:start]
        line += passed.count("\n") + passed.count("\r") - passed.count("\r\n")
        byte += len(passed.encode())
        at = start
        own = found.within(run.first, run.last)
        body = next((unit for unit in own if not unit.heading), own[0])
        place = _section_before(sections, body.start)
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
            heads=tuple([h for h in body.heads if h[1] < start]),
            places=_places(text, sections, start, end),
        )


def _places(text: str, sections: Sequence[Section], start: int, end: int) -> tuple[Place, ...]:
    """The sections of which something stands in `text[start:end]`, if there is more than one.

    A heading with nothing below it but a deeper heading belongs to the section of that one.
    """
    found: list[Place] = []
    reached = start
    for number in range(max(_section_before(sections, start), 0), len(sections)):
        section = sections[number]
        if section.start >= end:
            break
        if _SAYS.search(text, reached, max(section.start, reached)):
            found.append((reached - start, None, ""))
        if section.end > start:
            at = max(section.start - start, 0)
            before = sections[number - 1]
            if found and found[-1][2] == before.path and _is_heading_alone(text, before, section):
                at = found.pop()[0]
            found.append((at, section.row, section.path))
            reached = section.end
    if found and _SAYS.search(text, reached, end):
        found.append((reached - start, None, ""))
    return tuple(found) if len({place[1:] for place in found}) > 1 else ()


def _is_heading_alone(text: str, section: Section, following: Section) -> bool:
    """Whether a section is its heading, of one line, and the next one is deeper in it."""
    is_deeper = following.path.startswith(f"{section.path} > ")
    return is_deeper and "\n" not in text[section.start : following.start].strip()


def _section_before(sections: Sequence[Section], at: int) -> int:
    """The number of the section that begins last up to there; -1 if there is none."""
    return bisect_right(sections, at, key=attrgetter("start")) - 1
