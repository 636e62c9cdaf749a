"""Anthropic messages as entries: calls and results are blocks, results in messages of the user."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from foveate.core.compact.content import Content, read_content, read_part, refuse, text_with_content
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

_ROLES: dict[str, EntryRole] = {"user": "user", "assistant": "assistant", "system": "system"}
_CALLS = ("tool_use",)
_THINKING = ("thinking", "redacted_thinking")


def _parse_message(index: int, message: Json, names: Mapping[str, str]) -> Entry:
    given = message.get("role")
    if not isinstance(given, str):
        raise refuse(index, "must have a role")
    content = message.get("content")
    blocks = (
        content if isinstance(content, Sequence) and not isinstance(content, str) else [content]
    )
    calls: list[Call] = []
    results: list[Result] = []
    said: list[Content] = []
    block: Any
    for slot, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind in _CALLS:
            calls.append(_parse_call(block, index))
        elif kind == "tool_result":
            results.append(_parse_result(block, slot, index, names))
        else:
            said.append(_read_block(block, index))
    rest = unknown_fields_json(message, "role", "content")
    role = _ROLES.get(given, "other")
    kinds = tuple(kind for part in said for kind in part.kinds)
    return Entry(
        index=index,
        role="tool" if results else role,
        said="\n".join(part.text for part in said if part.text),
        calls=tuple(calls),
        results=tuple(results),
        others=(*(o for part in said for o in part.others), *([rest] if rest else [])),
        extra=sum(part.extra for part in said),
        kinds=kinds if role != "other" else (f"role {given}", *kinds),
        carried=role == "other" or "compaction" in kinds,
    )


def _read_block(block: Any, index: int) -> Content:
    if block is None:
        return Content("")
    if isinstance(block, Mapping) and block.get("type") in _THINKING:
        return Content("", (compact_json(block),), 0, (str(block["type"]),))
    found = read_part(block, index)
    rest = unknown_fields_json(block, "type", "text") if isinstance(block, Mapping) else ""
    return found._replace(others=(rest,)) if found.text and rest else found


def _parse_call(block: Json, index: int) -> Call:
    call_id, name = block.get("id"), block.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise refuse(index, "has a tool_use without id or name")
    given = block.get("input", {})
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return Call(id=call_id, name=name, arguments=arguments)


def _parse_result(block: Json, slot: int, index: int, names: Mapping[str, str]) -> Result:
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        raise refuse(index, "has a tool_result without a tool_use_id")
    content = read_content(block.get("content"), index)
    return Result(
        call_id=call_id,
        text="\n".join(filter(None, [content.text, *content.others])),
        name=names.get(call_id, ""),
        slot=slot,
        extra=content.extra,
        kinds=content.kinds,
    )


def _rewrite(message: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    blocks = [
        {**block, "content": text_with_content(block.get("content"), texts[slot])}
        if slot in texts
        else block
        for slot, block in enumerate(message["content"])
    ]
    return {**message, "content": blocks}


ANTHROPIC = MessageForm(
    name="anthropic",
    parse=partial(parse_in_order, _parse_message),
    rewrite=_rewrite,
    note=user_note,
)
"""The Messages API."""
