"""Divide: a passage of uneven worth becomes pieces that can stand apart.

Stitching makes long passages, and a long passage carries what answers the question into the middle
with the rest of it, where models read worst (Liu et al., "Lost in the middle", 2023). So a passage
whose sentences were weighed falls into its chunks again where their worth differs. Rules:

1. a sentence goes to the best-scored chunk that has it whole; what two have is still there once;
2. a sentence that leans on another goes with that one;
3. neighbours that are worth about as much for their length belong together and stay together;
4. a passage whose best sentence is worth less than a hundredth of the best of all stays whole.

A piece still has the text of the whole passage, with its chunks and offsets; what it may show of
it is its own sentences, `shown`. The piece of the first chunk keeps the passage's id, the others
take the id of the first chunk that is theirs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf, isfinite
from typing import ClassVar, NamedTuple

from foveate.core.corroborate import sources_of
from foveate.core.errors import BadOption
from foveate.core.made import changer, maker
from foveate.core.text.salience import joined
from foveate.core.types import (
    Candidate,
    Chunk,
    Decision,
    Rendition,
    Request,
    Sentences,
    Span,
    Step,
)

BLOCK = 60
"""Characters; what stands around a block counts as so much text."""

LEAST = 0.01
"""Of the best worth; a passage that has no sentence of that worth need not be divided."""

decided, weighed, rendered = maker(Decision), maker(Sentences), maker(Rendition)
retold, changed = changer(Chunk), changer(Candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Divide:
    """Cut passages where what their sentences are worth changes; after `compress`, before `pack`.

    `contrast`: a passage is cut where one side is worth more than that many times the other, per
    character. Needs `compress` to have offered `sentences`; other passages stay as they are.
    """

    contrast: float = 4.0

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a contrast that is none."""
        if not isfinite(self.contrast) or self.contrast < 1:
            raise BadOption(
                f"divide: contrast is {self.contrast!r}; it must be finite, and 1 or more"
            )

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Put the pieces in the place of each divided passage, as they read.

        The piece that keeps the id is `changed`, the others have `entered`; `pieces`: how many.
        """
        out: list[Candidate] = []
        decisions: list[Decision] = []
        best = [max(c.sentences.worths, default=0.0) if c.sentences else 0.0 for c in candidates]
        least = LEAST * max(best, default=0.0)
        for candidate, worth in zip(candidates, best, strict=True):
            groups = stretches(candidate, self.contrast) if worth >= least else []
            if len(groups) < 2:
                out.append(candidate)
                continue
            made = divided(candidate, groups)
            out += made
            decisions += _decisions(candidate, made)
        if not decisions:
            return Step(candidates=candidates)
        return Step(candidates=tuple(out), decisions=tuple(decisions))


class Stretch(NamedTuple):
    """Sentences that stay together: of which chunks, and which, by their places in the passage."""

    chunks: tuple[int, ...]
    sentences: tuple[int, ...]


class _Run(NamedTuple):
    """Neighbouring chunks, from one up to another: what they are worth, their characters."""

    first: int
    end: int
    worth: float
    size: int


def stretches(candidate: Candidate, contrast: float) -> list[Stretch]:
    """The parts that a passage falls into, as they read; one or none: it stays as it is."""
    sentences = candidate.sentences
    if sentences is None or len(candidate.parts) < 2 or candidate.shown is not None:
        return []
    of_chunk: dict[int, list[int]] = {}
    for i, owner in enumerate(owners(candidate, sentences)):
        of_chunk.setdefault(owner, []).append(i)
    chunks, places = list(of_chunk), list(of_chunk.values())
    return [
        Stretch(
            chunks=tuple(sorted(chunks[run.first : run.end])),
            sentences=tuple(sorted(chain.from_iterable(places[run.first : run.end]))),
        )
        for run in _runs(sentences, places, contrast)
    ]


def _runs(sentences: Sentences, places: Sequence[Sequence[int]], contrast: float) -> list[_Run]:
    """Chunks, in the order of their first sentences; those that are worth alike in one run."""
    sizes = [b - a for a, b in sentences.spans]
    kept: list[_Run] = []
    for n, own in enumerate(places):
        worth = sum(map(sentences.worths.__getitem__, own))
        new = _Run(n, n + 1, worth, BLOCK + sum(map(sizes.__getitem__, own)))
        while kept and _alike(kept[-1], new, contrast):
            old = kept.pop()
            new = _Run(old.first, new.end, old.worth + new.worth, old.size + new.size - BLOCK)
        kept.append(new)
    return kept


def _alike(one: _Run, other: _Run, contrast: float) -> bool:
    """Whether neither is worth more than so many times the other, per character."""
    low, high = sorted((one.worth / one.size, other.worth / other.size))
    return high <= contrast * low


def owners(candidate: Candidate, sentences: Sentences) -> list[int]:
    """For each sentence, by its place, the best-scored chunk that has it.

    One that has it whole comes before one that has some of it. A sentence that leans on another
    goes with that one.
    """
    starts, ends = [a for a, _ in sentences.spans], [b for _, b in sentences.spans]
    found = [0] * len(starts)
    scores = [(False, -inf)] * len(starts)
    for n, part in enumerate(candidate.parts):
        (first, last), score = part.span, part.score
        whole = bisect_left(starts, first), bisect_right(ends, last)
        for i in range(bisect_right(ends, first), bisect_left(starts, last)):
            new = (whole[0] <= i < whole[1], score)
            if new > scores[i]:
                found[i], scores[i] = n, new
    return [found[head] for head in _heads(sentences.leans)]


def _heads(leans: Sequence[int]) -> list[int]:
    """For each sentence the one that it leans on in the end."""
    heads = list(leans)
    for start, head in enumerate(leans):
        if head == start:
            continue
        path, i = {start}, heads[start]
        while heads[i] != i and i not in path:  # two may lean on one another
            path.add(i)
            i = heads[i]
        for step in path:
            heads[step] = i
    return heads


def divided(candidate: Candidate, groups: Sequence[Stretch]) -> list[Candidate]:
    """A candidate for each group of a passage's sentences."""
    sentences = candidate.sentences
    if sentences is None:
        return [candidate]
    passage = candidate.chunk
    first = next((n for n, group in enumerate(groups) if 0 in group.chunks), 0)
    pieces = []
    for n, (group, held) in enumerate(zip(groups, _held(candidate, groups), strict=True)):
        mine = [candidate.parts[c] for c in group.chunks]
        retrieved = any(part.origin == "retrieved" for part in mine)
        some = _some(sentences, group.sentences)
        pieces.append(
            changed(
                candidate,
                chunk=passage if n == first else _within(mine[0].chunk, passage),
                score=max([part.score for part in mine]),
                origin="retrieved" if retrieved else "neighbour",
                parts=tuple([candidate.parts[c] for c in held]),
                corroborating=sources_of(candidate, {candidate.parts[c].chunk.id for c in held}),
                sentences=some,
                shown=_shown(passage.text, some.spans),
            )
        )
    return pieces


def _within(chunk: Chunk, passage: Chunk) -> Chunk:
    """The chunk in the place of the passage: its own id and place, with the passage's text."""
    return retold(
        chunk,
        text=passage.text,
        start=passage.start,
        end=passage.end,
        embedding=None,
        content_hash=passage.content_hash,
    )


def _held(candidate: Candidate, groups: Sequence[Stretch]) -> list[list[int]]:
    """For each group its chunks, and those that have some of its sentences too."""
    sentences = candidate.sentences
    spans = sentences.spans if sentences else ()
    starts, ends = [a for a, _ in spans], [b for _, b in spans]
    group_of = {i: n for n, group in enumerate(groups) for i in group.sentences}
    held = [set(group.chunks) for group in groups]
    for c, part in enumerate(candidate.parts):
        for i in range(bisect_right(ends, part.span[0]), bisect_left(starts, part.span[1])):
            held[group_of[i]].add(c)
    return [sorted(found) for found in held]


def _some(sentences: Sentences, places: Sequence[int]) -> Sentences:
    at = {i: n for n, i in enumerate(places)}
    return weighed(
        spans=tuple([sentences.spans[i] for i in places]),
        leans=tuple([at[sentences.leans[i]] for i in places]),
        worths=tuple([sentences.worths[i] for i in places]),
        runs=tuple([sentences.runs[i] for i in places]) if sentences.runs else (),
    )


def _shown(text: str, spans: Sequence[Span]) -> Rendition:
    found, ranges = joined(text, spans)
    return rendered(kind="piece", text=found, spans=ranges)


def _decisions(candidate: Candidate, pieces: Sequence[Candidate]) -> Iterator[Decision]:
    for piece in pieces:
        same = piece.chunk.id == candidate.chunk.id
        yield decided(
            chunk_id=piece.chunk.id,
            action="changed" if same else "entered",
            reason="divided",
            by="" if same else candidate.chunk.id,
            numbers={"pieces": len(pieces)},
        )
