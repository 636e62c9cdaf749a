"""Gemini contents as entries: parts with text, `functionCall` and `functionResponse`.

Calls without an id are matched by the function's name. Keys may be spelled in camel or snake case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.compact.content import check_encodable, refuse
from foveate.core.compact.entries import Call, Entry, EntryRole, Json, MessageForm, Result
from foveate.core.compact.images import media_tokens
from foveate.core.json_text import compact_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
    "system": "system",
}
_CALL = ("functionCall", "function_call")
_RESPONSE = ("functionResponse", "function_response")
_DATA = ("inlineData", "inline_data", "fileData", "file_data")


def _parse(contents: Sequence[Json]) -> list[Entry]:
    return [_parse_content(index, content) for index, content in enumerate(contents)]


def _parse_content(index: int, content: Json) -> Entry:
    given, parts = content.get("role", "user"), content.get("parts")
    if not isinstance(given, str):
        raise refuse(index, "must have a role that is a text")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise refuse(index, "must have parts")
    role = _ROLES.get(given, "other")
    calls: list[Call] = []
    results: list[Result] = []
    said: list[str] = []
    others: list[str] = []
    kinds: list[str] = [f"role {given}"] if role == "other" else []
    extra = 0
    for slot, given_part in enumerate(parts):
        if not isinstance(given_part, Mapping):
            raise refuse(index, "has a part that is no mapping")
        part: Json = given_part
        if key := _which(part, _CALL):
            calls.append(_parse_call(part[key], index))
            others.append(unknown_fields_json(part, key))
        elif key := _which(part, _RESPONSE):
            results.append(_parse_response(part[key], slot, index))
        elif key := _which(part, _DATA):
            extra += media_tokens({"data": _data(part[key])})
            kinds.append(key)
        elif isinstance(text := part.get("text"), str):
            said.append(check_encodable(text, index))
            others.append(unknown_fields_json(part, "text"))
        else:
            others.append(compact_json(part))
            kinds.extend(map(str, part))
    others.append(unknown_fields_json(content, "role", "parts"))
    return Entry(
        index=index,
        role="tool" if results else role,
        said="\n".join(filter(None, said)),
        calls=tuple(calls),
        results=tuple(results),
        others=tuple(filter(None, others)),
        extra=extra,
        kinds=tuple(kinds),
        carried=role == "other",
    )


def _which(part: Json, keys: Sequence[str]) -> str:
    return next((key for key in keys if isinstance(part.get(key), Mapping)), "")


def _data(blob: Json) -> str:
    data = blob.get("data", "")
    return data if isinstance(data, str) else ""


def _parse_call(call: Json, index: int) -> Call:
    name = call.get("name")
    if not isinstance(name, str):
        raise refuse(index, "has a function call without a name")
    given = json.dumps(call.get("args") or {}, ensure_ascii=False)
    return Call(id=str(call.get("id") or name), name=name, arguments=given)


def _parse_response(response: Json, slot: int, index: int) -> Result:
    name = response.get("name")
    if not isinstance(name, str):
        raise refuse(index, "has a function response without a name")
    return Result(
        call_id=str(response.get("id") or name),
        text=compact_json(response.get("response") or {}),
        name=name,
        slot=slot,
    )


def _rewrite(content: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    parts = []
    for slot, part in enumerate(content["parts"]):
        key = _which(part, _RESPONSE)
        if slot in texts:
            parts.append({**part, key: {**part[key], "response": {"output": texts[slot]}}})
        else:
            parts.append(part)
    return {**content, "parts": parts}


def _note(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


GEMINI = MessageForm(name="gemini", parse=_parse, rewrite=_rewrite, note=_note)
"""The `contents` of the Gemini API."""
