"""Anthropic messages as entries: calls and results are blocks, results in messages of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foveate.core.compact.content import (
    Content,
    Piece,
    build_entry,
    build_result,
    check_role,
    content_parts,
    read_content,
    read_part,
    result_with_text,
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
from foveate.core.json_text import spaced_json, unknown_fields_json

_ROLES: dict[str, EntryRole] = {"user": "user", "assistant": "assistant", "system": "system"}


def _read_message(index: int, message: Json, names: Mapping[str, str]) -> Entry:
    given = check_role(message)

    def pieces() -> Iterator[Piece]:
        for slot, block in enumerate(content_parts(message.get("content"))):
            kind = block.get("type") if isinstance(block, Mapping) else None
            if kind == "tool_use":
                yield from _read_call(block)
            elif kind == "tool_result":
                yield _read_result(block, slot, names)
            else:
                yield read_part(block)

    rest = unknown_fields_json(message, "role", "content")
    return build_entry(index, _ROLES.get(given), given, pieces(), rest)


def _read_call(block: Json) -> Iterator[Piece]:
    call_id, name = block.get("id"), block.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise BadInput("has a tool_use without id or name")
    given = block.get("input", {})
    arguments = given if isinstance(given, str) else spaced_json(given)
    yield ToolCall(id=call_id, name=name, arguments=arguments)
    yield Content(rest=(unknown_fields_json(block, "type", "id", "name", "input"),))


def _read_result(block: Json, slot: int, names: Mapping[str, str]) -> Result:
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        raise BadInput("has a tool_result without a tool_use_id")
    content = read_content(block.get("content"))
    rest = unknown_fields_json(block, "type", "tool_use_id", "content", "is_error")
    return build_result(call_id, content, name=names.get(call_id, ""), rest=rest, slot=slot)


def _rewrite(message: Json, texts: Mapping[int, str]) -> dict[str, Any]:
    blocks = [
        {**block, "content": result_with_text(block.get("content"), texts[slot])}
        if slot in texts
        else block
        for slot, block in enumerate(content_parts(message["content"]))
    ]
    return {**message, "content": blocks}


ANTHROPIC = MessageForm(name="anthropic", read=_read_message, rewrite=_rewrite, note=plain_note)
"""The Messages API."""
