"""Turns from OpenAI chat messages, and messages back in that form.

An assistant's message with `tool_calls` and the `tool` messages that answer it are one turn. A turn
shown in full is given back as it came; its unknown keys are counted as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from foveate.core.chat.turns import (
    Message,
    Role,
    ToolCall,
    ToolResult,
    Turn,
    build_turn,
    join_lines,
    message_error,
    tool_call_to_json,
)
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, unknown_fields_json

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
}


def turns_from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The turns; raises `BadInput` naming the message that is wrong.

    >>> turns_from_openai([{"role": "user", "content": "Who wrote it?"}])[0].text
    'Who wrote it?'
    """
    found: list[Turn] = []
    known = list(messages)
    at = 0
    while at < len(known):
        start = at
        role, text, calls, extra = _parse_first_message(known[start], start + 1)
        at += 1
        results = []
        while calls and at < len(known) and _parse_role(known[at], at + 1) == "tool":
            results.append(_parse_result(known[at], at + 1))
            at += 1
        turn = build_turn(
            at,
            role=role,
            text=text,
            calls=calls,
            results=tuple(results),
            extra=extra,
            original=compact_json(known[start:at]),
            form="openai",
        )
        found.append(turn)
    return tuple(found)


def _parse_first_message(
    message: Mapping[str, Any], number: int
) -> tuple[Role, str, tuple[ToolCall, ...], str]:
    """What the first message of a turn says: role, text, calls, and what else is in it."""
    role = _parse_role(message, number)
    if role == "tool":
        raise message_error(
            number, "is a tool's result without a call right before it; keep the two"
        )
    if role not in ROLES:
        raise message_error(number, f"has the role {role!r}; use system, user, assistant or tool")
    if message.get("function_call") is not None:
        raise message_error(
            number, "has a function_call; write it as tool_calls with a tool message"
        )
    made = message.get("tool_calls") or ()
    if not isinstance(made, Sequence) or isinstance(made, str):
        raise message_error(number, "has tool_calls that are no list")
    calls = tuple(_parse_call(call, number) for call in made)
    text = _parse_text(message.get("content"), number, empty=bool(calls))
    extra = join_lines(
        _extra_fields(message, number, "tool_calls"),
        *(_extra_call_fields(call, number) for call in made),
    )
    return ROLES[role], text, calls, extra


def _extra_fields(message: Mapping[str, Any], number: int, *known: str) -> str:
    content = message.get("content")
    parts = [] if content is None or isinstance(content, str) else content
    return join_lines(
        _unknown_fields(message, number, "role", "content", *known),
        *(_unknown_fields(part, number, "type", part["type"]) for part in parts),
    )


def _extra_call_fields(call: Mapping[str, Any], number: int) -> str:
    function = _unknown_fields(call["function"], number, "name", "arguments")
    return join_lines(_unknown_fields(call, number, "id", "type", "function"), function)


def _unknown_fields(value: Mapping[str, Any], number: int, *known: str) -> str:
    try:
        return unknown_fields_json(value, *known)
    except BadInput as error:
        raise message_error(number, str(error).partition(": ")[2]) from None


def _parse_role(message: Any, number: int) -> str:
    role = message.get("role") if isinstance(message, Mapping) else None
    if not isinstance(role, str):
        raise message_error(number, "must have a role and a content, both strings")
    return role


def _parse_call(call: Any, number: int) -> ToolCall:
    try:
        function = call["function"]
        return ToolCall(id=call["id"], name=function["name"], arguments=function["arguments"])
    except (KeyError, TypeError):
        raise message_error(
            number, "has a tool call without id, function name or arguments"
        ) from None
    except BadInput as error:
        raise message_error(number, f"has a tool call whose {error}") from None


def _parse_result(message: Mapping[str, Any], number: int) -> ToolResult:
    text = _parse_text(message.get("content"), number, empty=False)
    name = message.get("tool_call_id")
    if not isinstance(name, str):
        raise message_error(number, "is a tool's result without a tool_call_id")
    try:
        return ToolResult(
            call_id=name, text=text, extra=_extra_fields(message, number, "tool_call_id")
        )
    except BadInput as error:
        raise message_error(number, f"is a tool's result whose {error}") from None


def _parse_text(content: Any, number: int, *, empty: bool) -> str:
    if isinstance(content, str):
        return content
    if content is None and empty:
        return ""
    if not isinstance(content, Sequence):
        raise message_error(number, "must have a role and a content, both strings")
    texts = []
    for part in content:
        if not isinstance(part, Mapping) or part.get("type") not in ("text", "refusal"):
            kind = part.get("type") if isinstance(part, Mapping) else part
            raise message_error(
                number, f"has a part {kind!r} whose tokens cannot be counted; take it out"
            )
        texts.append(part.get(part["type"]))
    if not all(isinstance(text, str) for text in texts):
        raise message_error(number, "has a text part without a text")
    return "\n".join(cast("list[str]", texts))


def openai_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages as any OpenAI-compatible client takes them."""
    found: list[dict[str, Any]] = []
    before: list[Message] = []
    for message in messages:
        if message.joined:
            before.append(message)
            continue
        written = _format_message(message)
        if before and message.role == "user":
            written["content"] = _join_content(before, written["content"])
        elif before:
            found.append({"role": "user", "content": _join_content(before)})
        before = []
        found.append(written)
    return [*found, {"role": "user", "content": _join_content(before)}] if before else found


def _join_content(before: Sequence[Message], content: Any = "") -> Any:
    if isinstance(content, str) and not any(message.parts for message in before):
        texts = [message.text for message in before]
        return "\n\n".join([*texts, content] if content else texts)
    parts: list[Any] = []
    for message in before:
        text = {"type": "text", "text": message.text}
        parts += json.loads(message.text) if message.parts else [text]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    return [*parts, *content]


def _format_message(message: Message) -> dict[str, Any]:
    if message.original and message.form == "openai":
        return cast("dict[str, Any]", json.loads(message.original))
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    written: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        written["tool_calls"] = [tool_call_to_json(call) for call in message.calls]
    return written
