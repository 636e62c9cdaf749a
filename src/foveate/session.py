"""The way in for sessions: `proceed`, turn by turn, with what was sent before in front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from foveate.adapters.tokenizers.counts import counts_for
from foveate.assembler import Assembler, reader
from foveate.candidates import candidates_of
from foveate.core import zones as fixed
from foveate.core.contracts import Tokenizer
from foveate.core.talk.block import Terms
from foveate.core.talk.elastic import Elastic
from foveate.core.talk.history import History
from foveate.core.talk.needs import permitted
from foveate.core.talk.proceed import Asked
from foveate.core.talk.proceed import proceed as proceed_purely
from foveate.core.talk.session import Pace, Prices, Reuse, Session
from foveate.core.talk.session_json import session_from_json, session_to_json
from foveate.core.talk.withdraw import withdrawn
from foveate.core.types import Inputs, Recipe
from foveate.dialogue import divided
from foveate.plan import plan
from foveate.ports import Found
from foveate.prepare import Call, Flow
from foveate.summary import Summariser, summarise
from foveate.ways import awaited, blocking

__all__ = [
    "Asked",
    "History",
    "Pace",
    "Prices",
    "Reuse",
    "Session",
    "Summariser",
    "Terms",
    "aproceed",
    "proceed",
    "session_from_json",
    "session_to_json",
]


def _proceeding(
    session: Session,
    query: str,
    candidates: Any = (),
    *,
    store: Assembler | None = None,
    where: Mapping[str, Any] | None = None,
    system: str = "",
    history: History | None = None,
    summariser: Summariser | None = None,
    zones: Elastic | bool = True,
    pace: Pace | None = None,
    prices: Prices | None = None,
    budget: int | fixed.Budget | None = None,
    recipe: str | Recipe = "agent-session",
    tokenizer: str | Tokenizer | None = None,
    model: str | None = None,
    principals: Iterable[str] = (),
    current: Mapping[str, str] | None = None,
    state_root: str = "",
    instant: datetime | None = None,
    language: str = "en",
) -> Flow[Asked]:
    """The next request of a session, and the session to go on with.

    `candidates`: what a retriever found for this question; or `store`, which is searched, and
    asked what of the evidence that was sent may still be read (`where` as for `Assembler.search`).
    Without a store, `current` says the same: chunk id → content hash; and `state_root` names the
    state that was searched: where it is another one and `current` is not given, only what was
    found again stays. `summariser`: a model for older turns, asked where they do not fit; what it
    says stays until more of them have to go. The rest is as for `converse`.

    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> first = proceed(Session(), "Who wrote it?", found, budget=400)
    >>> second = proceed(first.session.answered("Ada [1]."), "When?", found, budget=400)
    >>> second.context.text == first.context.text, second.reuse.documents_sent
    (True, 0)
    """
    settled = plan(recipe=recipe, budget=budget, tokenizer=tokenizer, model=model, query=query)
    terms = Terms(
        system=system,
        history=history or History(slack=25),
        zones=zones,
        capped=zones is True and isinstance(budget, int),
        pace=pace or Pace(),
        prices=prices or Prices(),
    )
    inputs = Inputs(
        query=query,
        candidates=candidates_of(candidates),
        recipe=settled.recipe,
        budget=divided(settled, open_=model is not None and budget is None),
        principals=reader(principals),
        state_root=state_root,
        instant=instant,
        language=language,
    )
    if store is not None:
        inputs, current = yield from _searched(store, session, inputs, where)
    known = counts_for(settled.tokenizer.fingerprint)
    made = proceed_purely(session, inputs, terms, settled.tokenizer, known, current=current)
    if summariser is None or not _newly_short(session, made):
        return made
    gone = withdrawn(session, permitted(inputs), current).turns
    summary = yield Call(
        "summarise",
        lambda: summarise(
            session.turns,
            terms.history.verbatim,
            summariser,
            settled.tokenizer,
            query,
            withdrawn=gone,
        ),
    )
    return proceed_purely(
        session, inputs, terms, settled.tokenizer, known, current=current, summary=summary
    )


proceed = blocking("proceed", _proceeding)
aproceed = awaited("aproceed", _proceeding)


def _newly_short(session: Session, made: Asked) -> bool:
    """Whether turns are shown shorter than they were, or not any more, for want of room."""
    decisions = made.conversation.history.trace.decisions
    shown = made.conversation.history.shown
    return any(
        decision.reason in ("turn_shortened", "turn_left_out") and now != before
        for decision, now, before in zip(decisions, shown, session.shown, strict=False)
    )


def _searched(
    store: Assembler, session: Session, inputs: Inputs, where: Mapping[str, Any] | None
) -> Flow[tuple[Inputs, Mapping[str, str] | None]]:
    """What the store finds; and where its state is another one, what is left of what was sent."""
    asked: dict[str, Any] = {"principals": inputs.principals, "where": where}
    found: Found = yield Call(
        "search",
        lambda: store.search(inputs.query, **asked),
        acall=lambda: store.asearch(inputs.query, **asked),
    )
    inputs = replace(inputs, candidates=found.candidates, state_root=found.state_root)
    same = found.state_root == session.state_root
    if same and set(session.principals) == set(inputs.principals):
        return inputs, None
    sent = {(chunk.document_id, chunk.sequence) for held in session.held for chunk in held.chunks}
    copies = [copy for held in session.held for copy in held.copies]
    places = sorted(sent | {(p.document_id, p.sequence) for p in (*session.past, *copies)})
    if not places:
        return inputs, {}
    left = yield Call(
        "neighbours", lambda: store.store.neighbours(places, 0, principals=inputs.principals)
    )
    return inputs, {chunk.id: chunk.content_hash for chunk in left}
