"""OpenAI Chat messages as entries: `tool_calls` of the assistant, results in `tool` messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.checks import check_string
from foveate.core.compact.content import (
    Content,
    Piece,
    build_entry,
    build_result,
    check_role,
    read_content,
    result_with_text,
    text_content,
)
from foveate.core.compact.entries import (
    Entry,
    EntryRole,
    Json,
    MessageForm,
    Result,
    ToolCall,
    plain_note,
)
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPOKEN = ("refusal", "reasoning_content", "reasoning")
_KNOWN = ("role", "content", "tool_calls", "tool_call_id", "name", "function_call", *_SPOKEN)


def _read_message(index: int, message: Json, names: Mapping[str, str]) -> Entry:
    given = check_role(message)
    role = _ROLES.get(given)
    content = read_content(message.get("content"))
    rest = unknown_fields_json(message, *_KNOWN)
    if role == "tool":
        return build_entry(index, role, given, [_read_result(message, content, rest, names)])
    texts = [text_content(t) for key in _SPOKEN if isinstance(t := message.get(key), str)]
    return build_entry(index, role, given, [content, *texts, *_read_calls(message)], rest)


def _read_result(message: Json, content: Content, rest: str, names: Mapping[str, str]) -> Result:
    call_id = message.get("tool_call_id", message.get("name"))
    if not isinstance(call_id, str):
        raise BadInput("is a tool's result and must have a tool_call_id")
    check_string("name", name := str(message.get("name") or names.get(call_id, "")))
    return build_result(call_id, content, name=name, rest=rest)


def _read_calls(message: Json) -> Iterator[Piece]:
    given = message.get("tool_calls") or []
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise BadInput("has tool_calls that are no list")
    for call in given:
        yield from _read_call(call)
    old = message.get("function_call")  # from before `tool_calls`; its result bears its name
    if isinstance(old, Mapping):
        name = str(old.get("name", ""))
        yield ToolCall(id=name, name=name, arguments=str(old.get("arguments", "")))


def _read_call(call: Any) -> Iterator[Piece]:
    body = call.get("function", call.get("custom")) if isinstance(call, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(call.get("id"), str):
        raise BadInput("has a tool call without an id or a function")
    if not isinstance(body.get("name"), str):
        raise BadInput("has a tool call without a name")
    given = body.get("arguments", body.get("input", ""))
    arguments = given if isinstance(given, str) else compact_json(given)
    yield ToolCall(id=call["id"], name=body["name"], arguments=arguments)
    yield Content(
        rest=(
            unknown_fields_json(call, "id", "type", "function", "custom"),
            unknown_fields_json(body, "name", "arguments", "input"),
        )
    )


def _rewrite(message: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    return {**message, "content": result_with_text(message.get("content"), texts[-1])}


OPENAI_CHAT = MessageForm(name="openai", read=_read_message, rewrite=_rewrite, note=plain_note)
"""Chat Completions, and every server that speaks like it."""
