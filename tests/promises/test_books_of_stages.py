"""Every built-in stage, policy and order under the laws of stages: new ones are found."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import settings

from foveate.core.stages import BUILTIN
from foveate.core.stages.compress import Compress
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.divide import Divide
from foveate.core.stages.expand import Expand
from foveate.core.stages.floor import Floor
from foveate.core.stages.order import Order, OrderBy
from foveate.core.stages.pack import Overflow, Pack
from foveate.core.stages.recent import PreferRecent
from foveate.core.stages.shortlist import Shortlist
from foveate.core.stages.stitch import Stitch
from foveate.core.stages.supplement import SupplementGate
from foveate.testing.stages import check_stage

NEAR = [
    DedupNear(method=method, prefer=prefer, threshold=0.6)
    for method, prefer in product(("jaccard", "containment", "semantic"), ("score", "newest"))
]
STAGES = [
    *(make() for make in BUILTIN.values()),
    DedupExact(key="verbatim"),
    *NEAR,
    Compress(when="always", min_tokens=0),
    *(
        Compress(when=when, min_tokens=1, max_chunk_tokens=5)
        for when in ("over_budget", "oversized", "always")
    ),
    # without a model's offers
    *(Compress(offer=o, when="always", min_tokens=1) for o in ("llm_extract", "llm_abstract")),
    Compress(offer="sentences", when="always"),
    Divide(),
    *(
        Pack(policy=policy, overflow=overflow, min_tokens=1)
        for policy, overflow in product(
            Pack.policies,
            (None, *get_args(Overflow)),
        )
    ),
    Floor(min_score=0.0, min_tokens=3, max_per_document=2),
    Shortlist(times=1, least=0),
    PreferRecent(half_life_days=1, weight=1),
    Expand(window=3, decay=1),
    Stitch(min_overlap=0),
    *(Order(by=by) for by in get_args(OrderBy)),
    Order(by="edges", groups=True),
    SupplementGate(intents=("definition",), max_similarity=5.0),
]


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_keeps_the_laws(stage):
    """S12, D1: same input same output, nothing invented, balanced, settled, inputs untouched."""
    check_stage(stage, examples=min(20, settings().max_examples))


FIRST = {type(stage): stage for stage in reversed(STAGES)}


@pytest.mark.parametrize("stage", [*NEAR, *FIRST.values()], ids=repr)
def test_a_stage_keeps_the_laws_where_there_are_vectors(stage):
    """S12, D1: the same where every chunk and the query have an embedding."""
    check_stage(stage, dimensions=4, examples=min(12, settings().max_examples))


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_is_spelled_as_it_prints(stage):
    """P2: `repr` is what one types, and what one types is the same value."""
    names = {type(known).__name__: type(known) for known in STAGES}

    assert eval(repr(stage), names) == stage
