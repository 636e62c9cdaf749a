"""What a request needs of the window, and zones that share it (SPEC W1): a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from foveate.core.assemble import TokenCountCache
from foveate.core.candidates import is_readable
from foveate.core.chat.history import FittedHistory, fit_history
from foveate.core.chat.history_fit import (
    History,
    HistoryFit,
    MessageCounter,
    Summary,
    TurnCache,
)
from foveate.core.chat.turns import Message, Turn, count_message_tokens
from foveate.core.checks import check_zone
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.core.request import Inputs
from foveate.core.window import LONG_QUERY, count_messages
from foveate.core.zones import Budget

HEADER_TOKENS = 96  # tokens; more than stands around a chunk in most formats


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The conversation's part of a request.

    `zones`: as in `converse`. `capped`: documents never exceed their zone. `before`, `standing`,
    `ledger`, `withdrawn` and `live`: as in `HistoryFit`.
    """

    turns: tuple[Turn, ...] = ()
    system: str = ""
    history: History = field(default_factory=History)
    zones: FlexibleBudget | bool = True
    capped: bool = False
    summary: Summary | None = None
    standing: Summary | None = None
    ledger: str = ""
    before: tuple[Turn | None, ...] = ()
    withdrawn: frozenset[int] = frozenset()
    live: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """One request while it is made: what is asked, who counts, and what was worked out already."""

    inputs: Inputs
    chat: ChatOptions
    tokenizer: Tokenizer
    known: TokenCountCache
    memory: TurnCache = field(default_factory=TurnCache)

    @property
    def budget(self) -> Budget:
        """The zones as the caller gave them."""
        return self.inputs.budget


def filter_permitted(inputs: Inputs) -> Inputs:
    """The inputs without what may not be read, which must not even be measured."""
    if not inputs.query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    allowed = frozenset(inputs.principals)
    return replace(
        inputs,
        candidates=tuple(c for c in inputs.candidates if is_readable(c.chunk.principals, allowed)),
        neighbours=tuple(c for c in inputs.neighbours if is_readable(c.principals, allowed)),
        supplements=tuple(s for s in inputs.supplements if is_readable(s.principals, allowed)),
    )


def resolve_zones(budget: Budget, chat: ChatOptions) -> FlexibleBudget | None:
    """The zones that are meant for this budget; None where they keep their sizes."""
    if chat.zones is False or budget.documents is None:
        return None
    zones = flexible_budget(budget) if chat.zones is True else chat.zones
    if chat.capped:
        zones = replace(zones, documents=replace(zones.documents, ceiling=budget.documents))
    return zones


def check_lengths(run: RequestState) -> None:
    """Refuse a query over its zone, and where zones are fixed a system prompt over its own."""
    budget, zones, count = run.budget, resolve_zones(run.budget, run.chat), run.tokenizer.count
    query, system = count(run.inputs.query), count(run.chat.system)
    limit = budget.query or None
    if zones is not None and zones.query.ceiling is not None:
        limit = zones.query.ceiling
    if limit is not None and query > limit:
        raise BudgetTooSmall(limit, query, what=LONG_QUERY)
    limit = budget.system or None if zones is None else zones.system.ceiling
    if limit is not None and system > limit:
        raise BudgetTooSmall(limit, system, what="the system prompt")


def system_messages(system: str) -> list[Message]:
    """The system prompt as a message, where there is one."""
    return [Message(role="system", text=system)] if system else []


def measure_demand(run: RequestState) -> dict[str, ZoneDemand]:
    """What each zone could use; what it cannot do without, as far as that is known already."""
    budget, tokenizer = run.budget, run.tokenizer
    system = count_message_tokens(system_messages(run.chat.system), budget, tokenizer)
    query = count_messages([("user", run.inputs.query)], budget, tokenizer)
    return {
        "system": ZoneDemand(wants=system, must=system),
        "query": ZoneDemand(wants=query, must=query),
        "conversation": ZoneDemand(wants=_conversation_demand(run)),
        "documents": ZoneDemand(
            wants=_documents_demand(run), must=min(1, len(run.inputs.candidates))
        ),
    }


def _conversation_demand(run: RequestState) -> int:
    chat = run.chat
    fit = HistoryFit(
        turns=chat.turns,
        options=chat.history,
        weigh=_message_counter(run),
        query=run.inputs.query,
        withdrawn=chat.withdrawn,
        live=chat.live,
        memory=run.memory,
    )
    return fit.total()


def _message_counter(run: RequestState) -> MessageCounter:
    budget, tokenizer = run.budget, run.tokenizer
    return lambda messages: count_message_tokens(messages, budget, tokenizer)


def _documents_demand(run: RequestState) -> int | None:
    total, most, count = 0, shared_tokens(run.budget), run.tokenizer.count
    chunks = [candidate.chunk for candidate in run.inputs.candidates]
    for chunk in (*chunks, *run.inputs.neighbours):
        known = run.known.get(chunk.content_hash)
        total += HEADER_TOKENS + (count(chunk.text) if known is None else known)
        if total > most:
            return None
    return total + sum(HEADER_TOKENS + count(s.text) for s in run.inputs.supplements)


def allocate_zones(
    run: RequestState, needs: Mapping[str, ZoneDemand]
) -> tuple[Budget, FittedHistory]:
    """The zones for these needs, and the fitted conversation; documents may get what it leaves."""
    zones = resolve_zones(run.budget, run.chat)
    if zones is None:
        return run.budget, fit_conversation(run, run.budget.conversation)
    given = stretch_budget(run.budget, needs, zones)
    try:
        kept = fit_conversation(run, given.conversation)
    except BudgetTooSmall as error:
        given, kept = _press_zones(run, needs, zones, error.needed)
    if kept.wants > given.conversation and kept.shown != run.chat.turns:
        with suppress(BudgetTooSmall):
            given, kept = _press_zones(run, needs, zones, kept.wants)
    granted, most = given.documents or 0, zones.documents.ceiling
    documents = granted + given.conversation - kept.tokens
    documents = documents if most is None else max(granted, min(documents, most))
    return replace(given, conversation=kept.tokens, documents=documents), kept


def _press_zones(
    run: RequestState, needs: Mapping[str, ZoneDemand], zones: FlexibleBudget, must: int
) -> tuple[Budget, FittedHistory]:
    """The zones with so much for the conversation, at the cost of others; and what fits it."""
    wants = needs["conversation"].wants
    must = must if wants is None else min(must, wants)
    pressing = ZoneDemand(wants=wants, must=must)
    given = stretch_budget(run.budget, {**needs, "conversation": pressing}, zones)
    return given, fit_conversation(run, given.conversation)


def fit_conversation(run: RequestState, room: int) -> FittedHistory:
    """The conversation in so much room."""
    chat = run.chat
    fit = HistoryFit(
        turns=chat.turns,
        options=chat.history,
        weigh=_message_counter(run),
        query=run.inputs.query,
        language=run.inputs.language,
        before=chat.before,
        withdrawn=chat.withdrawn,
        summary=chat.standing,
        ledger=chat.ledger,
        live=chat.live,
        memory=run.memory,
    )
    return fit_history(fit, room, chat.summary)


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
