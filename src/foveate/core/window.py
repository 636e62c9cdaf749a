"""The whole request against the model's window (SPEC B1, B2): context, query, history, framing.

The chat format's own tokens are in the budget: so many a message, so many for the reply's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.message import END, join_message
from foveate.core.request import Inputs
from foveate.core.zones import Budget

SLACK = 64  # tokens; joining the context to the query changes the count by a few at the most

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
    """The budget with its document zone cut to what the window leaves, which settles the window.

    Raises `BudgetTooSmall` where it leaves nothing.
    """
    budget = inputs.budget
    if budget.window is None:
        return budget
    fixed = count_messages(fixed_messages(inputs), budget, tokenizer)
    left = budget.window - budget.generation - budget.buffer - fixed
    if left < 1:
        raise BudgetTooSmall(
            budget.window,
            budget.window - left + 1,
            what="the messages, the query and the reply leave no room for a context: the window",
        )
    return replace(budget, documents=min(left, budget.documents or left), window=None)


def window_excess(inputs: Inputs, text: str, tokens: int, tokenizer: Tokenizer) -> int:
    """Tokens by which the whole request is over; 0 or less where it fits or no window is known.

    `tokens` is the count of `text`; the request itself is counted where it comes near the limit.
    """
    budget = inputs.budget
    if budget.window is None:
        return 0
    limit = budget.window - budget.generation - budget.buffer
    fixed = count_messages(fixed_messages(inputs), budget, tokenizer)
    if fixed + tokens + SLACK <= limit:
        return fixed + tokens + SLACK - limit
    return count_messages(request_messages(inputs, text), budget, tokenizer) - limit
