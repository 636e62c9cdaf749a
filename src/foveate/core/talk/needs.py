"""What a request needs of the window, and how its zones are given out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from foveate.core.assemble import Known
from foveate.core.candidates import readable
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.talk.draft import Draft, Memory, Summary, Weigh
from foveate.core.talk.elastic import Elastic, Need, elastic, shared, stretched
from foveate.core.talk.history import History, Kept, fit_history
from foveate.core.talk.turns import Message, Turn, weight
from foveate.core.types import Inputs
from foveate.core.window import count_messages
from foveate.core.zones import Budget

HEADER = 96  # tokens; more than stands around a chunk in most formats


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What a conversation brings to a request.

    `zones`: how they stretch; True: as `elastic` says; False: each keeps its size. `capped`: the
    documents never get more than their zone. `before`, `standing`, `withdrawn` and `live` are for
    sessions, and are those of `fit_history`.
    """

    turns: tuple[Turn, ...] = ()
    system: str = ""
    history: History = field(default_factory=History)
    zones: Elastic | bool = True
    capped: bool = False
    summary: Summary | None = None
    standing: Summary | None = None
    before: tuple[Turn | None, ...] = ()
    withdrawn: frozenset[int] = frozenset()
    live: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One request while it is made: what is asked, who counts, and what was worked out already."""

    inputs: Inputs
    talk: Talk
    tokenizer: Tokenizer
    known: Known
    memory: Memory = field(default_factory=Memory)

    @property
    def budget(self) -> Budget:
        """The zones as the caller gave them."""
        return self.inputs.budget


def permitted(inputs: Inputs) -> Inputs:
    """The inputs without what may not be read, which must not even be measured."""
    if not inputs.query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    allowed = frozenset(inputs.principals)
    return replace(
        inputs,
        candidates=tuple(c for c in inputs.candidates if readable(c.chunk.principals, allowed)),
        neighbours=tuple(c for c in inputs.neighbours if readable(c.principals, allowed)),
        supplements=tuple(s for s in inputs.supplements if readable(s.principals, allowed)),
    )


def zones_of(budget: Budget, talk: Talk) -> Elastic | None:
    """The zones that are meant for this budget; None where they keep their sizes."""
    if talk.zones is False or budget.documents is None:
        return None
    zones = elastic(budget) if talk.zones is True else talk.zones
    if talk.capped:
        zones = replace(zones, documents=replace(zones.documents, ceiling=budget.documents))
    return zones


def refuse_long(run: Run) -> None:
    """Refuse a query over its zone, and where zones are fixed a system prompt over its own."""
    budget, zones, count = run.budget, zones_of(run.budget, run.talk), run.tokenizer.count
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


def prompt(system: str) -> list[Message]:
    """The system prompt as a message, where there is one."""
    return [Message(role="system", text=system)] if system else []


def measured(run: Run) -> dict[str, Need]:
    """What each zone could use; what it cannot do without, as far as that is known already."""
    budget, tokenizer = run.budget, run.tokenizer
    system = weight(prompt(run.talk.system), budget, tokenizer)
    query = count_messages([("user", run.inputs.query)], budget, tokenizer)
    return {
        "system": Need(wants=system, must=system),
        "query": Need(wants=query, must=query),
        "conversation": Need(wants=_conversation(run)),
        "documents": Need(wants=_pool(run), must=min(1, len(run.inputs.candidates))),
    }


def _conversation(run: Run) -> int:
    """Tokens of all turns in full, and of what must be said of what they cited."""
    talk = run.talk
    draft = Draft(
        turns=talk.turns,
        recent=0,
        weigh=_weigh(run),
        query=run.inputs.query,
        language=run.inputs.language,
        live=talk.live,
        memory=run.memory,
    )
    draft.withdraw(talk.withdrawn)
    return draft.total()


def _weigh(run: Run) -> Weigh:
    budget, tokenizer = run.budget, run.tokenizer
    return lambda messages: weight(messages, budget, tokenizer)


def _pool(run: Run) -> int | None:
    """About the tokens of everything that could be shown; None where it is more than there is."""
    total, most, count = 0, shared(run.budget), run.tokenizer.count
    chunks = [candidate.chunk for candidate in run.inputs.candidates]
    for chunk in (*chunks, *run.inputs.neighbours):
        known = run.known.get(chunk.content_hash)
        total += HEADER + (count(chunk.text) if known is None else known)
        if total > most:
            return None
    return total + sum(HEADER + count(s.text) for s in run.inputs.supplements)


def shares(run: Run, needs: Mapping[str, Need]) -> tuple[Budget, Kept]:
    """The zones for these needs, and the conversation in its own.

    What the conversation leaves of its zone goes to the documents, as far as they may have it.
    """
    zones = zones_of(run.budget, run.talk)
    if zones is None:
        return run.budget, fitted(run, run.budget.conversation)
    given = stretched(run.budget, needs, zones)
    try:
        kept = fitted(run, given.conversation)
    except BudgetTooSmall as error:
        pressing = Need(wants=needs["conversation"].wants, must=error.needed)
        given = stretched(run.budget, {**needs, "conversation": pressing}, zones)
        kept = fitted(run, given.conversation)
    granted, most = given.documents or 0, zones.documents.ceiling
    documents = granted + given.conversation - kept.tokens
    documents = documents if most is None else max(granted, min(documents, most))
    return replace(given, conversation=kept.tokens, documents=documents), kept


def fitted(run: Run, room: int) -> Kept:
    """The conversation in so much room."""
    talk = run.talk
    return fit_history(
        talk.turns,
        room,
        talk.history,
        weigh=_weigh(run),
        query=run.inputs.query,
        language=run.inputs.language,
        before=talk.before,
        withdrawn=talk.withdrawn,
        summary=talk.summary,
        standing=talk.standing,
        live=talk.live,
        memory=run.memory,
    )
