"""The way in for conversations: `converse`, a question with everything said before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from foveate.core.chat.history import VERBATIM
from foveate.core.chat.request import Conversation, build_conversation
from foveate.core.chat.request_state import ChatOptions
from foveate.core.chat.turns import Turn, TurnCitation, turns_from_messages
from foveate.core.chat.zones import FlexibleBudget, Zone
from foveate.core.checks import check_query, check_zone
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.request import Inputs
from foveate.core.typed import check_arguments
from foveate.pipeline.flow import inputs_for
from foveate.pipeline.history_summary import Summariser, summarise
from foveate.pipeline.inputs import candidates_of
from foveate.pipeline.options import (
    AssembleKeywords,
    AssembleOptions,
    ResolvedOptions,
    resolve_options,
)
from foveate.pipeline.steps import Call, Flow, arun, run
from foveate.providers.tokenizers.counts import counts_for

__all__ = [
    "Conversation",
    "FlexibleBudget",
    "Summariser",
    "Turn",
    "TurnCitation",
    "Zone",
    "aconverse",
    "converse",
]

SHARE = 5  # of a window that nobody divided, the fifth part is for the conversation


class ConverseKeywords(AssembleKeywords, total=False):
    """The options of a conversation, beside those of an assembly."""

    turns: Iterable[Turn | Mapping[str, Any]]
    verbatim: int
    zones: FlexibleBudget | bool
    summariser: Summariser | None


def converse(
    query: str, candidates: Any = (), **keywords: Unpack[ConverseKeywords]
) -> Conversation:
    r"""The whole request for a question in a conversation, within the model's window.

    `turns`: what was said before, messages of any provider's form, or `Turn`s of them that are
    pinned or cite. `verbatim`: so many of the last stay as they are, as far as there is room, a
    call with its results as one. `zones`: True, unless said otherwise, lets one zone use what
    another leaves; a `FlexibleBudget` adds floors, ceilings and weights; False keeps the size of
    each. `summariser`: a model for the older turns, asked if they do not fit. The others are those
    of `assemble`; the recipe is `chat` unless another is named, and `system` or `prompt` give the
    system prompt. `chat` shows the texts alone; with `format="numbered"` each has its source and a
    number to cite over it, some ten tokens a source.

    >>> said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> for message in converse("Who wrote it?", found, turns=said, budget=99).openai():
    ...     print(message["role"], repr(message["content"]))
    user 'Hi.'
    assistant 'Hello.'
    user 'Ada wrote the first programme.\n\n[End of context]\n\nWho wrote it?'

    Raises `BadInput`, `BadOption`, `UnknownName`, `BudgetTooSmall` or `StageBroke`.
    """
    return run(_converse(query, candidates, **keywords))


async def aconverse(
    query: str, candidates: Any = (), **keywords: Unpack[ConverseKeywords]
) -> Conversation:
    """`converse` without blocking the event loop."""
    return await arun(_converse(query, candidates, **keywords))


@check_arguments("query")
def _converse(
    query: str,
    candidates: Any,
    *,
    turns: Iterable[Turn | Mapping[str, Any]] = (),
    verbatim: int = VERBATIM,
    zones: FlexibleBudget | bool = True,
    summariser: Summariser | None = None,
    **keywords: Unpack[AssembleKeywords],
) -> Flow[Conversation]:
    resolved = resolve_chat_options("chat", query, keywords)
    inputs = chat_inputs(query, candidates, resolved)
    chat = ChatOptions(
        turns=turns_from_messages(turns),
        system=resolved.system,
        verbatim=check_verbatim(verbatim),
        zones=zones,
        capped=zones is True and isinstance(resolved.options.budget, int),
    )
    return (yield from _summarised(inputs, chat, resolved.tokenizer, summariser))


def resolve_chat_options(recipe: str, query: str, keywords: AssembleKeywords) -> ResolvedOptions:
    """The options of a turn. If only a model's window is known, a part is for the conversation."""
    if "messages" in keywords:
        raise BadOption("messages: give what was said before as turns, which can be shortened")
    options = AssembleOptions(recipe=recipe).changed(keywords)
    resolved = resolve_options(options, check_query(query))
    budget = resolved.budget
    if options.model is None or options.budget is not None or budget.documents is None:
        return resolved
    part = budget.documents // SHARE
    divided = replace(budget, conversation=part, documents=budget.documents - part)
    return replace(resolved, budget=divided)


def chat_inputs(query: str, candidates: Any, resolved: ResolvedOptions) -> Inputs:
    """The inputs of a turn: the system prompt and the turns are counted in their own zones."""
    found = candidates_of(candidates)
    return replace(inputs_for(query, found, resolved), messages=())


def check_verbatim(value: int) -> int:
    """The number of last turns; raises `BadOption` where it is negative."""
    check_zone("verbatim", value, 0)
    return value


def _summarised(
    inputs: Inputs, chat: ChatOptions, tokenizer: Tokenizer, by: Summariser | None
) -> Flow[Conversation]:
    known = counts_for(tokenizer.fingerprint)
    made = build_conversation(inputs, chat, tokenizer, known)
    if by is None or not made.history.changed:
        return made
    summary = yield Call(
        "summarise", lambda: summarise(chat.turns, chat.verbatim, inputs, by, tokenizer)
    )
    return build_conversation(inputs, replace(chat, summary=summary), tokenizer, known)
