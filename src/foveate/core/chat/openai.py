"""Turns from OpenAI chat messages, and messages back in that form.

An assistant's message with `tool_calls` and the `tool` messages that answer it are one turn. A turn
shown in full is given back as it came; its unknown keys are counted as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from foveate.core.chat.turn_list import turns_from_entries
from foveate.core.chat.turns import Message, Turn, tool_call_to_json
from foveate.core.compact.entries import Entry, Json, read_entries
from foveate.core.compact.forms import check_messages
from foveate.core.compact.openai_chat import read_message
from foveate.core.errors import BadInput

ROLES = ("system", "developer", "user", "assistant", "tool")


def turns_from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The turns; raises `BadInput` naming the message that is wrong.

    >>> turns_from_openai([{"role": "user", "content": "Who wrote it?"}])[0].text
    'Who wrote it?'
    """
    known = check_messages(messages)
    entries = read_entries(_read_message, enumerate(known))
    return turns_from_entries([(e, [m]) for e, m in zip(entries, known, strict=True)], "openai")


def _read_message(index: int, message: Json, names: Mapping[str, str]) -> Entry:
    """What a turn can hold and send in another form too: a text, and calls of functions."""
    entry = read_message(index, message, names, spoken=(), uncounted=())
    role = message["role"]
    if role not in ROLES:
        raise BadInput(f"has the role {role!r}; use system, user, assistant or tool")
    if message.get("content") is None and role != "assistant":
        raise BadInput("must have a role and a content")
    calls = message.get("tool_calls") or ()
    if message.get("function_call") is not None or any("custom" in call for call in calls):
        raise BadInput("has a function_call or a custom call; write it as a function in tool_calls")
    return entry


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
