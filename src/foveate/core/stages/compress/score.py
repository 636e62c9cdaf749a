"""How likely each unit of a pool holds evidence: the traits, weighed, as one number.

A log-linear model: worth = exp(sum of weight x trait), as shares of the best unit's. A weight says
by how much a trait multiplies the odds. They were fitted to evidence found within budgets of 500 to
4,000 tokens over eight question sets, and rounded; `tools/fit` does it again, and tries each set by
weights that never saw it (docs/cross-validation.md). Nothing in them knows a language or a set.
"""

from __future__ import annotations

import re
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
from foveate.core.stages.compress.unit_index import runs_of
from foveate.core.stages.compress.unit_pool import Passage, Pool, pool_of
from foveate.core.text.shapes.code import import_units
from foveate.core.text.terms import STOP_WORDS
from foveate.core.types import Candidate, PieceRuns, Sentences, Span, rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.compress.unit_pool import Numbers

WEIGHTS = {
    "match": 7.0,
    "said": 5.0,
    "titled": 5.0,
    "around": 5.0,
    "beside": 2.0,
    "named": 6.0,
    "lead": 6.0,
    "bridge": 3.5,
    "peak": 3.5,
    "score": 1.0,
    "place": -0.7,
    "length": 0.3,
    "bulk": -1.0,
}


NOISE = 24.0
"""Log-odds under the best unit's at which a unit is noise: `pack` stops before it on request.

Of what is likelier, but unlikely, it shows a part (`pack/evidence.py`).
"""
BEST_CHUNKS = 3
"""The best so many chunks by score may open a block, and all in the upper half of the range."""
_HIRAGANA = re.compile("[\u3041-\u309f]")
"""A particle or an ending, mostly: pairs with fewer of them are more of a word of the query."""
_LIGHT = frozenset().union(*STOP_WORDS.values())
"""Stop words of any language. Of the words of a query, they count last."""
_FROM_SCORES = ("score", "place")
LOGS = ("log", "traceback")
"""The shapes whose lines may lean on an entry."""
OF_ENTRY = 0.5
"""What a line of a log's entry is worth, beside the entry."""


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

    pool = pool_of(sorted(candidates, key=rank), query, language)
    found = compute_features(pool)
    words = np.zeros(pool.units)
    for name, weight in weights.items():
        if name not in _FROM_SCORES:
            words += weight * found[name]
    chunks = np.array([n for p in pool.passages for n in p.parts], dtype=np.int64)
    separation = separate(pool.scores, chunks, words, np.exp(found["length"]), room)
    likely = words + sum(weights.get(name, 0.0) * found[name] for name in _FROM_SCORES)
    named = identified(pool, query)
    # a unit of which half is in a chunk belongs to it; of one that ends there, the chunk says less
    inside = np.array([min(2 * share, 1.0) for p in pool.passages for share in p.inside])
    logs = likely + separation.gain * inside + named
    _raise_lines(pool, logs)
    held = _held_terms(pool)
    top = logs.max(initial=-np.inf)
    # Rounded: the last digits of a logarithm are not the same on every machine.
    worths = [exp(round(value, 9)) for value in (logs - top).tolist()]
    noise = exp(round(float(likely.max() - NOISE - top), 9)) if pool.units else 0.0
    runs = runs_of(pool.index.words, pool.index.widths)
    is_named = (named > 0).tolist()
    structural = [
        structural_units(p.candidate.text, p.shapes, p.units, is_named[p.first :])
        for p in pool.passages
    ]
    opens = _earned(pool, held, chunks, named, structural)
    apart = named + separation.gain
    unasked = [n for n in _imports(pool, held) if not apart[n]]
    if len(unasked) < pool.units:
        opens[unasked] = False
    earned, gains = opens.tolist(), named.tolist()
    flags = map(pool.by_passage, (opens, separation.gain > 0, found["bridge"] > 0, named > 0))
    sentences: dict[str, Sentences] = {}
    for p, own_structure, may_open, is_apart, is_linked, is_asked in zip(
        pool.passages, structural, *flags, strict=True
    ):
        own = slice(p.first, p.first + len(p.units.spans))
        scored = Sentences(
            spans=p.units.spans,
            leans=p.units.leans,
            worths=tuple(worths[own]),
            runs=PieceRuns(runs.numbers, runs.bounds[own.start : own.stop + 1]),
            noise=noise,
            structural=tuple(sorted(own_structure)),
            earned=tuple(earned[own]),
            words=tuple(held[own]),
            title_words=p.held,
            set_apart=is_apart,
            asked=tuple([n for n, gain in enumerate(gains[own]) if gain]) if is_asked else (),
        )
        if not may_open:
            scored = _merge_units(p, scored, is_named=bool(p.held or is_linked or is_apart))
        sentences[p.candidate.chunk.id] = scored
    return ScoredSentences(sentences, separation)


def _raise_lines(pool: Pool, logs: Numbers) -> None:
    """Let the lines of a log's entry, such as a traceback, be worth `OF_ENTRY` of it at least."""
    for p in pool.passages:
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


def _imports(pool: Pool, held: Sequence[int]) -> list[int]:
    """The units that only bring names into code: those open no block (SPEC J3).

    One does that holds a term of the question (`held`: bits of its terms, by unit) that is in
    imports alone, for then the question is about it.
    """
    found: set[int] = set()
    for p in pool.passages:
        for shape in p.shapes:
            if shape.name == "code":
                first = p.first + bisect_left(p.units.spans, shape.spans[0])
                found.update(first + n for n in import_units(p.candidate.text, shape))
    others = reduce(or_, (bits for n, bits in enumerate(held) if n not in found), 0)
    return [n for n in found if not held[n] & ~others]


def _merge_units(passage: Passage, scored: Sentences, *, is_named: bool) -> Sentences:
    """The text as one piece, for nothing speaks for a part of it.

    `is_named`: its title, a link or its score speaks for all of it. The head of a table stays a
    piece of its own, for rows in later chunks are shown with it; other shapes than tables stay as
    they are.
    """
    if not scored.spans:
        return scored
    structural = frozenset(scored.structural)
    shapes, count, size = passage.shapes, len(scored.spans), len(passage.candidate.chunk.text)
    groups = [range(count)]
    if shapes and count > 1:
        head = shapes[0].head
        is_all = (shapes[0].start, shapes[0].end) == (0, size)
        if not is_named or not is_all or (head < 0 and not shapes[0].is_table):
            return scored
        groups = [range(a, b) for a, b in pairwise(sorted({0, head + 1, count}))]
    edges = [0, *(group[-1] + 1 for group in groups)]
    starts = [0, *(scored.spans[group[0]][0] for group in groups[1:])]
    ends = [*(scored.spans[group[-1]][1] for group in groups[:-1]), size]
    return replace(
        scored,
        spans=tuple(zip(starts, ends, strict=True)),
        leans=(0,) * len(groups),
        worths=tuple([max(scored.worths[n] for n in group) for group in groups]),
        runs=scored.runs and scored.runs._replace(bounds=[scored.runs.bounds[n] for n in edges]),
        structural=tuple([g for g, group in enumerate(groups) if structural.issuperset(group)]),
        earned=(*[False] * (len(groups) - 1), is_named),
        words=tuple([reduce(or_, [scored.words[n] for n in group]) for group in groups]),
    )


def _earned(
    pool: Pool,
    held: Sequence[int],
    chunks: NDArray[np.int64],
    gain: Numbers,
    structural: Sequence[Collection[int]],
) -> NDArray[np.bool_]:
    """Which units may open a block: by a word of the query, or by their chunk's score.

    By unit: `held`, the bits of the terms in it; `chunks`, the number of its chunk; `gain`, above
    zero where the query names it. By passage: `structural`, the places of units
    that say nothing by themselves. Of Japanese pairs of characters, those with the fewest hiragana
    that are found count, and one that has a part of a longer word last. Single characters, and stop
    words of another language than the query's, count if no other word is found. The others are
    shown beside these.
    A title is not enough: it does not say which part of the text to show. If no unit and no title
    holds a word of the query, all may.
    """
    import numpy as np

    weak = [
        2 if len(term) == 1 or term in _LIGHT else len(_HIRAGANA.findall(term))
        for term in pool.terms
    ]
    longer = set("".join(term for term, many in zip(pool.terms, weak, strict=True) if not many))
    weak = [
        many + (many == 1 and not longer.isdisjoint(term))
        for term, many in zip(pool.terms, weak, strict=True)
    ]
    for most in range(3):
        telling = sum(1 << t for t, many in enumerate(weak) if many <= most)
        earned = np.array([words & telling > 0 for words in held], dtype=np.bool_)
        if earned.any():
            break
    if not earned.any() and not any(p.held for p in pool.passages):
        return ~earned
    earned |= gain > 0
    scores = np.array(pool.scores)
    high = np.sort(scores)[-BEST_CHUNKS:][0]
    if scores.max() > scores.min():
        earned |= scores[chunks] >= min(high, scores.max() / 2 + scores.min() / 2)
    earned[_table_heads(pool)] = False
    for p, own in zip(pool.passages, structural, strict=True):
        if own:
            _pass_on(earned[p.first : p.first + len(p.units.spans)], own)
    return earned


def _pass_on(earned: NDArray[np.bool_], structural: Collection[int]) -> None:
    """What says nothing by itself earns no block; if it would have, what is below it does.

    By unit of a passage; one that has nothing else keeps what it earned.
    """
    if len(structural) == len(earned):
        return
    for n in sorted(structural):
        if n + 1 < len(earned):
            earned[n + 1] |= earned[n]
        earned[n] = False


def _table_heads(pool: Pool) -> list[int]:
    """The units that name a table or its columns: shown with its rows, and no reason to open it."""
    found: list[int] = []
    for p in pool.passages:
        heads: set[Span] = set()
        for shape in p.shapes:
            if shape.head >= 0:
                heads.update(shape.spans[0 if shape.is_table else shape.head : shape.head + 1])
        if heads and len(p.units.spans) > len(heads):
            found += [p.first + u for u, span in enumerate(p.units.spans) if span in heads]
    return found


def _held_terms(pool: Pool) -> list[int]:
    """By unit, a bit for each term of the query that it holds."""
    held = [0] * pool.units
    for t, (units, _) in enumerate(pool.places):
        for unit in units.tolist():
            held[unit] |= 1 << t
    return held
