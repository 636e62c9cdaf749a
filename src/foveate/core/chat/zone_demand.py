"""What a request needs of the window, and how its zones are given out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from foveate.core.assemble import TokenCountCache
from foveate.core.candidates import is_readable
from foveate.core.chat.flexible_budget import (
    FlexibleBudget,
    ZoneDemand,
    flexible_budget,
    shared_tokens,
    stretch_budget,
)
from foveate.core.chat.history import FittedHistory, History, fit_history
from foveate.core.chat.history_fit import HistoryFit, MessageCounter, Summary, TurnCache
from foveate.core.chat.turns import Message, Turn, count_message_tokens
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.request import Inputs
from foveate.core.window import count_messages
from foveate.core.zones import Budget

HEADER_TOKENS = 96  # tokens; more than stands around a chunk in most formats


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What a conversation brings to a request.

    `zones`: how they stretch; True: as `elastic` says; False: each keeps its size. `capped`: the
    documents never get more than their zone. `before`, `standing`, `withdrawn` and `live` are for
    sessions, and are those of `fit_history`.
    """

    turns: tuple[Turn, ...] = ()
    system: str = ""
    history: History = field(default_factory=History)
    zones: FlexibleBudget | bool = True
    capped: bool = False
    summary: Summary | None = None
    standing: Summary | None = None
    before: tuple[Turn | None, ...] = ()
    withdrawn: frozenset[int] = frozenset()
    live: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """One request while it is made: what is asked, who counts, and what was worked out already."""

    inputs: Inputs
    talk: ChatOptions
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


def resolve_zones(budget: Budget, talk: ChatOptions) -> FlexibleBudget | None:
    """The zones that are meant for this budget; None where they keep their sizes."""
    if talk.zones is False or budget.documents is None:
        return None
    zones = flexible_budget(budget) if talk.zones is True else talk.zones
    if talk.capped:
        zones = replace(zones, documents=replace(zones.documents, ceiling=budget.documents))
    return zones


def check_lengths(run: RequestState) -> None:
    """Refuse a query over its zone, and where zones are fixed a system prompt over its own."""
    budget, zones, count = run.budget, resolve_zones(run.budget, run.talk), run.tokenizer.count
    query, system = count(run.inputs.query), count(run.talk.system)
    limit = budget.query or None
    if zones is not None and zones.query.ceiling is not None:
        limit = zones.query.ceiling
    if limit is not None and query > limit:
        what = "the query, which is never cut (ask a shorter one),"
        raise BudgetTooSmall(limit, query, what=what)
    limit = budget.system or None if zones is None else zones.system.ceiling
    if limit is not None and system > limit:
        raise BudgetTooSmall(limit, system, what="the system prompt")


def system_messages(system: str) -> list[Message]:
    """The system prompt as a message, where there is one."""
    return [Message(role="system", text=system)] if system else []


def measure_demand(run: RequestState) -> dict[str, ZoneDemand]:
    """What each zone could use; what it cannot do without, as far as that is known already."""
    budget, tokenizer = run.budget, run.tokenizer
    system = count_message_tokens(system_messages(run.talk.system), budget, tokenizer)
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
    """Tokens of all turns in full, and of what must be said of what they cited."""
    talk = run.talk
    draft = HistoryFit(
        turns=talk.turns,
        recent=0,
        weigh=_message_counter(run),
        query=run.inputs.query,
        language=run.inputs.language,
        live=talk.live,
        memory=run.memory,
    )
    draft.revoke(talk.withdrawn)
    return draft.total()


def _message_counter(run: RequestState) -> MessageCounter:
    budget, tokenizer = run.budget, run.tokenizer
    return lambda messages: count_message_tokens(messages, budget, tokenizer)


def _documents_demand(run: RequestState) -> int | None:
    """About the tokens of everything that could be shown; None where it is more than there is."""
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
    """The zones for these needs, and the conversation in its own.

    What the conversation leaves of its zone goes to the documents, as far as they may have it.
    """
    zones = resolve_zones(run.budget, run.talk)
    if zones is None:
        return run.budget, fit_conversation(run, run.budget.conversation)
    given = stretch_budget(run.budget, needs, zones)
    try:
        kept = fit_conversation(run, given.conversation)
    except BudgetTooSmall as error:
        pressing = ZoneDemand(wants=needs["conversation"].wants, must=error.needed)
        given = stretch_budget(run.budget, {**needs, "conversation": pressing}, zones)
        kept = fit_conversation(run, given.conversation)
    granted, most = given.documents or 0, zones.documents.ceiling
    documents = granted + given.conversation - kept.tokens
    documents = documents if most is None else max(granted, min(documents, most))
    return replace(given, conversation=kept.tokens, documents=documents), kept


def fit_conversation(run: RequestState, room: int) -> FittedHistory:
    """The conversation in so much room."""
    talk = run.talk
    return fit_history(
        talk.turns,
        room,
        talk.history,
        weigh=_message_counter(run),
        query=run.inputs.query,
        language=run.inputs.language,
        before=talk.before,
        withdrawn=talk.withdrawn,
        summary=talk.summary,
        standing=talk.standing,
        live=talk.live,
        memory=run.memory,
    )
