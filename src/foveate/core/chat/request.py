"""The request as a whole (SPEC B1, W2, W3): system prompt, conversation, documents, query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.chat.anthropic import anthropic_messages
from foveate.core.chat.history import FittedHistory
from foveate.core.chat.openai import openai_messages
from foveate.core.chat.turns import Message, merge_joined, role_and_text
from foveate.core.chat.zone_demand import (
    ChatOptions,
    RequestState,
    ZoneDemand,
    allocate_zones,
    check_lengths,
    filter_permitted,
    measure_demand,
    resolve_zones,
    shared_tokens,
    system_messages,
)
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.image_fit import with_captions_alone
from foveate.core.manifest import build_manifest
from foveate.core.request import Inputs
from foveate.core.smallest import MAX_BUDGET
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Context, Trace
from foveate.core.window import close_context, count_messages
from foveate.core.zones import Budget

MAX_ATTEMPTS = 8
NEAR_TOKENS = 16  # tokens; documents that took this much less than they may will not take more
"""Formats whose text is a JSON list of content parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request that fits: its messages, its documents, and the disposition of every turn.

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


@holding_profiles
def build_conversation(
    inputs: Inputs, chat: ChatOptions, tokenizer: Tokenizer, known: TokenCountCache | None = None
) -> Conversation:
    """The request for a query in a conversation; it may have no candidates.

    Raises as `assemble` does; `BudgetTooSmall` names a sufficient budget, or a query that is too
    long.
    """
    counts: TokenCountCache = {} if known is None else known
    run = RequestState(
        inputs=with_captions_alone(filter_permitted(inputs)),
        chat=chat,
        tokenizer=tokenizer,
        known=counts,
    )
    check_lengths(run)
    try:
        return _balance_zones(run)
    except BudgetTooSmall as error:
        if resolve_zones(run.budget, chat) is None:
            raise

        def build(budget: Budget) -> Conversation:
            return _balance_zones(replace(run, inputs=replace(run.inputs, budget=budget)))

        raise request_too_small_error(run.budget, build, error) from error


def request_too_small_error(
    budget: Budget, build: Callable[[Budget], object], error: BudgetTooSmall
) -> BudgetTooSmall:
    """The error that names the least addition to the budget with which `build` succeeds.

    What `error` lacks is tried, one less, then halves; `error` itself if no addition is enough.
    """

    def works(more: int) -> bool:
        window = None if budget.window is None else budget.window + more
        try:
            build(replace(budget, documents=(budget.documents or 0) + more, window=window))
        except BudgetTooSmall:
            return False
        return True

    low, high = 0, max(error.needed - error.budget, 1)
    while high < MAX_BUDGET and not works(high):
        low, high = high, 2 * high
    if high >= MAX_BUDGET:
        return error
    middle = high - 1
    while high - low > 1:
        low, high = (low, middle) if works(middle) else (middle, high)
        middle = (low + high) // 2
    have, what = (
        shared_tokens(budget),
        "the request (system prompt, conversation, documents, query)",
    )
    if budget.window is not None and budget.total >= budget.window:
        have, what = budget.window, f"{what}, with zones that fill the window,"
    return BudgetTooSmall(have, have + high, what=what)


def _balance_zones(run: RequestState) -> Conversation:
    needs = measure_demand(run)
    try:
        first = _attempt_request(run, needs)
    except BudgetTooSmall:  # documents may need more than was estimated
        if needs["documents"].wants is None or resolve_zones(run.budget, run.chat) is None:
            raise
        needs = {**needs, "documents": ZoneDemand(must=needs["documents"].must)}
        first = _attempt_request(run, needs)
    took, short = first.context.token_count, first.history.shown != run.chat.turns
    if (
        resolve_zones(run.budget, run.chat) is None
        or not short
        or took + NEAR_TOKENS >= (first.budget.documents or 0)
    ):
        return first
    fewer = {
        **needs,
        "documents": ZoneDemand(wants=took + NEAR_TOKENS, must=needs["documents"].must),
    }
    try:
        second = _attempt_request(run, fewer)
    except BudgetTooSmall:
        return first
    return second if second.context.text == first.context.text else first


def _attempt_request(run: RequestState, needs: Mapping[str, ZoneDemand]) -> Conversation:
    budget, kept = allocate_zones(run, needs)
    lead = [*system_messages(run.chat.system), *kept.messages]
    said = tuple(map(role_and_text, lead))
    over = 0
    for _ in range(MAX_ATTEMPTS):
        documents = budget.documents
        if over and documents is not None:
            if documents - over < 1:
                break
            budget = replace(budget, documents=documents - over)
        made = replace(run.inputs, messages=said, budget=budget)
        context = _assemble_documents(made, run)
        query = Message(role="user", text=made.query)
        messages = (*lead, *document_messages(context.text, made), query)
        whole = count_messages(map(role_and_text, merge_joined(messages)), budget, run.tokenizer)
        over = 0 if budget.window is None else whole - request_limit(budget)
        if over <= 0:
            tokens = {
                "system": needs["system"].must,
                "conversation": kept.tokens,
                "documents": context.token_count,
                "query": needs["query"].must,
                "request": whole,
            }
            return Conversation(
                context=context,
                messages=messages,
                history=kept,
                budget=budget,
                tokens=tokens,
                inputs=made,
            )
    have = budget.window or 0
    raise BudgetTooSmall(have, have + over, what="the request as it is sent")


def request_limit(budget: Budget) -> int:
    """What a request may take of the window."""
    return (budget.window or MAX_BUDGET) - budget.generation - budget.buffer


def _assemble_documents(inputs: Inputs, run: RequestState) -> Context:
    if not inputs.candidates:
        return empty_context(inputs, run.tokenizer)
    return assemble(inputs, run.tokenizer, run.known)


def document_messages(text: str, inputs: Inputs) -> list[Message]:
    """The documents and their end, to stand in front of the query."""
    parts = inputs.recipe.format.is_parts
    if not text:
        return []
    closed = close_context(text, parts=parts)
    return [Message(role="user", text=closed, joined=True, parts=parts)]


def empty_context(inputs: Inputs, tokenizer: Tokenizer) -> Context:
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
