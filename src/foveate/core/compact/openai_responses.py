"""Items of OpenAI's Responses API as entries: calls and their outputs are items of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from foveate.core.compact.content import read_content, refuse, text_with_content
from foveate.core.compact.entries import (
    Call,
    Entry,
    EntryRole,
    Json,
    MessageForm,
    Result,
    parse_in_order,
)
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


def _parse_item(index: int, item: Json, names: Mapping[str, str]) -> Entry:
    kind = item.get("type", "message")
    if not isinstance(kind, str):
        raise refuse(index, "must have a type that is a text")
    if kind == "message":
        return _message_entry(index, item)
    if kind in _CALLS:
        return _call_entry(index, item, kind)
    if kind.endswith("_output") and "call_id" in item:
        return _output_entry(index, item, names)
    return Entry(
        index=index,
        role="assistant" if kind in ("reasoning", "item_reference") else "other",
        others=(compact_json(item),),
        kinds=(kind,),
        carried=kind not in ("reasoning", "item_reference"),
        opens=kind == "reasoning",
    )


def _message_entry(index: int, item: Json) -> Entry:
    given = item.get("role")
    if not isinstance(given, str):
        raise refuse(index, "must have a role or a type")
    role = _ROLES.get(given, "other")
    content = read_content(item.get("content"), index)
    rest = unknown_fields_json(item, *_MESSAGE)
    return Entry(
        index=index,
        role=role,
        said=content.text,
        others=(*content.others, rest) if rest else content.others,
        extra=content.extra,
        kinds=content.kinds if role != "other" else (f"role {given}", *content.kinds),
        carried=role == "other",
    )


def _call_entry(index: int, item: Json, kind: str) -> Entry:
    call_id = item.get("call_id")
    if not isinstance(call_id, str):
        raise refuse(index, f"is a {kind} and must have a call_id")
    given = next((item[key] for key in _CALLS[kind] if key in item), "")
    call = Call(
        id=call_id,
        name=str(item.get("name", kind)),
        arguments=given if isinstance(given, str) else compact_json(given),
    )
    rest = unknown_fields_json(item, *_CALL, *_CALLS[kind])
    return Entry(index=index, role="assistant", calls=(call,), others=(rest,) if rest else ())


def _output_entry(index: int, item: Json, names: Mapping[str, str]) -> Entry:
    call_id = item["call_id"]
    if not isinstance(call_id, str):
        raise refuse(index, "has a call_id that is no text")
    content = read_content(item.get("output"), index)
    rest = unknown_fields_json(item, *_OUTPUT)
    result = Result(
        call_id=call_id,
        text=content.text,
        name=names.get(call_id, ""),
        extra=content.extra,
        kinds=content.kinds,
    )
    others = (*content.others, rest) if rest else content.others
    return Entry(index=index, role="tool", results=(result,), others=others)


def _rewrite(item: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    return {**item, "output": text_with_content(item.get("output"), texts[-1])}


def _note(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


OPENAI_RESPONSES = MessageForm(
    name="responses", parse=partial(parse_in_order, _parse_item), rewrite=_rewrite, note=_note
)
"""The `input` of the Responses API."""
