"""Calls of tools in a conversation that a model is asked to go on with, for those who take none.

A call becomes the JSON that it is, in the assistant's words; its result the user's, behind the id
of the call. Nothing of it is longer than what was counted, and nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from foveate.core.chat.turns import compact_json, join_lines
from foveate.ports import Message, text_from_content

TOOL_CALLS = "tool_calls"
"""Who takes this is sent calls, results and the developer's role as they are."""
TOOL_ROLE, DEVELOPER_ROLE = "tool", "developer"


def calls_to_json(message: Mapping[str, Any]) -> list[str]:
    """The calls of a message, each as the JSON that is sent."""
    return [compact_json(call) for call in message.get(TOOL_CALLS) or ()]


def tools_as_text(messages: Sequence[Message]) -> list[Message]:
    r"""The messages with calls and results as texts of roles that every model knows.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "gauge", "arguments": "{}"}}
    >>> said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    >>> said.append({"role": "tool", "tool_call_id": "c1", "content": "2.4 bar"})
    >>> [message["role"] for message in tools_as_text(said)], tools_as_text(said)[1]["content"]
    (['assistant', 'user'], 'c1:\n2.4 bar')
    """
    found: list[Message] = []
    before = ""
    for message in messages:
        role, more = message["role"], cast("Mapping[str, Any]", message)
        if role == TOOL_ROLE:
            said = f"{more['tool_call_id']}:\n{text_from_content(message['content'])}"
            if before == TOOL_ROLE:
                said = f"{found.pop()['content']}\n\n{said}"
            found.append({"role": "user", "content": said})
        elif calls := calls_to_json(more):
            said = join_lines(text_from_content(message["content"]), *calls)
            found.append({"role": "assistant", "content": said})
        elif role == DEVELOPER_ROLE:
            found.append({"role": "system", "content": message["content"]})
        else:
            found.append(message)
        before = role
    return found
