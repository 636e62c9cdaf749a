"""The user's message (context, its end, the question), and what fits the model's window.

No text of a context can spell the end (see `SQUARE` in `special_tokens.py`), so the first one in a
message is the context's. It is counted with the message and is no part of the context's text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.request import Inputs
from foveate.core.zones import Budget

SLACK = 64  # tokens; joining the context to the query changes the count by a few at the most

LONG_QUERY = "the query, which is never cut (ask a shorter one),"

RoleAndContent = tuple[str, str]


def count_messages(messages: Iterable[RoleAndContent], budget: Budget, tokenizer: Tokenizer) -> int:
    """Tokens of (role, content) messages, the chat format's own included."""
    total = budget.per_reply
    for role, content in messages:
        total += budget.per_message + tokenizer.count(role) + tokenizer.count(content)
    return total


def request_messages(inputs: Inputs, text: str) -> list[RoleAndContent]:
    """What is sent: the messages so far, then the context and the query as the user's."""
    return [*inputs.messages, ("user", join_message(text, inputs.query))]


def fixed_messages(inputs: Inputs) -> list[RoleAndContent]:
    """What is sent beside a context's own text: its end too."""
    return [*inputs.messages, ("user", f"{END}\n\n{inputs.query}")]


def remaining_budget(inputs: Inputs, tokenizer: Tokenizer) -> Budget:
    """The budget with its document zone cut to what the window leaves.

    Raises `BudgetTooSmall` if nothing is left, or if the query or the history is over its zone.
    """
    budget = inputs.budget
    if budget.window is None:
        return budget
    _check_zones(inputs, tokenizer)
    fixed = count_messages(fixed_messages(inputs), budget, tokenizer)
    left = budget.window - budget.generation - budget.buffer - fixed
    if left < 1:
        raise BudgetTooSmall(
            budget.window,
            budget.window - left + 1,
            what="the messages, the query and the reply leave no room for a context: the window",
        )
    return replace(budget, documents=min(left, budget.documents or left), window=None)


def _check_zones(inputs: Inputs, tokenizer: Tokenizer) -> None:
    """Refuse a query or a history over its zone; a zone of 0 has no limit."""
    budget = inputs.budget
    query = tokenizer.count(inputs.query)
    if budget.query and query > budget.query:
        raise BudgetTooSmall(budget.query, query, what=LONG_QUERY)
    said = [one for one in inputs.messages if one[0] != "system"]
    history = count_messages(said, replace(budget, per_reply=0), tokenizer)
    if budget.conversation and history > budget.conversation:
        what = "the history, which converse() shortens: the zone 'conversation'"
        raise BudgetTooSmall(budget.conversation, history, what=what)


def window_excess(
    inputs: Inputs, text: str, tokens: int, tokenizer: Tokenizer, images: int = 0
) -> int:
    """Tokens by which the request exceeds the window.

    `tokens` is the count of `text`; `images` are the tokens of the images beside it.
    """
    budget = inputs.budget
    if budget.window is None:
        return 0
    limit = budget.window - budget.generation - budget.buffer - images
    fixed = count_messages(fixed_messages(inputs), budget, tokenizer)
    if fixed + tokens + SLACK <= limit:
        return fixed + tokens + SLACK - limit
    return count_messages(request_messages(inputs, text), budget, tokenizer) - limit


END = "[End of context]"
CLOSING = f"\n\n{END}"
"""What ends a context that is a text."""
_PART = {"type": "text", "text": END}
_CLOSING_PART = "," + json.dumps(_PART, separators=(",", ":")) + "]"


def close_context(text: str, *, parts: bool = False) -> str:
    r"""The context's text with its end; `parts`: the text is a JSON list of content parts.

    >>> close_context("[1] Source: mill.md")
    '[1] Source: mill.md\n\n[End of context]'
    """
    return text.removesuffix("]") + _CLOSING_PART if parts else text + CLOSING


def join_message(text: str, query: str) -> str:
    r"""The message: context, end, question; the question alone where there is no context.

    A question that spells the end itself is never alone.

    >>> join_message("[1] Source: mill.md", "How old?")
    '[1] Source: mill.md\n\n[End of context]\n\nHow old?'
    """
    if text:
        return f"{close_context(text)}\n\n{query}"
    return f"{END}\n\n{query}" if END in query else query


def split_template(template: str) -> tuple[str, str, str]:
    r"""What a template for the user's message has before, between and behind its two fields.

    Raises `BadOption` unless it has `{context}` once, and `{question}` once after it.

    >>> split_template("Context:\n{context}\n---\nQuestion: {question}")
    ('Context:\n', '\n---\nQuestion: ', '')
    """
    before, *rest = template.split("{context}")
    between, *last = rest[0].split("{question}") if len(rest) == 1 else [""]
    if len(last) != 1 or "{question}" in before:
        raise BadOption("template: write {context} once, and {question} once after it")
    return before, between, last[0]


def join_by_template(text: str, query: str, template: str) -> str:
    """The message as a template says; the end of the context is written behind its text."""
    before, between, last = split_template(template)
    return f"{before}{close_context(text) if text else END}{between}{query}{last}"


def join_parts(parts: Sequence[Mapping[str, Any]], query: str) -> list[dict[str, Any]]:
    """The same for a context of content parts."""
    return [*map(dict, parts), dict(_PART), {"type": "text", "text": query}]


def split_message(message: str) -> tuple[str, str]:
    r"""Context and question of a message as `join_message` makes it.

    >>> split_message("[1] Source: mill.md\n\n[End of context]\n\nHow old?")
    ('[1] Source: mill.md', 'How old?')
    """
    if message.startswith(f"{END}\n\n"):
        return "", message.removeprefix(f"{END}\n\n")
    text, end, query = message.partition(f"{CLOSING}\n\n")
    return (text, query) if end else ("", message)


def split_parts(parts: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], str]:
    """Content parts and question of a message as `join_parts` makes it."""
    *found, asked = parts
    if found and found[-1] == _PART:
        found.pop()
    return found, asked["text"]
