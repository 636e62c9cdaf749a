"""Every built-in stage under the laws of stages. A new stage gets a row, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import settings

from foveate.core.stages.compress import Compress
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.divide import Divide
from foveate.core.stages.expand import Expand
from foveate.core.stages.floor import Floor
from foveate.core.stages.group import Group
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Pack
from foveate.core.stages.recent import PreferRecent
from foveate.core.stages.shortlist import Shortlist
from foveate.core.stages.stitch import Stitch
from foveate.core.stages.supplement import SupplementGate
from foveate.testing.stages import check_stage

STAGES = [
    DedupExact(),
    DedupNear(),
    DedupNear(method="containment"),
    DedupNear(method="semantic", prefer="newest"),
    Compress(),
    Compress(when="always", min_tokens=0, shares=(0.5,)),
    Compress(offer="sentences", when="always"),
    Divide(),
    Divide(contrast=1.0),
    Pack(),
    Pack(policy="greedy", overflow="truncate", min_tokens=1),
    Pack(policy="documents"),
    Pack(policy="interleaved"),
    Pack(policy="score_weighted"),
    Pack(policy="coverage"),
    Floor(),
    Floor(min_score=0.0, min_tokens=3, max_per_document=2),
    Shortlist(),
    Shortlist(times=1, least=0),
    PreferRecent(),
    PreferRecent(half_life_days=1, weight=1),
    Expand(),
    Expand(window=3, decay=1),
    Stitch(),
    Stitch(min_overlap=0),
    Group(),
    Order(),
    Order(by="chronological"),
    Order(by="bookend"),
    Order(by="edges", groups=True),
    Order(by="document"),
    Order(by="attention"),
    SupplementGate(),
    SupplementGate(intents=("definition",), max_similarity=5.0, min_similarity=-5.0),
]


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_keeps_the_laws(stage):
    """S12, D1: same input same output, nothing invented, balanced, settled, inputs untouched."""
    check_stage(stage, examples=min(40, settings().max_examples))


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_keeps_the_laws_where_there_are_vectors(stage):
    """S12, D1: the same where every chunk and the query have an embedding."""
    check_stage(stage, dimensions=4, examples=min(15, settings().max_examples))


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_is_spelled_as_it_prints(stage):
    """P2: `repr` is what one types, and what one types is the same value."""
    names = {type(known).__name__: type(known) for known in STAGES}

    assert eval(repr(stage), names) == stage
