"""Calls of tools in a conversation that a model is asked to go on with, for those who take none.

A call becomes the JSON that it is, in the assistant's words; its result the user's, behind the id
of the call. Nothing of it is longer than what was counted, and nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from foveate.core.talk.turns import canonical, lines
from foveate.ports import Message, text_of

TOOLS = "tool_calls"
"""Who takes this is sent calls, results and the developer's role as they are."""
RESULT, DEVELOPER = "tool", "developer"


def calls_in(message: Mapping[str, Any]) -> list[str]:
    """The calls of a message, each as the JSON that is sent."""
    return [canonical(call) for call in message.get(TOOLS) or ()]


def in_words(messages: Sequence[Message]) -> list[Message]:
    r"""The messages with calls and results as texts of roles that every model knows.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "gauge", "arguments": "{}"}}
    >>> said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    >>> said.append({"role": "tool", "tool_call_id": "c1", "content": "2.4 bar"})
    >>> [message["role"] for message in in_words(said)], in_words(said)[1]["content"]
    (['assistant', 'user'], 'c1:\n2.4 bar')
    """
    found: list[Message] = []
    before = ""
    for message in messages:
        role, more = message["role"], cast("Mapping[str, Any]", message)
        if role == RESULT:
            said = f"{more['tool_call_id']}:\n{text_of(message['content'])}"
            if before == RESULT:
                said = f"{found.pop()['content']}\n\n{said}"
            found.append({"role": "user", "content": said})
        elif calls := calls_in(more):
            said = lines(text_of(message["content"]), *calls)
            found.append({"role": "assistant", "content": said})
        elif role == DEVELOPER:
            found.append({"role": "system", "content": message["content"]})
        else:
            found.append(message)
        before = role
    return found
