"""How likely each unit of a pool holds evidence: the traits, weighed, as one number.

A log-linear model: worth = exp(sum of weight x trait), as shares of the best unit's. A weight says
by how much a trait multiplies the odds. They were fitted to evidence found within budgets of 500 to
4,000 tokens over eight question sets, and rounded; `tools/fit` does it again, and tries each set by
weights that never saw it (docs/cross-validation.md). When traits that paid nothing were taken out,
`match`, `peak` and `around` took over their part. Nothing in them knows a language or a set.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import exp, inf, log
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from foveate.core.stages.compress.features import compute_features, identified
from foveate.core.stages.compress.separation import Separation, separate
from foveate.core.stages.compress.structure import structural_units
from foveate.core.stages.compress.table import Passage, Table, build_table
from foveate.core.stages.compress.unit_words import runs_of
from foveate.core.text.shapes.code import import_units
from foveate.core.text.terms import STOP_WORDS
from foveate.core.types import Candidate, PieceRuns, Sentences, rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.compress.table import Numbers

WEIGHTS = {
    "match": 8.0,
    "titled": 5.0,
    "around": 7.0,
    "named": 6.0,
    "lead": 6.0,
    "bridge": 3.5,
    "peak": 5.0,
    "score": 1.0,
    "place": -0.7,
    "bulk": -1.0,
}


BEST_CHUNKS = 3
"""The best so many chunks by score may open a block, and all in the upper half of the range."""
_LIGHT = frozenset().union(*STOP_WORDS.values())
"""Stop words of any language. Of the words of a query, they count last."""
_FROM_SCORES = ("score", "place")
LOGS = ("log", "traceback")
"""The shapes whose lines may lean on an entry."""
OF_ENTRY = 0.5
"""What a line of an entry is worth beside it: a question asks for the entry, in other words."""


class ScoredSentences(NamedTuple):
    """Each candidate's sentences by its id, and how far the retriever's scores decided."""

    by_candidate: dict[str, Sentences]
    separation: Separation


def score_sentences(
    candidates: Sequence[Candidate],
    query: str,
    language: str = "en",
    weights: Mapping[str, float] = WEIGHTS,
    room: float = inf,
) -> ScoredSentences:
    """Each candidate's sentences with their worth; the best of all is worth 1.

    `room`: about how many characters the budget holds. Other weights are for fitting them
    (`tools/fit`): a trait without one counts for nothing.
    """
    import numpy as np

    table = build_table(sorted(candidates, key=rank), query, language)
    traits = compute_features(table)
    words, scores = np.zeros((2, table.units))
    for name, weight in weights.items():
        (scores if name in _FROM_SCORES else words)[:] += weight * traits[name]
    sizes = np.array([b - a for p in table.passages for a, b in p.units.spans], dtype=np.float64)
    separation = separate(table.scores, table.chunks, words, sizes, room)
    named = identified(table, query)
    # a unit of which half is in a chunk belongs to it; of one that ends there, the chunk says less
    logs = words + scores + separation.gain * (2 * table.inside).clip(max=1.0) + named
    _raise_lines(table, logs)
    top = logs.max(initial=-np.inf)
    # Rounded: the last digits of a logarithm are not the same on every machine.
    worths = [*map(exp, np.round(logs - top, 9).tolist())]
    by_traits = exp(round(float((words + scores).max() - top), 9)) if table.units else 0.0
    is_named = (named > 0).tolist()
    structural = [
        structural_units(p.candidate.text, p.shapes, p.units, is_named[p.first :])
        for p in table.passages
    ]
    opens, as_one = _earned(table, traits["bridge"], named, separation.gain, structural)
    earned = opens.tolist()
    runs = runs_of(table.words.words, table.words.widths)
    sentences: dict[str, Sentences] = {}
    is_apart = table.any_of(separation.gain > 0)
    for i, p in enumerate(table.passages):
        first, after = p.first, p.first + len(p.units.spans)
        scored = Sentences(
            spans=p.units.spans,
            leans=p.units.leans,
            worths=tuple(worths[first:after]),
            runs=PieceRuns(runs.numbers, runs.bounds[first : after + 1]),
            by_traits=by_traits,
            structural=tuple(sorted(structural[i])),
            earned=tuple(earned[first:after]),
            words=tuple(table.query_bits[first:after]),
            title_words=p.held,
            set_apart=bool(is_apart[i]),
            asked=tuple([n for n, is_asked in enumerate(is_named[first:after]) if is_asked]),
        )
        sentences[p.candidate.chunk.id] = _join_units(p, scored) if as_one[i] else scored
    return ScoredSentences(sentences, separation)


def _join_units(passage: Passage, scored: Sentences) -> Sentences:
    """The text as one piece, for nothing speaks for a part of it.

    The head of a table stays a piece of its own, for rows in later chunks are shown with it; other
    shapes than tables stay as they are.
    """
    shapes, count, size = passage.shapes, len(scored.spans), len(passage.candidate.chunk.text)
    is_table = shapes and shapes[0].is_table and (shapes[0].start, shapes[0].end) == (0, size)
    if not count or (shapes and not is_table):
        return scored
    edges = sorted({0, shapes[0].head + 1 if shapes else 0, count})
    groups = [range(a, b) for a, b in pairwise(edges)]
    starts = [0, *(scored.spans[group[0]][0] for group in groups[1:])]
    ends = [*(scored.spans[group[-1]][1] for group in groups[:-1]), size]
    return replace(
        scored,
        spans=tuple(zip(starts, ends, strict=True)),
        leans=(0,) * len(groups),
        worths=tuple([max(scored.worths[n] for n in group) for group in groups]),
        runs=scored.runs and scored.runs._replace(bounds=[scored.runs.bounds[n] for n in edges]),
        structural=tuple(range(len(groups) - 1)),
        earned=(*[False] * (len(groups) - 1), True),
        words=tuple([reduce(or_, [scored.words[n] for n in group]) for group in groups]),
    )


def _raise_lines(table: Table, logs: Numbers) -> None:
    """Let the lines of a log's entry, such as a traceback, be worth `OF_ENTRY` of it at least."""
    for p in table.passages:
        for shape in p.shapes:
            if shape.name not in LOGS:
                continue
            first = p.first + bisect_left(p.units.spans, shape.spans[0])
            entries: list[int] = []
            for n, lean in enumerate(shape.leans):
                entries.append(n if lean == n else entries[lean])
                if lean < n:
                    least = logs[first + entries[n]] + log(OF_ENTRY)
                    logs[first + n] = max(logs[first + n], least)


def _imports(table: Table) -> list[int]:
    """The units that only bring names into code: those open no block (SPEC J3).

    One does that holds a term of the question that is in imports alone, for then the question is
    about it.
    """
    found: set[int] = set()
    for p in table.passages:
        for shape in p.shapes:
            if shape.name == "code":
                first = p.first + bisect_left(p.units.spans, shape.spans[0])
                found.update(first + n for n in import_units(p.candidate.text, shape))
    if not found:
        return []
    others = reduce(or_, (bits for n, bits in enumerate(table.query_bits) if n not in found), 0)
    return [n for n in found if not table.query_bits[n] & ~others]


def _earned(
    table: Table,
    bridge: Numbers,
    named: Numbers,
    gain: Numbers,
    structural: Sequence[Collection[int]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which units may open a block, by a word of the query, or by their chunk's score.

    By unit: `bridge`, above zero where a good sentence names its document; `named`, where the query
    names it; `gain`, where scores set it apart. By passage: `structural`, the places of units that
    say nothing by themselves. Single characters, and stop words of another language than the
    query's, count if no other word is found. Where no unit of a text may, and its title, a link or
    its score speaks for all of it, all of them may: the second array, by passage. A title does not
    say which part of the text to show. If no unit and no title holds a word of the query, all may.
    """
    import numpy as np

    earned, weakly = np.zeros((2, table.units), dtype=np.bool_)
    for term, (units, _) in zip(table.terms, table.places, strict=True):
        (weakly if len(term) == 1 or term in _LIGHT else earned)[units] = True
    if not earned.any():
        earned = weakly
    titled = np.array([p.held > 0 for p in table.passages], dtype=np.bool_)
    if not earned.any() and not titled.any():
        return ~earned, titled
    earned |= named > 0
    scores = np.array(table.scores)
    high = np.sort(scores)[-BEST_CHUNKS:][0]
    if scores.max() > scores.min():
        earned |= scores[table.chunks] >= min(high, scores.max() / 2 + scores.min() / 2)
    silent = np.zeros(table.units, dtype=np.bool_)
    for p, own in zip(table.passages, structural, strict=True):
        if own and len(own) < len(p.units.spans):
            silent[[p.first + n for n in own]] = True
    earned &= ~silent
    as_one = (titled | table.any_of(bridge + gain > 0)) & ~table.any_of(earned)
    earned |= as_one[table.owners] & ~silent
    unasked = [n for n in _imports(table) if not named[n] and not gain[n]]
    if len(unasked) < table.units:
        earned[unasked] = False
    return earned, as_one
