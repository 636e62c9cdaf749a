"""Items of OpenAI's Responses API as entries: calls and their outputs are items of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foveate.core.compact.content import (
    Content,
    Piece,
    build_entry,
    build_result,
    check_role,
    read_content,
    result_with_text,
)
from foveate.core.compact.entries import Entry, EntryRole, Json, MessageForm, Result, ToolCall
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_CALLS = {
    "function_call": ("arguments",),
    "custom_tool_call": ("input",),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
    "computer_call": ("action", "actions"),
}
_MESSAGE = ("type", "role", "content", "id", "status", "phase")
_CALL = ("type", "call_id", "id", "name", "status", "namespace")
_OUTPUT = ("type", "call_id", "id", "output", "status")


def _read_item(index: int, item: Json, names: Mapping[str, str]) -> Entry:
    kind = item.get("type", "message")
    if not isinstance(kind, str):
        raise BadInput("must have a type that is a text")
    if kind == "message":
        given = check_role(item)
        content = read_content(item.get("content"))
        rest = unknown_fields_json(item, *_MESSAGE)
        return build_entry(index, _ROLES.get(given), given, [content], rest)
    if kind in _CALLS:
        return build_entry(index, "assistant", "", _read_call(item, kind))
    if kind.endswith("_output") and "call_id" in item:
        return build_entry(index, "tool", "", [_read_output(item, names)])
    ours = kind in ("reasoning", "item_reference")
    return Entry(
        index=index,
        role="assistant" if ours or kind.endswith("_call") else "other",  # a provider's own tool
        others=(compact_json(item),),
        kinds=(kind,),
        carried=not ours,
        opens=kind == "reasoning",
    )


def _read_call(item: Json, kind: str) -> Iterator[Piece]:
    if not isinstance(item.get("call_id"), str):
        raise BadInput(f"is a {kind} and must have a call_id")
    given = next((item[key] for key in _CALLS[kind] if key in item), "")
    arguments = given if isinstance(given, str) else compact_json(given)
    yield ToolCall(id=item["call_id"], name=str(item.get("name", kind)), arguments=arguments)
    yield Content(rest=(unknown_fields_json(item, *_CALL, *_CALLS[kind]),))


def _read_output(item: Json, names: Mapping[str, str]) -> Result:
    call_id = item["call_id"]
    if not isinstance(call_id, str):
        raise BadInput("has a call_id that is no text")
    content, name = read_content(item.get("output")), names.get(call_id, "")
    return build_result(call_id, content, name=name, rest=unknown_fields_json(item, *_OUTPUT))


def _rewrite(item: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    return {**item, "output": result_with_text(item.get("output"), texts[-1])}


def _note(text: str, role: EntryRole) -> dict[str, Any]:
    said: Any = [{"type": "input_text", "text": text}] if role == "user" else text
    return {"type": "message", "role": role, "content": said}


OPENAI_RESPONSES = MessageForm(name="responses", read=_read_item, rewrite=_rewrite, note=_note)
"""The `input` of the Responses API."""
