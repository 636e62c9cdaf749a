"""Divide: a passage of uneven worth becomes pieces that can be placed apart.

Models read the middle of a long passage worst (Liu et al., "Lost in the middle", 2023). So a
passage whose sentences were weighed is split into its chunks again if their worth differs:

1. a sentence goes to the best-scored chunk that has it whole;
2. a sentence that leans on another goes with that one;
3. neighbours of about the same worth for their length stay together, and so do steps with
   consecutive numbers, which are done in their order; numbered questions are no steps;
4. a passage whose best sentence is worth less than a hundredth of the best of all stays whole.

A piece has the whole passage's text, chunks and offsets, and shows its own sentences. The piece of
the first chunk keeps the passage's id, the others take the id of their first chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import ClassVar, NamedTuple

from foveate.core.renditions import join_chunk_spans
from foveate.core.request import Request
from foveate.core.types import Candidate, Decision, Rendition, Sentences, Step

BLOCK_OVERHEAD = 60
"""Characters; what stands around a block counts as so much text."""

CONTRAST = 4.0
"""Worth per character of one side of a passage over that of the other, from which it is cut."""
MIN_WORTH_SHARE = 0.01
"""Of the best worth; a passage that has no sentence of that worth need not be divided."""

_STEP = re.compile(
    r"""(?x) [ \t]*+ ([1-9]\d?) [.)] [ \t] [^\n?]{0,1000}+
    (?: \n[ \t]*+\S | (?:(?<=[.:;!]) | (?<=[.:;!][ \t\r])) (?:\n|\Z) )"""
)
"""How a step of a numbered list begins; no question, and no heading, alone on its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divide:
    """Cut passages where what their sentences are worth changes; after `compress`, before `pack`.

    A passage is cut where one side is worth more than `CONTRAST` times the other, per character,
    but not between steps with consecutive numbers. Needs `compress` to have offered `sentences`;
    other passages stay as they are.
    """

    keeps_order: ClassVar[bool] = True

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Put the pieces in the place of each divided passage, as they read.

        The piece that keeps the id is `changed`, the others have `entered`; `pieces`: how many.
        """
        out: list[Candidate] = []
        decisions: list[Decision] = []
        best = [max(c.sentences.worths, default=0.0) if c.sentences else 0.0 for c in candidates]
        least = MIN_WORTH_SHARE * max(best, default=0.0)
        for candidate, worth in zip(candidates, best, strict=True):
            groups = find_sentence_groups(candidate) if worth >= least else []
            if len(groups) < 2:
                out.append(candidate)
                continue
            made = divide_candidate(candidate, groups)
            out += made
            decisions += _build_decisions(candidate, made)
        if not decisions:
            return Step(candidates=candidates)
        return Step(candidates=tuple(out), decisions=tuple(decisions))


class SentenceGroup(NamedTuple):
    """Sentences that stay together: of which chunks, and which, by their places in the passage."""

    chunks: tuple[int, ...]
    sentences: tuple[int, ...]


class _ChunkRun(NamedTuple):
    """Neighbouring chunks, from one up to another: what they are worth, their characters.

    `step`: the number of the last step in them; 0 if there is none.
    """

    first: int
    end: int
    worth: float
    size: int
    step: int


def find_sentence_groups(candidate: Candidate) -> list[SentenceGroup]:
    """The parts that a passage falls into, as they read; one or none: it stays as it is."""
    sentences = candidate.sentences
    if sentences is None or len(candidate.parts) < 2 or candidate.shown is not None:
        return []
    of_chunk: dict[int, list[int]] = {}
    for i, owner in enumerate(sentence_owners(candidate, sentences)):
        of_chunk.setdefault(owner, []).append(i)
    chunks, places = list(of_chunk), list(of_chunk.values())
    return [
        SentenceGroup(
            chunks=tuple(sorted(chunks[run.first : run.end])),
            sentences=tuple(sorted(chain.from_iterable(places[run.first : run.end]))),
        )
        for run in _merge_runs(candidate.text, sentences, places)
    ]


def _merge_runs(
    text: str, sentences: Sentences, places: Sequence[Sequence[int]]
) -> list[_ChunkRun]:
    sizes = [b - a for a, b in sentences.spans]
    kept: list[_ChunkRun] = []
    for n, own in enumerate(places):
        worth = sum(map(sentences.worths.__getitem__, own))
        size = BLOCK_OVERHEAD + sum(map(sizes.__getitem__, own))
        steps = [_step_number(text, sentences.spans[i][0]) for i in own]
        new = _ChunkRun(n, n + 1, worth, size, step=next(filter(None, reversed(steps)), 0))
        goes_on = bool(kept) and 1 < steps[0] == kept[-1].step + 1
        while kept and (goes_on or _is_similar_density(kept[-1], new)):
            goes_on, old = False, kept.pop()
            new = _ChunkRun(
                first=old.first,
                end=new.end,
                worth=old.worth + new.worth,
                size=old.size + new.size - BLOCK_OVERHEAD,
                step=new.step or old.step,
            )
        kept.append(new)
    return kept


def _step_number(text: str, start: int) -> int:
    """The number of the step that begins there; 0 if none does."""
    step = _STEP.match(text, start)
    return int(step[1]) if step else 0


def _is_similar_density(one: _ChunkRun, other: _ChunkRun) -> bool:
    """Whether neither is worth more than so many times the other, per character."""
    low, high = sorted((one.worth / one.size, other.worth / other.size))
    return high <= CONTRAST * low


def sentence_owners(candidate: Candidate, sentences: Sentences) -> list[int]:
    """For each sentence the best-scored chunk that has it, whole before in part."""
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
    return [found[head] for head in _dependency_roots(sentences.leans)]


def _dependency_roots(leans: Sequence[int]) -> list[int]:
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


def divide_candidate(candidate: Candidate, groups: Sequence[SentenceGroup]) -> list[Candidate]:
    """A candidate for each group of a passage's sentences."""
    sentences = candidate.sentences
    if sentences is None:
        return [candidate]
    passage = candidate.chunk
    first = next((n for n, group in enumerate(groups) if 0 in group.chunks), 0)
    pieces = []
    for n, (group, held) in enumerate(
        zip(groups, _chunks_of_groups(candidate, groups), strict=True)
    ):
        mine = [candidate.parts[c] for c in group.chunks]
        best = max(mine, key=lambda part: part.score)
        parts = tuple([candidate.parts[c] for c in held])
        retrieved = any(part.origin == "retrieved" for part in mine)
        some = _select_sentences(sentences, group.sentences)
        text, ranges = join_chunk_spans(passage, some.spans, parts)
        chunk = passage
        if n != first:
            start, end = passage.start, passage.end
            chunk = replace(mine[0].chunk, text=passage.text, start=start, end=end, embedding=None)
        pieces.append(
            replace(
                candidate,
                chunk=chunk,
                score=best.score,
                scored=best.scored,
                origin="retrieved" if retrieved else "neighbour",
                parts=parts,
                sentences=some,
                shown=Rendition(kind="piece", text=text, spans=ranges),
            )
        )
    return pieces


def _chunks_of_groups(candidate: Candidate, groups: Sequence[SentenceGroup]) -> list[list[int]]:
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


def _select_sentences(sentences: Sentences, places: Sequence[int]) -> Sentences:
    at = {i: n for n, i in enumerate(places)}
    return Sentences(
        spans=tuple([sentences.spans[i] for i in places]),
        leans=tuple([at[sentences.leans[i]] for i in places]),
        worths=tuple([sentences.worths[i] for i in places]),
        runs=sentences.runs and sentences.runs.select(places),
        asked=tuple([at[i] for i in sentences.asked if i in at]),
        structural=tuple([at[i] for i in sentences.structural if i in at]),
        earned=tuple([sentences.earned[i] for i in places]) if sentences.earned else (),
        by_traits=sentences.by_traits,
        words=tuple([sentences.words[i] for i in places]) if sentences.words else (),
        title_words=sentences.title_words,
        set_apart=sentences.set_apart,
    )


def _build_decisions(candidate: Candidate, pieces: Sequence[Candidate]) -> Iterator[Decision]:
    for piece in pieces:
        same = piece.chunk.id == candidate.chunk.id
        yield Decision(
            chunk_id=piece.chunk.id,
            action="changed" if same else "entered",
            reason="divided",
            by="" if same else candidate.chunk.id,
            numbers={"pieces": len(pieces)},
        )
