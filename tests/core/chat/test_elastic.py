"""Zones that lend to one another, over arbitrary needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.chat.zones import (
    SHARED_ZONES,
    FlexibleBudget,
    Zone,
    ZoneDemand,
    share_out,
    stretch_budget,
)
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.zones import Budget

tokens = st.integers(0, 300)


@st.composite
def zones(draw):
    """A zone whose ceiling is over its floor, or none."""
    floor = draw(st.integers(0, 60))
    ceiling = draw(st.none() | st.integers(floor, 400))
    return Zone(floor=floor, ceiling=ceiling, weight=draw(st.integers(0, 5)))


needs = st.builds(ZoneDemand, wants=st.none() | tokens, must=st.just(0))


@given(
    st.integers(0, 900),
    st.fixed_dictionaries({name: st.tuples(needs, zones()) for name in SHARED_ZONES}),
)
def test_sharing_keeps_every_promise(total, drawn):
    """W1, B2: never over the window, floors and ceilings kept, nothing unused that one wanted."""
    wanted = {name: need for name, (need, _) in drawn.items()}
    limits = {name: zone for name, (_, zone) in drawn.items()}

    shares = share_out(total, wanted, limits)

    wants = {n: total if need.wants is None else need.wants for n, need in wanted.items()}
    most = {
        n: wants[n] if limits[n].ceiling is None else min(wants[n], limits[n].ceiling)
        for n in SHARED_ZONES
    }
    floors = {n: min(limits[n].floor, most[n]) for n in SHARED_ZONES}
    if shares is None:
        assert sum(floors.values()) > total
        return
    assert sum(shares.values()) <= total
    assert all(floors[n] <= shares[n] <= most[n] for n in SHARED_ZONES)
    assert sum(shares.values()) == min(total, sum(most.values()))


@given(
    st.integers(0, 900),
    st.fixed_dictionaries({name: st.tuples(needs, zones()) for name in SHARED_ZONES}),
    st.permutations(SHARED_ZONES),
)
def test_the_order_of_the_zones_does_not_matter(total, drawn, order):
    """W1, D1: the same shares, in whatever order the zones are named."""
    wanted = {name: drawn[name][0] for name in SHARED_ZONES}
    limits = {name: drawn[name][1] for name in SHARED_ZONES}

    shuffled = share_out(total, {n: wanted[n] for n in order}, {n: limits[n] for n in order})

    assert shuffled == share_out(total, wanted, limits)


@given(st.integers(1, 900), st.integers(0, 900), st.integers(0, 900))
def test_more_in_all_is_never_less_for_one(total, first, second):
    """W1: a larger total takes no more than a rounded token away from any zone."""
    wanted = {"a": ZoneDemand(wants=first), "b": ZoneDemand(wants=second)}
    limits = {"a": Zone(floor=1, weight=3), "b": Zone(weight=2)}

    less, more = share_out(total, wanted, limits), share_out(total + 1, wanted, limits)

    assert less is not None
    assert more is not None
    assert all(more[name] + 1 >= less[name] for name in wanted)


def test_what_one_zone_leaves_another_uses():
    """W1, B2: documents take what prompt, query and conversation leave, and lend in turn."""
    budget = Budget(system=100, conversation=200, query=50, documents=650, window=None)
    short = {"system": ZoneDemand(wants=10, must=10), "query": ZoneDemand(wants=5, must=5)}
    small, large = ZoneDemand(wants=20), ZoneDemand(wants=5_000)

    quiet = stretch_budget(budget, {**short, "conversation": small, "documents": large})
    talky = stretch_budget(budget, {**short, "conversation": large, "documents": small})
    both = stretch_budget(budget, {**short, "conversation": large, "documents": large})

    assert (quiet.conversation, quiet.documents) == (20, 965)
    assert (talky.conversation, talky.documents) == (965, 20)
    assert both.total - budget.generation - budget.buffer == 1_000
    assert both.conversation >= 100
    assert both.documents >= 325


def test_what_cannot_be_done_without_comes_first_or_is_refused():
    """W1, B1: a hard need is met over other floors' slack; where it cannot be, the sum is said."""
    budget = Budget(
        system=0, conversation=100, query=10, documents=100, window=None, generation=0, buffer=0
    )
    rest = {"system": ZoneDemand(wants=0), "query": ZoneDemand(wants=10, must=10)}
    pressing = {**rest, "conversation": ZoneDemand(wants=150, must=150), "documents": ZoneDemand()}

    assert stretch_budget(budget, pressing).conversation == 150
    with pytest.raises(BudgetTooSmall) as refused:
        stretch_budget(budget, {**pressing, "conversation": ZoneDemand(wants=200, must=200)})
    assert refused.value.needed == 260

    enough = Budget(
        system=0, conversation=100, query=10, documents=150, window=None, generation=0, buffer=0
    )
    zones = FlexibleBudget(documents=Zone(floor=50, weight=4))
    assert stretch_budget(
        enough, {**pressing, "conversation": ZoneDemand(wants=200, must=200)}, zones
    )


def test_zones_that_cannot_be_are_refused():
    """W1, X1: a ceiling below its floor, a negative weight, a budget without tokens."""
    with pytest.raises(BadOption, match="ceiling 1 is below its floor 2"):
        Zone(floor=2, ceiling=1)
    with pytest.raises(BadOption, match="weight"):
        Zone(weight=-1)
    with pytest.raises(BadOption, match="characters alone"):
        stretch_budget(Budget(documents=None, characters=100), {})
