"""Gemini contents as entries: parts with text, `functionCall` and `functionResponse`.

Calls without an id are matched by the function's name. Keys may be spelled in camel or snake case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.compact.content import (
    Content,
    Piece,
    build_entry,
    check_role,
    read_media,
    text_content,
)
from foveate.core.compact.entries import Entry, EntryRole, Json, MessageForm, Result, ToolCall
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, join_lines, spaced_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
    "system": "system",
}
_CALL = ("functionCall", "function_call")
_RESPONSE = ("functionResponse", "function_response")
_TEXTS = ("output", "result", "error")
"""Keys that a response has for a text: shortened and counted as the text that it is."""
_DATA = ("inlineData", "inline_data", "fileData", "file_data")


def _read_content(index: int, content: Json, names: Mapping[str, str]) -> Entry:
    given = check_role({"role": "user", **content})
    parts = content.get("parts")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise BadInput("must have parts")
    pieces = [piece for slot, part in enumerate(parts) for piece in _read_part(part, slot)]
    rest = unknown_fields_json(content, "role", "parts")
    return build_entry(index, _ROLES.get(given), given, pieces, rest)


def _read_part(part: Any, slot: int) -> Iterator[Piece]:
    if not isinstance(part, Mapping):
        raise BadInput("has a part that is no mapping")
    if key := _which(part, _CALL):
        body = _named(part[key], "call")
        given = spaced_json(body.get("args") or {})
        yield ToolCall(id=str(body.get("id") or body["name"]), name=body["name"], arguments=given)
        inside = unknown_fields_json(body, "id", "name", "args")
        yield Content(rest=(unknown_fields_json(part, key), inside))
    elif key := _which(part, _RESPONSE):
        body = _named(part[key], "response")
        yield Result(
            call_id=str(body.get("id") or body["name"]),
            text=_response_text(body.get("response") or {}),
            name=body["name"],
            slot=slot,
            rest=join_lines(
                unknown_fields_json(part, key),
                unknown_fields_json(body, "id", "name", "response"),
            ),
        )
    elif key := _which(part, _DATA):
        yield read_media(part[key], key)._replace(rest=(unknown_fields_json(part, key),))
    elif isinstance(text := part.get("text"), str):
        yield text_content(text)._replace(rest=(unknown_fields_json(part, "text"),))
    else:
        yield Content(others=(compact_json(part),), kinds=tuple(map(str, part)))


def _text_key(response: Any) -> str:
    """The only key of a response that is a text; empty: it is something else."""
    for key in _TEXTS if isinstance(response, Mapping) and len(response) == 1 else ():
        if isinstance(response.get(key), str):
            return key
    return ""


def _response_text(response: Any) -> str:
    key = _text_key(response)
    return text_content(response[key]).text if key else compact_json(response)


def _which(part: Json, keys: Sequence[str]) -> str:
    return next((key for key in keys if isinstance(part.get(key), Mapping)), "")


def _named(body: Json, what: str) -> Json:
    if not isinstance(body.get("name"), str):
        raise BadInput(f"has a function {what} without a name")
    return body


def _rewrite(content: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    parts = []
    for slot, part in enumerate(content["parts"]):
        key = _which(part, _RESPONSE)
        if slot in texts:
            text_key = _text_key(part[key].get("response")) or _TEXTS[0]
            parts.append({**part, key: {**part[key], "response": {text_key: texts[slot]}}})
        else:
            parts.append(part)
    return {**content, "parts": parts}


def _note(text: str, role: EntryRole) -> dict[str, Any]:
    return {"role": "user" if role == "user" else "model", "parts": [{"text": text}]}


GEMINI = MessageForm(name="gemini", read=_read_content, rewrite=_rewrite, note=_note)
"""The `contents` of the Gemini API."""
