"""The way in for sessions: `proceed`, turn by turn, with what was sent before in front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from foveate.core.chat.history import VERBATIM
from foveate.core.chat.next_turn import TurnRequest, next_turn
from foveate.core.chat.request_state import filter_permitted
from foveate.core.chat.session import (
    Reuse,
    Session,
    SessionPolicy,
    TokenPrices,
    revoke,
    session_from_json,
    session_to_json,
)
from foveate.core.chat.turns import asked_before
from foveate.core.chat.zones import FlexibleBudget
from foveate.core.errors import BadOption
from foveate.core.request import Inputs
from foveate.core.typed import check_arguments
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.conversation import chat_inputs, check_verbatim, resolve_chat_options
from foveate.pipeline.history_summary import Summariser, summarise
from foveate.pipeline.options import AssembleKeywords
from foveate.pipeline.steps import Call, Flow, arun, run
from foveate.ports import SearchResult
from foveate.providers.tokenizers.counts import counts_for

__all__ = [
    "Reuse",
    "Session",
    "SessionPolicy",
    "TokenPrices",
    "TurnRequest",
    "aproceed",
    "proceed",
    "session_from_json",
    "session_to_json",
]


class ProceedKeywords(AssembleKeywords, total=False):
    """The options of a session's turn, beside those of an assembly."""

    store: Assembler | None
    verbatim: int
    summariser: Summariser | None
    zones: FlexibleBudget | bool
    prices: TokenPrices | None
    current: Mapping[str, str] | None
    state_root: str


def proceed(
    session: Session, query: str, candidates: Any = (), **keywords: Unpack[ProceedKeywords]
) -> TurnRequest:
    """The next request of a session, and the session to go on with.

    `candidates`: what a retriever found for this question. Or `store`: an assembler whose store is
    searched, and asked what of the evidence sent before may still be read. Without a store,
    `current` says the same: chunk id to content hash; `state_root` names the state that was
    searched: if it is another one and `current` is not given, only what was found again stays.
    `summariser`: a model for older turns, asked if they do not fit; its summary stays until more of
    them have to go. `verbatim`, `zones` and the others are those of `converse`; the recipe is
    `agent-session` unless another is named. `prices`: what cached and sent tokens cost, which
    decides when to repack.

    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> first = proceed(Session(), "Who wrote it?", found, budget=400)
    >>> second = proceed(first.session.with_answer("Ada [1]."), "When?", found, budget=400)
    >>> second.context.text == first.context.text, second.reuse.documents_sent
    (True, 0)
    """
    return run(_proceed(session, query, candidates, **keywords))


async def aproceed(
    session: Session, query: str, candidates: Any = (), **keywords: Unpack[ProceedKeywords]
) -> TurnRequest:
    """`proceed` without blocking the event loop."""
    return await arun(_proceed(session, query, candidates, **keywords))


@check_arguments("query")
def _proceed(
    session: Session,
    query: str,
    candidates: Any,
    *,
    store: Assembler | None = None,
    verbatim: int = VERBATIM,
    summariser: Summariser | None = None,
    zones: FlexibleBudget | bool = True,
    prices: TokenPrices | None = None,
    current: Mapping[str, str] | None = None,
    state_root: str = "",
    **keywords: Unpack[AssembleKeywords],
) -> Flow[TurnRequest]:
    resolved = resolve_chat_options("agent-session", query, keywords)
    terms = SessionPolicy(
        system=resolved.system,
        verbatim=check_verbatim(verbatim),
        zones=zones,
        capped=zones is True and isinstance(resolved.options.budget, int),
        prices=prices or TokenPrices(),
    )
    inputs = chat_inputs(query, candidates, resolved)
    inputs = replace(inputs, state_root=state_root)
    if store is not None:
        inputs, current = yield from _searched(store, session, inputs, resolved.options.where)
    tokenizer = resolved.tokenizer
    known = counts_for(tokenizer.fingerprint)
    made = next_turn(session, inputs, terms, tokenizer, known, current=current)
    if summariser is None or not made.conversation.history.changed:
        return made
    left = revoke(session, filter_permitted(inputs), current)
    summary = yield Call(
        "summarise", lambda: summarise(left.turns, verbatim, inputs, summariser, tokenizer)
    )
    return next_turn(session, inputs, terms, tokenizer, known, current=current, summary=summary)


def _searched(
    store: Assembler, session: Session, inputs: Inputs, where: Mapping[str, Any] | None
) -> Flow[tuple[Inputs, Mapping[str, str] | None]]:
    """What the store finds; and where its state is another one, what is left of what was sent."""
    keywords: AssembleKeywords = {
        "principals": inputs.principals,
        "where": where,
        "messages": list(asked_before(session.turns)),
    }
    found: SearchResult = yield Call(
        "search",
        lambda: store.search(inputs.query, **keywords),
        acall=lambda: store.asearch(inputs.query, **keywords),
    )
    inputs = replace(inputs, candidates=found.candidates, state_root=found.state_root)
    same = found.state_root == session.state_root
    if same and set(session.principals) == set(inputs.principals):
        return inputs, None
    places = sorted({(sent.document_id, sent.sequence) for sent in session.sent_chunks()})
    if not places:
        return inputs, {}
    port = store.store
    if port is None:
        raise BadOption("store: this assembler has no store; make it with store=")
    left = yield Call(
        "neighbours", lambda: port.neighbours(places, 0, principals=inputs.principals)
    )
    return inputs, {chunk.id: chunk.content_hash for chunk in left}
