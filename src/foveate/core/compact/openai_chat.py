"""OpenAI Chat messages as entries: `tool_calls` of the assistant, results in `tool` messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from foveate.core.compact.content import Content, read_content, refuse, text_with_content
from foveate.core.compact.entries import (
    Call,
    Entry,
    EntryRole,
    Json,
    MessageForm,
    Result,
    parse_in_order,
    user_note,
)
from foveate.core.json_text import compact_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_TEXT_KEYS = ("refusal", "reasoning_content", "reasoning")
_KNOWN = ("role", "content", "name", "tool_calls", "tool_call_id", "function_call", *_TEXT_KEYS)


def _parse_message(index: int, message: Json, names: Mapping[str, str]) -> Entry:
    given = message.get("role")
    if not isinstance(given, str):
        raise refuse(index, "must have a role")
    role = _ROLES.get(given, "other")
    content = read_content(message.get("content"), index)
    calls = tuple(_parse_calls(message, index))
    texts = [t for key in _TEXT_KEYS if isinstance(t := message.get(key), str)]
    others = [unknown_fields_json(message, *_KNOWN), *content.others]
    kinds = content.kinds if role != "other" else (f"role {given}", *content.kinds)
    if role == "tool":
        return _tool_entry(index, message, content, names, tuple(filter(None, others)))
    return Entry(
        index=index,
        role=role,
        said="\n".join(filter(None, [content.text, *texts])),
        calls=calls,
        others=tuple(filter(None, others)),
        extra=content.extra,
        kinds=kinds,
        carried=role == "other",
    )


def _tool_entry(
    index: int, message: Json, content: Content, names: Mapping[str, str], others: tuple[str, ...]
) -> Entry:
    call_id = message.get("tool_call_id", message.get("name"))
    if not isinstance(call_id, str):
        raise refuse(index, "is a tool's result and must have a tool_call_id")
    name = message.get("name") or names.get(call_id, "")
    result = Result(
        call_id=call_id,
        text=content.text,
        name=str(name),
        extra=content.extra,
        kinds=content.kinds,
    )
    return Entry(index=index, role="tool", results=(result,), others=others)


def _parse_calls(message: Json, index: int) -> list[Call]:
    given = message.get("tool_calls") or []
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise refuse(index, "has tool_calls that are no list")
    return [_parse_call(call, index) for call in given] + _old_call(message)


def _parse_call(call: Any, index: int) -> Call:
    body = call.get("function", call.get("custom")) if isinstance(call, Mapping) else None
    call_id: Any = call.get("id") if isinstance(call, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(call_id, str):
        raise refuse(index, "has a tool call without an id or a function")
    given = body.get("arguments", body.get("input", ""))
    arguments = given if isinstance(given, str) else compact_json(given)
    return Call(id=call_id, name=str(body.get("name", "")), arguments=arguments)


def _old_call(message: Json) -> list[Call]:
    """The one call of a message from before `tool_calls`; its result bears the function's name."""
    body = message.get("function_call")
    if not isinstance(body, Mapping):
        return []
    name = str(body.get("name", ""))
    return [Call(id=name, name=name, arguments=str(body.get("arguments", "")))]


def _rewrite(message: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    return {**message, "content": text_with_content(message.get("content"), texts[-1])}


OPENAI_CHAT = MessageForm(
    name="openai", parse=partial(parse_in_order, _parse_message), rewrite=_rewrite, note=user_note
)
"""Chat Completions, and every server that speaks like it."""
