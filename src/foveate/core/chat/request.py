"""The request as a whole (SPEC B1, W2, W3): system prompt, conversation, documents, query.

Conversations and sessions are built by `fit_request`: zones for what each part needs, the history
fitted to its own, documents in what is left, and all of it counted again as it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.chat.citation_note import CitationNote, build_citation_note
from foveate.core.chat.history import FittedHistory
from foveate.core.chat.request_state import (
    ChatOptions,
    RequestState,
    allocate_zones,
    filter_permitted,
    request_state,
)
from foveate.core.chat.turns import Front, Message, put_in_front, role_and_text
from foveate.core.chat.writers import anthropic_messages, openai_messages
from foveate.core.chat.zones import shared_tokens
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.manifest import build_manifest
from foveate.core.request import Inputs
from foveate.core.smallest import MAX_BUDGET, least_sufficient
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Context, Decision, Trace
from foveate.core.window import close_context
from foveate.core.zones import Budget

MAX_ATTEMPTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request that fits: its messages, its documents, and a decision for every turn.

    `budget`: the zones as allocated. `tokens`: of each zone, and of the whole request with framing.
    """

    context: Context
    messages: tuple[Message, ...]
    history: FittedHistory
    budget: Budget
    tokens: Mapping[str, int]
    inputs: Inputs

    @property
    def trace(self) -> Trace:
        """What became of every turn, then of every candidate."""
        return (self.history.trace, *self.context.trace)

    def openai(self) -> list[Any]:
        """The messages for an OpenAI-compatible client."""
        return openai_messages(self.messages)

    def anthropic(self) -> dict[str, Any]:
        """`{"system": …, "messages": […]}` for Anthropic's client."""
        return anthropic_messages(self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """The documents of a request: their context, what it was made of, and their text as sent.

    `live`: the markers that stand in them; None: those of earlier requests meant others.
    """

    context: Context
    inputs: Inputs
    front: Front
    live: frozenset[int] | None = None


T = TypeVar("T")
D = TypeVar("D", bound=Documents)


@holding_profiles
def build_conversation(
    inputs: Inputs, chat: ChatOptions, tokenizer: Tokenizer, known: TokenCountCache | None = None
) -> Conversation:
    """The request for a query in a conversation; it may have no candidates.

    Raises as `assemble` does; `BudgetTooSmall` names a sufficient budget, or a query that is too
    long.
    """
    run = request_state(filter_permitted(inputs), chat, tokenizer, known)

    def build(budget: Budget) -> Conversation:
        return fit_request(run.in_budget(budget), _assemble_documents)[0]

    return build_or_say_what_fits(run, build)


def _assemble_documents(run: RequestState, fitted: FittedHistory, most: int) -> Documents:
    lead = tuple(map(role_and_text, (*run.system, *fitted.messages)))
    budget = run.budget if run.budget.documents is None else replace(run.budget, documents=most)
    inputs = replace(run.inputs, messages=lead, budget=budget)
    if inputs.candidates:
        context = assemble(inputs, run.tokenizer, run.known)
    else:
        context = _empty_context(inputs, run.tokenizer)
    parts = inputs.recipe.format.is_parts
    front = Front((close_context(context.text, parts=parts),), parts)
    return Documents(context=context, inputs=inputs, front=front)


def _empty_context(inputs: Inputs, tokenizer: Tokenizer) -> Context:
    """The context of nothing: no candidates came."""
    return Context(
        text="",
        token_count=0,
        blocks=(),
        citations=(),
        trace=(),
        metrics={},
        manifest=build_manifest(inputs, tokenizer, "", 0),
        budget=inputs.budget,
        query=inputs.query,
    )


def build_or_say_what_fits(run: RequestState, build: Callable[[Budget], T]) -> T:
    """What `build` makes of the budget; where zones lend, its error names the least that does."""
    try:
        return build(run.budget)
    except BudgetTooSmall as error:
        if run.zones() is None:
            raise
        needed = _least_addition(run.budget, build, error)
        raise needed from error


def _least_addition(
    budget: Budget, build: Callable[[Budget], object], error: BudgetTooSmall
) -> BudgetTooSmall:
    """The error with the least addition to the documents that does; as it is if none is found."""

    def lack(more: int) -> int:
        window = None if budget.window is None else budget.window + more
        try:
            build(replace(budget, documents=(budget.documents or 0) + more, window=window))
        except BudgetTooSmall as short:
            return max(short.needed - short.budget, 1)
        return 0

    more = least_sufficient(0, max(error.needed - error.budget, 1), lack)
    if not more:
        return error
    have = budget.window or shared_tokens(budget)
    return BudgetTooSmall(have, have + more, what="the request, its parts together,")


def fit_request(
    run: RequestState, make: Callable[[RequestState, FittedHistory, int], D], held: int = 0
) -> tuple[Conversation, D]:
    """The request with the documents that `make` puts into so many tokens.

    `held`: tokens of documents that were sent before. Raises `BudgetTooSmall`.
    """
    budget, history = allocate_zones(run, held)
    conversation = max(budget.conversation, run.budget.conversation)
    run = run.in_budget(budget)
    over = 0
    for _ in range(MAX_ATTEMPTS):
        most = _documents_limit(run, history) - over
        if most < 1 and run.inputs.candidates:
            break
        documents = make(run, history, most)
        note = _write_note(run, history, documents.live, conversation)
        messages = _arrange(run, history, documents, note)
        excess = _request_tokens(run, messages) - _request_limit(budget)
        if budget.window is None or excess <= 0:
            return _conversation(run, history, documents, note, messages), documents
        over += excess
    have = budget.window or (budget.documents or 0)
    raise BudgetTooSmall(have, have + max(over, 1), what="the request as it is sent")


def _conversation(
    run: RequestState,
    history: FittedHistory,
    documents: Documents,
    note: CitationNote,
    messages: Sequence[Message],
) -> Conversation:
    unsaid = [
        Decision(chunk_id=entry.chunk_id, action="dropped", reason="citation_left_out")
        for entry in note.unsaid
    ]
    trace = replace(history.trace, decisions=(*history.trace.decisions, *unsaid))
    return Conversation(
        context=documents.context,
        messages=tuple(messages),
        history=replace(history, trace=trace),
        budget=run.budget,
        tokens={
            "system": run.count(*run.system),
            "conversation": history.tokens + run.tokenizer.count(note.text),
            "documents": documents.context.token_count,
            "query": run.count(run.query) + run.budget.per_reply,
            "request": _request_tokens(run, messages),
        },
        inputs=documents.inputs,
    )


def _request_tokens(run: RequestState, messages: Sequence[Message]) -> int:
    """Tokens of a whole request."""
    return run.count(*messages) + run.budget.per_reply


def _request_limit(budget: Budget) -> int:
    """What a request may take of the window."""
    return (budget.window or MAX_BUDGET) - budget.generation - budget.buffer


def _documents_limit(run: RequestState, history: FittedHistory) -> int:
    """What the documents may take of their zone, and of the window beside all others."""
    budget = run.budget
    zone = MAX_BUDGET if budget.documents is None else budget.documents
    fixed = _request_tokens(run, [*run.system, *history.messages, run.query])
    return min(zone, _request_limit(budget) - fixed)


def _write_note(
    run: RequestState, history: FittedHistory, live: frozenset[int] | None, zone: int
) -> CitationNote:
    """What was cited and neither stands in the documents nor in a turn that is sent.

    It has what the turns leave of the conversation's zone, as it came or as it was stretched.
    """
    gone = [*run.chat.carried, *history.gone]
    if live is not None:
        shown = (entry for turn in history.turns for entry in turn.cited)
        gone = [entry for entry in (*gone, *shown) if entry.marker not in live]
    room = zone - history.tokens - run.budget.per_message
    return build_citation_note(gone, room, run.tokenizer.count, numbered=live is not None)


def _arrange(
    run: RequestState, history: FittedHistory, documents: Documents, note: CitationNote
) -> list[Message]:
    said = [Front((note.text,))] if note.text else []
    found = [documents.front] if documents.context.text else []
    if run.in_front:
        return [
            *run.system,
            *put_in_front([*history.messages, run.query], [*found, *said]),
        ]
    query = replace(run.query, front=tuple(found))
    return [*run.system, *put_in_front([*history.messages, query], said)]
