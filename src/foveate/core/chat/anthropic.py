"""Turns from Anthropic messages, and messages back in that form, with cache breakpoints.

`tool_use` blocks and the `tool_result` blocks that answer them are one turn; text behind results is
the next turn. Breakpoints of incoming messages are removed and set again (SPEC W4).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from foveate.core.chat.turns import (
    SYSTEM_ROLES,
    Message,
    Role,
    ToolCall,
    ToolResult,
    Turn,
    build_turn,
    join_lines,
    message_error,
)
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, unknown_fields_json

MAX_BREAKPOINTS = 4
"""Cache breakpoints in one request."""

CACHE_CONTROL = "cache_control"
OPAQUE_BLOCKS = ("thinking", "redacted_thinking")
"""Blocks that are no text and go back as they came; they are counted as JSON."""

Blocks = list[dict[str, Any]]


def turns_from_anthropic(
    messages: Iterable[Mapping[str, Any]], system: str | Sequence[Mapping[str, Any]] = ""
) -> tuple[Turn, ...]:
    """The turns; raises `BadInput` naming the message that is wrong. `system` comes first."""
    found: list[Turn] = []
    if system:
        found.append(_plain_turn("system", _parse_blocks(system, 0), 0))
    known = list(messages)
    waiting: tuple[Blocks, tuple[ToolCall, ...]] | None = None
    for number, message in enumerate(known, 1):
        role, blocks = _parse_role(message, number), _parse_blocks(message.get("content"), number)
        if waiting is not None:
            turn, blocks = _tool_turn(waiting, role, blocks, number)
            found.append(turn)
            waiting = None
        if not blocks:
            continue
        calls = tuple(_parse_call(b, number) for b in blocks if b["type"] == "tool_use")
        if calls and role != "assistant":
            raise message_error(number, "has a tool_use, which only the assistant may")
        if calls:
            waiting = (blocks, calls)
        else:
            found.append(_plain_turn(role, blocks, number))
    if waiting is not None:
        raise message_error(
            len(known), "calls a tool and has no result; give every call its result"
        )
    return tuple(found)


def _tool_turn(
    waiting: tuple[Blocks, tuple[ToolCall, ...]], role: Role, blocks: Blocks, number: int
) -> tuple[Turn, Blocks]:
    lead, calls = waiting
    given = [b for b in blocks if b["type"] == "tool_result"] if role == "user" else []
    text, extra = _parse_content(lead, number - 1)
    turn = build_turn(
        number,
        role="assistant",
        text=text,
        calls=calls,
        results=tuple(_parse_result(b, number) for b in given),
        extra=extra,
        original=compact_json([{"role": "assistant", "content": lead}, *given]),
        form="anthropic",
    )
    return turn, [b for b in blocks if b["type"] != "tool_result"]


def _plain_turn(role: Role, blocks: Blocks, number: int) -> Turn:
    if any(b["type"] == "tool_result" for b in blocks):
        raise message_error(
            number, "is a tool's result without a call right before it; keep the two"
        )
    text, extra = _parse_content(blocks, number)
    content: Any = blocks
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        content = blocks[0]["text"]
    original = compact_json([{"role": role, "content": content}])
    return build_turn(
        number, role=role, text=text, extra=extra, original=original, form="anthropic"
    )


def _parse_role(message: Any, number: int) -> Role:
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in ("user", "assistant"):
        raise message_error(number, f"has the role {role!r}; use user or assistant")
    return cast("Role", role)


def _parse_blocks(content: Any, number: int) -> Blocks:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, Sequence) or not all(
        isinstance(b, Mapping) and isinstance(b.get("type"), str) for b in content
    ):
        raise message_error(
            number, "must have a content: a string, or a list of blocks with a type"
        )
    return [_strip_breakpoints(block) for block in content]


def _strip_breakpoints(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block without breakpoints, its own and those of the blocks in it; a tool's input stays."""
    found = {key: value for key, value in block.items() if key != CACHE_CONTROL}
    content = found.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        found["content"] = [_strip_breakpoints(b) if isinstance(b, Mapping) else b for b in content]
    return found


def _parse_content(blocks: Blocks, number: int) -> tuple[str, str]:
    texts, others = [], []
    for block in blocks:
        if block["type"] == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
            others.append(unknown_fields_json(block, "type", "text"))
        elif block["type"] in OPAQUE_BLOCKS:
            others.append(compact_json(block))
        elif block["type"] == "tool_use":
            others.append(unknown_fields_json(block, "type", "id", "name", "input"))
        else:
            kind = block["type"]
            raise message_error(
                number, f"has a block {kind!r} whose tokens cannot be counted; take it out"
            )
    return "\n".join(texts), join_lines(*others)


def _parse_call(block: Mapping[str, Any], number: int) -> ToolCall:
    try:
        return ToolCall(id=block["id"], name=block["name"], arguments=compact_json(block["input"]))
    except (KeyError, TypeError):
        raise message_error(number, "has a tool_use without id, name or input") from None
    except BadInput as error:
        raise message_error(number, f"has a tool_use whose {error}") from None


def _parse_result(block: Mapping[str, Any], number: int) -> ToolResult:
    name = block.get("tool_use_id")
    if not isinstance(name, str):
        raise message_error(number, "has a tool_result without a tool_use_id")
    text, inner = _parse_content(_parse_blocks(block.get("content") or "", number), number)
    extra = join_lines(
        unknown_fields_json(block, "type", "tool_use_id", "content", "is_error"), inner
    )
    return ToolResult(call_id=name, text=text, error=bool(block.get("is_error")), extra=extra)


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
