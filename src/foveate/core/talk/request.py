"""The request as a whole (SPEC B1, W2, W3): system prompt, conversation, documents, query.

Needs are measured, zones share the window, the conversation is fitted to its zone, the documents
are assembled into theirs, and what came of it is measured again as it will be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from foveate.core.assemble import Known, assemble
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.manifest import manifest_of
from foveate.core.smallest import LARGEST
from foveate.core.talk.anthropic import anthropic_messages
from foveate.core.talk.elastic import Need, shared
from foveate.core.talk.history import Kept
from foveate.core.talk.needs import (
    Run,
    Talk,
    measured,
    permitted,
    prompt,
    refuse_long,
    shares,
    zones_of,
)
from foveate.core.talk.openai import openai_messages
from foveate.core.talk.turns import Message, merged, spoken
from foveate.core.types import Context, Inputs, Stages, Trace
from foveate.core.window import count_messages
from foveate.core.zones import Budget

TRIES = 8
NEAR = 16  # tokens; documents that took this much less than they may will not take more
PARTS = ("anthropic-document", "anthropic-search-result", "openai-parts")
"""Formats whose text is a JSON list of content parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request that fits: its messages, its documents, and what became of every turn.

    `budget`: the zones as they were given out. `tokens`: of system, conversation, documents and
    query, and of the whole request with its framing. `inputs`: what a bundle is made of.
    """

    context: Context
    messages: tuple[Message, ...]
    history: Kept
    budget: Budget
    tokens: Mapping[str, int]
    inputs: Inputs

    @property
    def trace(self) -> Trace:
        """What became of every turn, then of every candidate."""
        return Stages((self.history.trace, *self.context.trace))

    def openai(self) -> list[dict[str, object]]:
        """The messages for an OpenAI-compatible client."""
        return openai_messages(self.messages)

    def anthropic(self) -> dict[str, object]:
        """`{"system": …, "messages": […]}` for Anthropic's client."""
        return anthropic_messages(self.messages)


def conversation(
    inputs: Inputs, talk: Talk, tokenizer: Tokenizer, known: Known | None = None
) -> Conversation:
    """The request for a query in a conversation.

    No candidates is no error here: a conversation goes on where nothing was found. Raises as
    `assemble` does; `BudgetTooSmall` says what would do, and for the query, which is never cut,
    that it is too long for its zone.
    """
    counts: Known = {} if known is None else known
    run = Run(inputs=permitted(inputs), talk=talk, tokenizer=tokenizer, known=counts)
    refuse_long(run)
    try:
        return _settled(run)
    except BudgetTooSmall as error:
        if zones_of(run.budget, talk) is None:
            raise
        guess = error.needed - error.budget
        raise too_small(run.budget, guess, lambda more: _works(run, more), error) from error


def _works(run: Run, more: int) -> bool:
    """Whether so many tokens more would do."""
    budget = run.budget
    window = None if budget.window is None else budget.window + more
    larger = replace(budget, documents=(budget.documents or 0) + more, window=window)
    try:
        _settled(replace(run, inputs=replace(run.inputs, budget=larger)))
    except BudgetTooSmall:
        return False
    return True


def too_small(
    budget: Budget, guess: int, works: Callable[[int], bool], error: BudgetTooSmall
) -> BudgetTooSmall:
    """The least more that would do, found by trying: `guess`, one less, and then by halving.

    Where no more of it helps, `error` says what does.
    """
    low, high = 0, max(guess, 1)
    while high < LARGEST and not works(high):
        low, high = high, 2 * high
    if high >= LARGEST:
        return error
    middle = high - 1
    while high - low > 1:
        low, high = (low, middle) if works(middle) else (middle, high)
        middle = (low + high) // 2
    have, what = shared(budget), "the request (system prompt, conversation, documents, query)"
    if budget.window is not None and budget.total >= budget.window:
        have, what = budget.window, f"{what}, with zones that fill the window,"
    return BudgetTooSmall(have, have + high, what=what)


def _settled(run: Run) -> Conversation:
    """Share, fit, assemble; then give the conversation what the documents left, if it wants it."""
    needs = measured(run)
    try:
        first = _made(run, needs)
    except BudgetTooSmall:  # documents may need more than was estimated
        if needs["documents"].wants is None or zones_of(run.budget, run.talk) is None:
            raise
        needs = {**needs, "documents": Need(must=needs["documents"].must)}
        first = _made(run, needs)
    took, short = first.context.token_count, first.history.shown != run.talk.turns
    if (
        zones_of(run.budget, run.talk) is None
        or not short
        or took + NEAR >= (first.budget.documents or 0)
    ):
        return first
    fewer = {**needs, "documents": Need(wants=took + NEAR, must=needs["documents"].must)}
    try:
        second = _made(run, fewer)
    except BudgetTooSmall:
        return first
    return second if second.context.text == first.context.text else first


def _made(run: Run, needs: Mapping[str, Need]) -> Conversation:
    """One attempt at these needs; the documents give way where the whole comes out too large."""
    budget, kept = shares(run, needs)
    lead = [*prompt(run.talk.system), *kept.messages]
    said = tuple(map(spoken, lead))
    over = 0
    for _ in range(TRIES):
        documents = budget.documents
        if over and documents is not None:
            if documents - over < 1:
                break
            budget = replace(budget, documents=documents - over)
        made = replace(run.inputs, messages=said, budget=budget)
        context = _documents(made, run)
        query = Message(role="user", text=made.query)
        messages = (*lead, *in_front(context.text, made), query)
        whole = count_messages(map(spoken, merged(messages)), budget, run.tokenizer)
        over = 0 if budget.window is None else whole - limit_of(budget)
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


def limit_of(budget: Budget) -> int:
    """What a request may take of the window."""
    return (budget.window or LARGEST) - budget.generation - budget.buffer


def _documents(inputs: Inputs, run: Run) -> Context:
    if not inputs.candidates:
        return empty(inputs, run.tokenizer)
    return assemble(inputs, run.tokenizer, run.known)


def in_front(text: str, inputs: Inputs) -> list[Message]:
    """The documents, to stand in front of the query."""
    parts = getattr(inputs.recipe.format, "name", "") in PARTS
    return [Message(role="user", text=text, joined=True, parts=parts)] if text else []


def empty(inputs: Inputs, tokenizer: Tokenizer) -> Context:
    """The context of nothing: no candidates came."""
    return Context(
        text="",
        token_count=0,
        blocks=(),
        citations=(),
        trace=(),
        metrics={},
        manifest=manifest_of(inputs, tokenizer, "", 0),
        budget=inputs.budget,
        query=inputs.query,
    )
