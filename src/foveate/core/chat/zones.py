"""Zones that share a window (SPEC W1): what each may have, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from foveate.core.checks import check_zone
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.zones import Budget

SHARED_ZONES = ("system", "conversation", "query", "documents")
"""The zones that share; `generation` and `buffer` are never touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """How far one zone stretches, in tokens.

    `floor`: as much as it wants up to here is never given to another zone. `ceiling`: it never
    gets more (None: no limit). `weight`: its part of what is left over the floors; 0 waits until
    all others have what they want.
    """

    floor: int = 0
    ceiling: int | None = None
    weight: int = 1

    def __post_init__(self) -> None:
        check_zone("floor", self.floor, 0)
        check_zone("weight", self.weight, 0)
        if self.ceiling is not None:
            check_zone("ceiling", self.ceiling, 0)
            if self.ceiling < self.floor:
                raise BadOption(f"zone: ceiling {self.ceiling} is below its floor {self.floor}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneDemand:
    """What a zone could use, and what it cannot do without. None: as much as there is."""

    wants: int | None = None
    must: int = 0

    def __post_init__(self) -> None:
        if self.wants is not None and self.wants < self.must:
            object.__setattr__(self, "wants", self.must)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlexibleBudget:
    """The four zones that share a window."""

    system: Zone = field(default_factory=lambda: Zone(weight=0))
    conversation: Zone = field(default_factory=Zone)
    query: Zone = field(default_factory=lambda: Zone(weight=0))
    documents: Zone = field(default_factory=lambda: Zone(weight=4))


def flexible_budget(budget: Budget) -> FlexibleBudget:
    """Zones that lend to one another: each keeps half of its size, and its size is its weight."""
    conversation, documents = budget.conversation, budget.documents or 0
    return FlexibleBudget(
        conversation=Zone(floor=conversation // 2, weight=conversation),
        documents=Zone(floor=documents // 2, weight=documents),
    )


def share_out(
    total: int, needs: Mapping[str, ZoneDemand], zones: Mapping[str, Zone]
) -> dict[str, int] | None:
    """Tokens for each zone; None where what they cannot do without is more than there is.

    The sum is at most `total`. A zone gets no more than it wants and no more than its ceiling,
    and no less than its floor where it wants that much. If any zone gets less than it wants and
    may have, nothing is left over. The same for the same figures, whatever order they come in.

    >>> zones = {"a": Zone(floor=10), "b": Zone(weight=3)}
    >>> share_out(100, {"a": ZoneDemand(wants=4), "b": ZoneDemand(wants=500)}, zones)
    {'a': 4, 'b': 96}
    """
    names = sorted(needs)
    most = {name: _zone_limit(total, needs[name], zones[name]) for name in names}
    given = {n: max(min(zones[n].floor, most[n]), needs[n].must) for n in names}
    left = total - sum(given.values())
    if left < 0 or any(given[n] > most[n] for n in names):
        return None
    while left and (open_ := [n for n in names if given[n] < most[n]]):
        weights = {n: zones[n].weight for n in open_}
        if not any(weights.values()):
            weights = dict.fromkeys(open_, 1)
        for name, tokens in _share_by_weight(left, weights).items():
            more = min(tokens, most[name] - given[name])
            given[name] += more
            left -= more
    return given


def _zone_limit(total: int, need: ZoneDemand, zone: Zone) -> int:
    wants = total if need.wants is None else need.wants
    return wants if zone.ceiling is None else min(wants, zone.ceiling)


def _share_by_weight(left: int, weights: Mapping[str, int]) -> dict[str, int]:
    """All that is left, by weight: whole tokens, the rest one by one to the largest remainders."""
    whole = sum(weights.values())
    shares = {name: left * weight // whole for name, weight in weights.items()}
    rest = left - sum(shares.values())
    order = sorted(weights, key=lambda n: (-(left * weights[n] % whole), n))
    for name in order[:rest]:
        shares[name] += 1
    return shares


def stretch_budget(
    budget: Budget, needs: Mapping[str, ZoneDemand], zones: FlexibleBudget | None = None
) -> Budget:
    """The budget with its shared zones as needed; their sum does not grow.

    `zones` None: as `flexible_budget` gives. Raises `BudgetTooSmall`. The documents keep a token.
    """
    if budget.documents is None:
        raise BadOption("zones: a budget in characters alone cannot stretch; give it documents")
    limits = zones or flexible_budget(budget)
    known = {name: getattr(limits, name) for name in SHARED_ZONES}
    pool = shared_tokens(budget)
    documents = needs["documents"]
    needs = {**needs, "documents": ZoneDemand(wants=documents.wants, must=max(1, documents.must))}
    for name, need in needs.items():
        ceiling = known[name].ceiling
        if ceiling is not None and need.must > ceiling:
            raise BudgetTooSmall(ceiling, need.must, what=f"the {name} zone, by its ceiling,")
    given = share_out(pool, needs, known)
    if given is None:
        raise BudgetTooSmall(
            pool, _smallest_total(needs, known), what="the request, its parts together,"
        )
    return replace(budget, **given)


def shared_tokens(budget: Budget) -> int:
    """Tokens that the zones share: their sum, within the window."""
    pool = budget.system + budget.conversation + budget.query + (budget.documents or 0)
    if budget.window is None:
        return pool
    return min(pool, budget.window - budget.generation - budget.buffer)


def _smallest_total(needs: Mapping[str, ZoneDemand], zones: Mapping[str, Zone]) -> int:
    total = 0
    for name, need in needs.items():
        floor = zones[name].floor
        total += max(need.must, floor if need.wants is None else min(floor, need.wants))
    return total
