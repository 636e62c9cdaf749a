"""Sentences as the pipeline sees them: no trait, cost or word of evidence of another making."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tools.fit import units as module
from tools.fit.units import NAMES, Look, Units, gather

from foveate import assemble
from foveate.core.stages.compress.score import score_sentences
from foveate.core.stages.compress.table import build_table
from foveate.core.stages.pack.budget_tracker import tracker_for_budget
from foveate.core.stages.pack.selection import build_selection
from foveate.core.types import rank
from golden_cases import cases


def quiet(done: int, total: int, what: str) -> None:
    """Nobody is told."""


@pytest.fixture(scope="module")
def found() -> Units:
    """The sentences of our own cases."""
    return gather(cases(), quiet)


def test_every_question_has_its_rows(found: Units) -> None:
    """S8: thirteen traits, a cost and a share of the evidence for each sentence."""
    sums = np.add.reduceat(found.gold, found.first[:-1])

    assert found.traits.shape == (found.first[-1], len(NAMES))
    assert found.sets.tolist() == [case.dataset for case in cases()]
    assert found.costs.min() >= 1
    assert sums.max() <= 1 + 1e-9
    assert sums.min() > 0


def test_costs_are_those_of_the_packer(found: Units) -> None:
    """S8: a sentence costs here what it costs in the selection, where its text is not one piece."""
    look = Look()
    case = cases()[0]
    assemble(case.question, case.candidates(), recipe=module._watched(look), budget=60)
    (before, request), *_ = look.seen
    offered = score_sentences(before, case.question).by_candidate
    with_sentences = [replace(c, sentences=offered[c.id]) for c in before]
    tracker = tracker_for_budget(request.budget, request.token_counter, None)
    selection = build_selection(with_sentences, tracker)

    lengths = build_table(sorted(before, key=rank), case.question, "en").lengths
    costs = np.split(found.costs[: found.first[1]], np.cumsum(lengths)[:-1])
    apart = [
        (here.tolist(), selection.costs[a:b])
        for here, (a, b) in zip(costs, pairwise(selection.firsts), strict=True)
        if b - a > 1
    ]
    assert apart
    assert all(here == there for here, there in apart)
