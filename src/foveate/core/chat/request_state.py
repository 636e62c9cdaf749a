"""One request while it is made, and the zones that its parts get (SPEC W1, W2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from foveate.core.assemble import TokenCountCache
from foveate.core.candidates import is_readable
from foveate.core.chat.citation_note import build_citation_note
from foveate.core.chat.history import VERBATIM, FittedHistory, HistoryFit, Summary
from foveate.core.chat.turns import (
    Message,
    Turn,
    TurnCitation,
    check_pairs,
    count_tokens,
    plain_message,
)
from foveate.core.chat.zones import (
    FlexibleBudget,
    ZoneDemand,
    flexible_budget,
    shared_tokens,
    stretch_budget,
)
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.image_fit import with_captions_alone
from foveate.core.request import Inputs
from foveate.core.smallest import MAX_BUDGET
from foveate.core.window import LONG_QUERY
from foveate.core.zones import Budget

HEADER_TOKENS = 96  # tokens; more than stands around a chunk in most formats
NOTE_SHARE, LEAST_NOTE = 8, 32
"""The part of the conversation's zone, and the tokens, that a note of citations is sure of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The conversation's part of a request.

    `zones`: as in `converse`. `capped`: documents never exceed their zone. `slack`: as in
    `CompactOptions`. `carried`: citations of turns that left before. `live`: the markers of the
    documents that go on; None: each request numbers its documents by itself.
    """

    turns: tuple[Turn, ...] = ()
    system: str = ""
    verbatim: int = VERBATIM
    slack: int | None = 0
    zones: FlexibleBudget | bool = True
    capped: bool = False
    summary: Summary | None = None
    carried: tuple[TurnCitation, ...] = ()
    live: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """One request while it is made: what is asked, who counts, and what was worked out already.

    `system`: the system prompt, `query`: the question, as messages. `in_front`: the documents stand
    before the conversation instead of the question.
    """

    inputs: Inputs
    chat: ChatOptions
    tokenizer: Tokenizer
    known: TokenCountCache
    history: HistoryFit
    in_front: bool = False

    @property
    def budget(self) -> Budget:
        """The zones as the caller gave them."""
        return self.inputs.budget

    @property
    def system(self) -> list[Message]:
        """The system prompt as a message, where there is one."""
        return [plain_message("system", self.chat.system)] if self.chat.system else []

    @property
    def query(self) -> Message:
        """The question as a message."""
        return plain_message("user", self.inputs.query)

    def count(self, *messages: Message) -> int:
        """Tokens of messages."""
        return count_tokens(messages, self.budget, self.tokenizer)

    def zones(self) -> FlexibleBudget | None:
        """The zones that are meant for this budget; None where they keep their sizes."""
        chat, budget = self.chat, self.budget
        if chat.zones is False or budget.documents is None:
            return None
        zones = flexible_budget(budget) if chat.zones is True else chat.zones
        if chat.capped:
            zones = replace(zones, documents=replace(zones.documents, ceiling=budget.documents))
        return zones

    def in_budget(self, budget: Budget) -> RequestState:
        """The same request in another budget."""
        return replace(self, inputs=replace(self.inputs, budget=budget))


def request_state(
    inputs: Inputs,
    chat: ChatOptions,
    tokenizer: Tokenizer,
    known: TokenCountCache | None,
    *,
    in_front: bool = False,
) -> RequestState:
    """The request for a query; raises `BadInput`, or `BudgetTooSmall` for what is never cut."""
    history = HistoryFit(
        turns=chat.turns,
        query=inputs.query,
        budget=inputs.budget,
        tokenizer=tokenizer,
        verbatim=chat.verbatim,
        slack=chat.slack,
    )
    check_pairs(history.messages)
    run = RequestState(
        inputs=with_captions_alone(inputs),
        chat=chat,
        tokenizer=tokenizer,
        known={} if known is None else known,
        history=history,
        in_front=in_front,
    )
    _check_lengths(run)
    return run


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


def _check_lengths(run: RequestState) -> None:
    """Refuse a query over its zone, and where zones are fixed a system prompt over its own."""
    budget, zones, count = run.budget, run.zones(), run.tokenizer.count
    query, system = count(run.inputs.query), count(run.chat.system)
    limit = budget.query or None
    if zones is not None and zones.query.ceiling is not None:
        limit = zones.query.ceiling
    if limit is not None and query > limit:
        raise BudgetTooSmall(limit, query, what=LONG_QUERY)
    limit = budget.system or None if zones is None else zones.system.ceiling
    if limit is not None and system > limit:
        raise BudgetTooSmall(limit, system, what="the system prompt")


def allocate_zones(run: RequestState, held: int) -> tuple[Budget, FittedHistory]:
    """The zones, and the fitted conversation; documents may get what it leaves."""
    zones = run.zones()
    if zones is None:
        return run.budget, _fit_history(run, run.budget.conversation)
    needs = _measure_demand(run, held)
    given = stretch_budget(run.budget, needs, zones)
    try:
        kept = _fit_history(run, given.conversation)
    except BudgetTooSmall as error:
        pressing = ZoneDemand(wants=needs["conversation"].wants, must=error.needed)
        given = stretch_budget(run.budget, {**needs, "conversation": pressing}, zones)
        kept = _fit_history(run, given.conversation)
    granted, most = given.documents or 0, zones.documents.ceiling
    taken = min(given.conversation, kept.tokens + _note_demand(run))
    documents = granted + given.conversation - taken
    documents = documents if most is None else max(granted, min(documents, most))
    return replace(given, conversation=taken, documents=documents), kept


def _fit_history(run: RequestState, room: int) -> FittedHistory:
    reserved = min(_note_demand(run), max(room // NOTE_SHARE, LEAST_NOTE))
    try:
        return run.history.fit(room - reserved, run.chat.summary)
    except BudgetTooSmall:
        return run.history.fit(room, run.chat.summary)


def _note_demand(run: RequestState) -> int:
    """Tokens of a note of all that was cited and does not stand in the documents."""
    live = run.chat.live or frozenset()
    cited = [*run.chat.carried, *(entry for turn in run.chat.turns for entry in turn.cited)]
    dead = [entry for entry in cited if entry.marker not in live]
    count = run.tokenizer.count
    return count(build_citation_note(dead, MAX_BUDGET, count, numbered=True).text)


def _measure_demand(run: RequestState, held: int) -> dict[str, ZoneDemand]:
    """What each zone could use; what it cannot do without, as far as that is known already."""
    system = run.count(*run.system)
    query = run.count(run.query) + run.budget.per_reply
    documents = _documents_demand(run)
    return {
        "system": ZoneDemand(wants=system, must=system),
        "query": ZoneDemand(wants=query, must=query),
        "conversation": ZoneDemand(wants=run.history.tokens + _note_demand(run)),
        "documents": ZoneDemand(
            wants=None if documents is None else documents + held,
            must=min(1, len(run.inputs.candidates)),
        ),
    }


def _documents_demand(run: RequestState) -> int | None:
    total, most, count = 0, shared_tokens(run.budget), run.tokenizer.count
    chunks = [candidate.chunk for candidate in run.inputs.candidates]
    for chunk in (*chunks, *run.inputs.neighbours):
        known = run.known.get(chunk.content_hash)
        total += HEADER_TOKENS + (count(chunk.text) if known is None else known)
        if total > most:
            return None
    return total + sum(HEADER_TOKENS + count(s.text) for s in run.inputs.supplements)
