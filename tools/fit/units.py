"""Every sentence of every question as numbers: its traits, what it costs, what evidence it holds.

Taken from within the real pipeline: a stage stands where `compress` stands in `default` and looks
at what comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from tools.fit.gold import gold

from foveate import plugins
from foveate.core.request import Recipe, Request
from foveate.core.stages.compress import Compress
from foveate.core.stages.compress.features import compute_features
from foveate.core.stages.compress.score import WEIGHTS
from foveate.core.stages.compress.table import build_table
from foveate.core.types import Candidate, Span, Step, rank
from foveate.evals.cases import Case
from foveate.pipeline.assembler import assemble

Numbers = npt.NDArray[np.float64]
NAMES = tuple(WEIGHTS)
BUDGET = 500
"""Small enough that sentences are offered for every question that has more than that."""
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Sentences, one a row; those of question q are `first[q]` up to `first[q + 1]`.

    `traits`: a column for each of `NAMES`. `costs`: tokens, as `pack` estimates them. `gold`: the
    share of the question's evidence. `sets`: of each question.
    """

    traits: Numbers
    costs: Numbers
    gold: Numbers
    first: npt.NDArray[np.int64]
    sets: npt.NDArray[np.str_]

    def of(self, chosen: npt.NDArray[np.bool_]) -> Units:
        """The chosen questions alone."""
        lengths = np.diff(self.first)
        rows = np.repeat(chosen, lengths)
        return Units(
            traits=self.traits[rows],
            costs=self.costs[rows],
            gold=self.gold[rows],
            first=np.concatenate([[0], np.cumsum(lengths[chosen])]),
            sets=self.sets[chosen],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A stage that changes nothing and keeps what it saw."""

    seen: list[tuple[tuple[Candidate, ...], Request]] = field(default_factory=list, repr=False)

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Keep them."""
        self.seen.append((candidates, request))
        return Step(candidates=candidates)


def gather(cases: Sequence[Case], progress: Progress) -> Units:
    """The sentences of all cases, through the stages of `default` that come before `compress`."""
    columns: list[tuple[Numbers, Numbers, Numbers]] = []
    for number, case in enumerate(cases, 1):
        columns.append(_of(case))
        progress(number, len(cases), case.dataset)
    found, costs, golds = zip(*columns, strict=True)
    return Units(
        traits=np.concatenate(found),
        costs=np.concatenate(costs),
        gold=np.concatenate(golds),
        first=np.cumsum([0, *map(len, costs)]),
        sets=np.array([case.dataset for case in cases]),
    )


def _of(case: Case) -> tuple[Numbers, Numbers, Numbers]:
    """Traits, costs and gold of one case's sentences."""
    look = Look()
    assemble(case.question, case.candidates(), recipe=_watched(look), budget=BUDGET)
    candidates, request = look.seen[0]
    table = build_table(sorted(candidates, key=rank), request.query, request.language)
    found = compute_features(table)
    costs: list[int] = []
    passages = []
    for passage in table.passages:
        text, spans = passage.candidate.text, passage.units.spans
        costs += costs_of(
            request.token_counter.count_chunk(passage.candidate.chunk), len(text), spans
        )
        passages.append([text[a:b] for a, b in spans])
    return (
        np.array([found[name] for name in NAMES]).T,
        np.array(costs, dtype=float),
        np.array(gold(passages, [piece.text for piece in case.evidence])),
    )


def costs_of(tokens: int, length: int, spans: Sequence[Span]) -> list[int]:
    """Shares of a passage's tokens, as `core/stages/pack/selection.py` hands them out."""
    return [max(1, -(-tokens * (b - a) // (length or 1))) for a, b in spans]


def _watched(look: Look) -> Recipe:
    """`default`, looked at where it offers sentences."""
    recipe = plugins.recipe("default")
    at = next(i for i, stage in enumerate(recipe.stages) if isinstance(stage, Compress))
    return replace(recipe, stages=(*recipe.stages[:at], look, *recipe.stages[at:]))
