"""One turn of a session (SPEC W4): what was sent stays in front, what is new comes behind it.

The document block stands before the conversation, at the same place in every turn, so that a
provider's cache of prefixes holds it. It is written anew only where something must leave, where
the window has no room for the best new evidence, or where that is cheaper. Then what was cited
and what was found again stays, under its old numbers, and no number is ever given twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from foveate.core.assemble import Known
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.core.manifest import spelling
from foveate.core.talk.anthropic import anthropic_messages, marked
from foveate.core.talk.block import State, Terms, documents, segments_of
from foveate.core.talk.draft import Summary
from foveate.core.talk.elastic import Need
from foveate.core.talk.grow import Grown, rendered
from foveate.core.talk.history import Kept
from foveate.core.talk.needs import Run, measured, permitted, prompt, refuse_long, shares
from foveate.core.talk.request import Conversation, limit_of, too_small
from foveate.core.talk.seal import context_of, next_session, pieces_of, reuse_of
from foveate.core.talk.session import Reuse, Session
from foveate.core.talk.turns import SYSTEM, Message, merged, spoken, weight
from foveate.core.talk.withdraw import withdrawn
from foveate.core.types import Context, Inputs
from foveate.core.window import SLACK, count_messages
from foveate.core.zones import Budget

TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request of one turn, and the session to go on with."""

    conversation: Conversation
    session: Session

    @property
    def context(self) -> Context:
        """The document block: what was sent before, and what is new."""
        return self.conversation.context

    @property
    def reuse(self) -> Reuse:
        """What of this request the provider has read before."""
        return self.session.reuse

    def openai(self) -> list[dict[str, object]]:
        """The messages for an OpenAI-compatible client, whose cache needs no marks."""
        return self.conversation.openai()

    def anthropic(self) -> dict[str, Any]:
        """The request for Anthropic's client, with cache breakpoints: at most four.

        Behind the system prompt, the documents, the conversation so far, and the question.
        """
        request = anthropic_messages(self.conversation.messages)
        places = [(-1, len(request["system"]) - 1)] if "system" in request else []
        said = request["messages"]
        segments = len(self.session.segments)
        if segments and not isinstance(said[0]["content"], str):
            places.append((0, segments - 1))
        places += [(n, _last(said[n])) for n in (len(said) - 3, len(said) - 1) if n >= 0]
        return marked(request, places)


def _last(message: Mapping[str, Any]) -> int:
    content = message["content"]
    return 0 if isinstance(content, str) else len(content) - 1


def proceed(
    session: Session,
    inputs: Inputs,
    terms: Terms,
    tokenizer: Tokenizer,
    known: Known | None = None,
    *,
    current: Mapping[str, str] | None = None,
    summary: Summary | None = None,
) -> Asked:
    """The next request of a session; raises as `conversation` does.

    `current`: chunk id → content hash of what was sent and may be read now; None: nobody looked.
    `summary`: a model's, of the session's older turns; why there is none, where it failed.
    """
    recipe = spelling(inputs.recipe).hash
    for name, mine, theirs in (
        ("recipe", recipe, session.recipe),
        ("tokenizer", tokenizer.fingerprint, session.tokenizer),
    ):
        if theirs and mine != theirs:
            raise BadInput(f"goes on with another {name}; begin a new session", field="session")
    if inputs.budget.documents is None or inputs.budget.characters is not None:
        raise BadOption("session: give the documents' budget in tokens, and no characters")
    inputs = permitted(inputs)
    left = withdrawn(session, inputs, current)
    counts: Known = {} if known is None else known
    state = State(session, left, inputs, terms, tokenizer, counts, summary)
    run = state.run(inputs.budget)
    refuse_long(run)
    try:
        return _asked(state, inputs.budget)
    except BudgetTooSmall as error:
        guess = error.needed - error.budget
        raise too_small(inputs.budget, guess, lambda more: _works(state, more), error) from error


def _works(state: State, more: int) -> bool:
    budget = state.inputs.budget
    window = None if budget.window is None else budget.window + more
    try:
        _asked(state, replace(budget, documents=(budget.documents or 0) + more, window=window))
    except BudgetTooSmall:
        return False
    return True


def _asked(state: State, budget: Budget) -> Asked:
    """The turn; made again where documents go that the conversation counted on: it says them."""
    going: frozenset[int] = frozenset()
    while True:
        run = state.run(budget, going)
        room, kept, grown, messages = _made(state, run)
        if not (lost := state.lost(run, grown)):
            return _sealed(state, room, kept, grown, messages)
        going |= lost


def _made(state: State, run: Run) -> tuple[Budget, Kept, Grown, tuple[Message, ...]]:
    """Zones, history, documents; in a window that is all but full, to its last token."""
    needs = measured(run)
    held = state.tokenizer.count(rendered(state.left.held, state.inputs.recipe))
    room, kept = _shares(run, needs, held)
    try:
        return (room, kept, *_fitted(state, run, room, kept, SLACK))
    except BudgetTooSmall:
        return (room, kept, *_fitted(state, run, room, kept, 0))


def _fitted(
    state: State, run: Run, room: Budget, kept: Kept, slack: int
) -> tuple[Grown, tuple[Message, ...]]:
    """The documents in their room; measured again as it is sent."""
    over = 0
    for _ in range(TRIES):
        most = _room(room, run, kept, slack) - over
        grown = documents(state, run, most, kept.tokens)
        messages = _messages(state, kept, grown)
        whole = count_messages(map(spoken, merged(messages)), room, state.tokenizer)
        excess = 0 if room.window is None else whole - limit_of(room)
        if excess <= 0:
            return grown, messages
        over += excess
    have = room.window or 0
    raise BudgetTooSmall(have, have + over, what="the request as it is sent")


def _shares(run: Run, needs: Mapping[str, Need], held: int) -> tuple[Budget, Kept]:
    """The zones; the documents keep what they have where the rest leaves it to them."""
    documents = needs["documents"]
    wants = None if documents.wants is None else documents.wants + held
    staying = Need(wants=wants, must=max(held, documents.must))
    try:
        return shares(run, {**needs, "documents": staying})
    except BudgetTooSmall:
        return shares(run, {**needs, "documents": Need(wants=wants, must=documents.must)})


def _room(budget: Budget, run: Run, kept: Kept, slack: int) -> int:
    """What the documents may take, of their zone and of the window but for so many tokens."""
    zone = budget.documents if budget.documents is not None else limit_of(budget)
    if budget.window is None:
        return zone
    lead = [*prompt(run.talk.system), *kept.messages, Message(role="user", text=run.inputs.query)]
    fixed = count_messages(map(spoken, merged(lead)), budget, run.tokenizer)
    return min(zone, limit_of(budget) - fixed - slack)


def _messages(state: State, kept: Kept, grown: Grown) -> tuple[Message, ...]:
    """System prompt, documents, conversation, query."""
    lead = [m for m in kept.messages if m.role in SYSTEM]
    rest = [m for m in kept.messages if m.role not in SYSTEM]
    documents = []
    if grown.text:
        segments = segments_of(state, grown)
        documents = [Message(role="user", text=grown.text, joined=True, segments=segments)]
    query = Message(role="user", text=state.inputs.query)
    return (*prompt(state.terms.system), *lead, *documents, *rest, query)


def _sealed(
    state: State,
    budget: Budget,
    kept: Kept,
    grown: Grown,
    messages: tuple[Message, ...],
) -> Asked:
    """The context, the figures, and the session to go on with."""
    said = tuple(map(spoken, merged(messages)))
    inputs = replace(state.inputs, budget=budget, messages=said[:-1])
    context = context_of(state, inputs, grown)
    pieces = pieces_of(messages, budget, state.tokenizer)
    reuse = reuse_of(state, grown, pieces)
    session = next_session(state, kept, grown, pieces, reuse)
    tokens = {
        "system": weight(prompt(state.terms.system), budget, state.tokenizer),
        "conversation": kept.tokens,
        "documents": grown.tokens,
        "query": count_messages(said[-1:], budget, state.tokenizer),
        "request": count_messages(said, budget, state.tokenizer),
    }
    conversation = Conversation(
        context=context,
        messages=messages,
        history=kept,
        budget=budget,
        tokens=tokens,
        inputs=inputs,
    )
    return Asked(conversation=conversation, session=session)
