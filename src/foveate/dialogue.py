"""The way in for conversations: `converse`, a question with all that was said before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from foveate.adapters.tokenizers.counts import counts_for
from foveate.assembler import reader
from foveate.candidates import candidates_of
from foveate.core import zones as fixed
from foveate.core.contracts import Format, Tokenizer
from foveate.core.talk.elastic import Elastic, Zone
from foveate.core.talk.forms import turns_of
from foveate.core.talk.history import History
from foveate.core.talk.needs import Talk
from foveate.core.talk.request import Conversation, conversation
from foveate.core.talk.turns import Turn
from foveate.core.types import Chunk, Inputs, Recipe, Supplement, Vector
from foveate.plan import Channel, Plan, plan
from foveate.prepare import Call, Flow
from foveate.summary import Summariser, summarise
from foveate.ways import awaited, blocking

__all__ = [
    "Conversation",
    "Elastic",
    "History",
    "Summariser",
    "Turn",
    "Zone",
    "aconverse",
    "converse",
    "turns_of",
]

SHARE = 5  # of a model's window that nobody divided, the fifth part is the conversation's


def _conversing(
    query: str,
    candidates: Any = (),
    *,
    turns: Iterable[Turn | Mapping[str, Any]] = (),
    system: str = "",
    history: History | None = None,
    zones: Elastic | bool = True,
    summariser: Summariser | None = None,
    budget: int | fixed.Budget | None = None,
    recipe: str | Recipe = "chat",
    tokenizer: str | Tokenizer | None = None,
    model: str | None = None,
    format: str | Format | None = None,
    order: str | None = None,
    principals: Iterable[str] = (),
    neighbours: Iterable[Chunk] = (),
    supplements: Iterable[Supplement] = (),
    intent: str = "",
    query_embedding: Vector | None = None,
    instant: datetime | None = None,
    language: str = "en",
    channel: Channel = "text",
) -> Flow[Conversation]:
    r"""The whole request for a question in a conversation, within the model's window.

    `turns`: what was said before, as `Turn`s or as OpenAI or Anthropic messages. `zones`: True,
    what one zone leaves another uses; an `Elastic` with floors, ceilings and weights; False, each
    keeps its size. `summariser`: a model for the older turns, asked where they do not fit. The
    rest is as for `assemble`.

    >>> said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> for message in converse("Who wrote it?", found, turns=said, budget=99).openai():
    ...     print(message["role"], repr(message["content"]))
    user 'Hi.'
    assistant 'Hello.'
    user 'Ada wrote the first programme.\n\nWho wrote it?'

    Raises `BadInput`, `BadOption`, `UnknownName`, `BudgetTooSmall` or `StageBroke`.
    """
    settled = plan(
        recipe=recipe,
        budget=budget,
        tokenizer=tokenizer,
        model=model,
        format=format,
        order=order,
        query=query,
        channel=channel,
    )
    room = divided(settled, open_=model is not None and budget is None)
    inputs = Inputs(
        query=query,
        candidates=candidates_of(candidates),
        recipe=settled.recipe,
        budget=room,
        neighbours=tuple(neighbours),
        supplements=tuple(supplements),
        principals=reader(principals),
        intent=intent,
        query_embedding=query_embedding,
        instant=instant,
        language=language,
    )
    talk = Talk(
        turns=turns_of(turns),
        system=system,
        history=history or History(),
        zones=zones,
        capped=zones is True and isinstance(budget, int),
    )
    return (yield from _summarised(inputs, talk, settled.tokenizer, summariser))


converse = blocking("converse", _conversing)
aconverse = awaited("aconverse", _conversing)


def divided(settled: Plan, *, open_: bool) -> fixed.Budget:
    """The budget; where only a model's window is known, with a part of it for the conversation."""
    budget = settled.budget
    if not open_ or budget.documents is None:
        return budget
    part = budget.documents // SHARE
    return replace(budget, conversation=part, documents=budget.documents - part)


def _summarised(
    inputs: Inputs, talk: Talk, tokenizer: Tokenizer, by: Summariser | None
) -> Flow[Conversation]:
    """The request; the model is asked for a summary only where turns do not fit in full."""
    known = counts_for(tokenizer.fingerprint)
    made = conversation(inputs, talk, tokenizer, known)
    if by is None or all(a == b for a, b in zip(talk.turns, made.history.shown, strict=True)):
        return made
    summary = yield Call(
        "summarise",
        lambda: summarise(talk.turns, talk.history.verbatim, by, tokenizer, inputs.query),
    )
    return conversation(inputs, replace(talk, summary=summary), tokenizer, known)
