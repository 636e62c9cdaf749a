"""Turns from Anthropic messages, and messages back in that form, with cache breakpoints.

`tool_use` blocks and the `tool_result` blocks that answer them are one turn; text behind results is
the next turn. Breakpoints of incoming messages are removed and set again (SPEC W4).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from foveate.core.chat.turn_list import turns_from_entries
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn
from foveate.core.compact.anthropic_messages import read_message
from foveate.core.compact.entries import Json, ToolCall, read_entries, refuse
from foveate.core.compact.forms import check_messages
from foveate.core.json_text import compact_json

MAX_BREAKPOINTS = 4
"""Cache breakpoints in one request."""
CACHE_CONTROL = "cache_control"

Blocks = list[dict[str, Any]]


def turns_from_anthropic(
    messages: Iterable[Mapping[str, Any]], system: str | Sequence[Mapping[str, Any]] = ""
) -> tuple[Turn, ...]:
    """The turns; raises `BadInput` naming the message that is wrong. `system` comes first."""
    lead = [{"role": "system", "content": system}] if system else []
    known = [*enumerate(lead, -1), *enumerate(check_messages(messages))]
    split = [(index, part) for index, message in known for part in _split(index, message)]
    entries = read_entries(partial(read_message, arguments_text=compact_json), split)
    came = [
        part["content"] if e.results else [_plain(part)]
        for e, (_, part) in zip(entries, split, strict=True)
    ]
    return turns_from_entries(list(zip(entries, came, strict=True)), "anthropic")


def _split(index: int, message: Json) -> Iterator[dict[str, Any]]:
    """The results in a message, then what else it says, each as a message without breakpoints."""
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant") and index >= 0:
        raise refuse(index, f"has the role {role!r}; use user or assistant")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, Sequence) or not all(isinstance(b, Mapping) for b in content):
        raise refuse(index, "must have a content: a string, or a list of blocks")
    blocks = [_strip_breakpoints(block) for block in content]
    if role != "user" and any(block.get("type") == "tool_result" for block in blocks):
        raise refuse(index, "has a tool_result, which only the user may have")
    for own in (True, False):
        part = [block for block in blocks if (block.get("type") == "tool_result") == own]
        if part:
            yield {"role": role, "content": part}


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """The message with a text as its content, where it is nothing but that."""
    first, *more = message["content"]
    plain = not more and first.keys() == {"type", "text"}
    return {**message, "content": first["text"]} if plain else message


def _strip_breakpoints(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block without breakpoints, its own and those of the blocks in it; a tool's input stays."""
    found = {key: value for key, value in block.items() if key != CACHE_CONTROL}
    content = found.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        found["content"] = [_strip_breakpoints(b) if isinstance(b, Mapping) else b for b in content]
    return found


def anthropic_messages(messages: Sequence[Message]) -> dict[str, Any]:
    """`{"system": …, "messages": […]}` for Anthropic; roles alternate, no text is blank."""
    system: Blocks = []
    found: list[dict[str, Any]] = []
    for message in messages:
        role, content = _format_message(message)
        content = _drop_blank_text(content)
        if not content:
            continue
        if role in SYSTEM_ROLES:
            system += _content_to_blocks(content)
        elif found and found[-1]["role"] == role:
            found[-1]["content"] = _content_to_blocks(found[-1]["content"]) + _content_to_blocks(
                content
            )
        else:
            found.append({"role": role, "content": content})
    request: dict[str, Any] = {"messages": found}
    if system:
        request = {"system": system, **request}
    return request


def _drop_blank_text(content: Any) -> Any:
    if isinstance(content, str):
        return content if content.strip() else ""
    return [b for b in content if b["type"] != "text" or b["text"].strip()]


def _content_to_blocks(content: Any) -> Blocks:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _format_message(message: Message) -> tuple[str, Any]:
    if message.original and message.form == "anthropic":
        known = json.loads(message.original)
        if message.role == "tool":
            return "user", [known]
        return known["role"], known["content"]
    if message.role == "tool":
        block = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return "user", [{**block, "is_error": True} if message.error else block]
    if message.parts:
        return message.role, json.loads(message.text)
    if message.segments:
        return message.role, [{"type": "text", "text": text} for text in message.segments]
    if not message.calls:
        return message.role, message.text
    said: Blocks = [{"type": "text", "text": message.text}] if message.text else []
    return "assistant", said + [_format_call(call) for call in message.calls]


def _format_call(call: ToolCall) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):  # what a model wrote need not be an object
        given = {"arguments": call.arguments}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def add_cache_breakpoints(
    request: dict[str, Any], places: Iterable[tuple[int, int]]
) -> dict[str, Any]:
    """The request with at most four cache breakpoints behind blocks; a place is (message, block).

    Message -1 is the system prompt.
    """
    for message, block in sorted(set(places))[:MAX_BREAKPOINTS]:
        if message < 0:
            blocks = request["system"]
        else:
            known = request["messages"][message]
            blocks = known["content"] = _content_to_blocks(known["content"])
        blocks[block] = {**blocks[block], CACHE_CONTROL: {"type": "ephemeral"}}
    return request
