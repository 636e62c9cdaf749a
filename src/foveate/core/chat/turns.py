"""A conversation as values: turns, tool calls with their results, and citations.

A turn that calls tools holds the results too. A turn keeps the messages it came as, and is given
back as those if it is shown in full. `role_and_text` defines what is counted of a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from foveate.core.checks import check_string
from foveate.core.compact.entries import ToolCall
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, join_lines
from foveate.core.window import count_messages
from foveate.core.zones import Budget

Role = Literal["system", "developer", "user", "assistant"]
SYSTEM_ROLES = ("system", "developer")
WireFormat = Literal["", "openai", "anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back for the call of this id; `extra` as in `Turn`."""

    call_id: str
    text: str
    error: bool = False
    extra: str = ""

    def __post_init__(self) -> None:
        check_string("call_id", self.call_id)
        check_string("text", self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCitation:
    """Evidence that a turn cited: where it stands, and the words. `marker` 0: not numbered."""

    chunk_id: str
    source: str
    quote: str = ""
    marker: int = 0
    document_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: what was said, or a call of tools with all its results.

    `pinned`: it stays in full, whatever the budget. `extra`: what else the message holds (signed
    reasoning, unknown keys), as JSON; it goes where the turn is shortened.
    `original`: the messages it came as, in the wire form `form`, as JSON; used while it is shown in
    full.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    pinned: bool = False
    cited: tuple[TurnCitation, ...] = ()
    extra: str = ""
    original: str = ""
    form: WireFormat = ""

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise BadInput(f"must be one of {get_args(Role)}, not {self.role!r}", field="role")
        check_string("text", self.text)
        if self.calls and self.role != "assistant":
            raise BadInput(f"a {self.role} turn cannot call tools", field="calls")
        made = [call.id for call in self.calls]
        given = [result.call_id for result in self.results]
        if len(set(made)) < len(made) or sorted(made) != sorted(given):
            raise BadInput(
                f"calls {made} and results {given} must be of the same ids, each once; "
                "give every call its result",
                field="results",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message to be sent.

    `original`: its JSON as it came, if unchanged. `joined`: it is sent as a part of the user's
    message that follows. `segments`: the pieces in which its text grew. `parts`: its text is a JSON
    list of content parts.
    """

    role: Role | Literal["tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    error: bool = False
    extra: str = ""
    original: str = ""
    form: WireFormat = ""
    joined: bool = False
    segments: tuple[str, ...] = ()
    parts: bool = False


def merge_joined(messages: Sequence[Message]) -> list[Message]:
    """The messages with every joined one in front of the user's message that it belongs to."""
    found: list[Message] = []
    before: list[str] = []
    for message in messages:
        if message.joined:
            before.append(message.text)
        elif before and message.role != "user":
            found += (Message(role="user", text="\n\n".join(before)), message)
            before = []
        else:
            text = "\n\n".join([*before, message.text])
            found.append(replace(message, text=text) if before else message)
            before = []
    return [*found, Message(role="user", text="\n\n".join(before))] if before else found


def messages_from_turn(turn: Turn, shown: Turn) -> Iterator[Message]:
    """The messages of a turn as it is shown, results in the order they came.

    Each message that is shown as it was goes back as it came.
    """
    known = [compact_json(message) for message in json.loads(turn.original or "[]")]
    originals = known or [""] * (1 + len(turn.results))
    said = (shown.text, shown.calls, shown.extra) == (turn.text, turn.calls, turn.extra)
    yield Message(
        role=turn.role,
        text=shown.text,
        calls=shown.calls,
        extra=shown.extra,
        original=originals[0] if said else "",
        form=turn.form,
    )
    for result, before, original in zip(shown.results, turn.results, originals[1:], strict=True):
        yield Message(
            role="tool",
            text=result.text,
            call_id=result.call_id,
            error=result.error,
            extra=result.extra,
            original=original if result == before else "",
            form=turn.form,
        )


def role_and_text(message: Message) -> tuple[str, str]:
    """What of a message is counted, as (role, text)."""
    calls = (compact_json(tool_call_to_json(call)) for call in message.calls)
    return message.role, join_lines(message.text, *calls, message.call_id, message.extra)


def tool_call_to_json(call: ToolCall) -> dict[str, Any]:
    """A call as OpenAI spells it."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def count_message_tokens(messages: Sequence[Message], budget: Budget, tokenizer: Tokenizer) -> int:
    """Tokens of messages, the chat format's own included; those of the reply's start are not."""
    return count_messages(map(role_and_text, messages), budget, tokenizer) - budget.per_reply
