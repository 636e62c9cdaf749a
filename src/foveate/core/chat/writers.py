"""Messages as OpenAI's and Anthropic's clients take them, with cache breakpoints (SPEC W4).

A message that came in the form that is written goes back as it came. Breakpoints of incoming
messages are removed and set again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foveate.core.chat.turns import Front, Message, tool_call_to_json
from foveate.core.compact.entries import Entry, ToolCall, refuse

MAX_BREAKPOINTS = 4
"""Cache breakpoints in one request."""
CACHE_CONTROL = "cache_control"

Blocks = list[dict[str, Any]]
Request = dict[str, Any]


def openai_messages(messages: Iterable[Message]) -> list[Request]:
    """Messages as any OpenAI-compatible client takes them."""
    return [written for message in messages for written in _openai(message)]


def _openai(message: Message) -> Iterator[Request]:
    entry = message.entry
    if message.form == "openai":
        written = [dict(message.source)]
    else:
        _refuse_media(message)
        written = [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            for result in entry.results
        ]
        if entry.said or entry.calls or not written:
            said: Request = {"role": _role(entry), "content": entry.said}
            if entry.calls:
                said["tool_calls"] = [tool_call_to_json(call) for call in entry.calls]
            written.append(said)
    if message.front:
        written[0]["content"] = _join_front(message.front, written[0]["content"])
    yield from written


def _join_front(front: Sequence[Front], content: Any) -> Any:
    if isinstance(content, str) and not any(one.parts for one in front):
        return "\n\n".join(filter(None, [*(one.text for one in front), content]))
    return [*_front_blocks(front, grown=False), *_content_to_blocks(content)]


def _front_blocks(front: Sequence[Front], *, grown: bool) -> Blocks:
    """The texts as blocks; `grown`: each in the pieces in which it grew."""
    blocks: Blocks = []
    for one in front:
        texts = one.segments if grown else (one.text,)
        blocks += json.loads(one.text) if one.parts else [_text_block(text) for text in texts]
    return blocks


def anthropic_messages(messages: Iterable[Message]) -> Request:
    """`{"system": …, "messages": […]}` for Anthropic; roles alternate, no text is blank."""
    system: Blocks = []
    found: list[Request] = []
    for message in messages:
        role, content = _anthropic(message)
        content = _drop_blank_text(content)
        if message.front:
            content = [*_front_blocks(message.front, grown=True), *_content_to_blocks(content)]
        if not content:
            continue
        if role == "system":
            system += _content_to_blocks(content)
        elif found and found[-1]["role"] == role:
            before = found[-1]["content"]
            found[-1]["content"] = [*_content_to_blocks(before), *_content_to_blocks(content)]
        else:
            found.append({"role": role, "content": content})
    return {"system": system, "messages": found} if system else {"messages": found}


def _anthropic(message: Message) -> tuple[str, Any]:
    entry = message.entry
    if message.form == "anthropic":
        content = message.source.get("content")
        if not isinstance(content, str):
            content = [_strip_breakpoints(block) for block in content or ()]
        return message.role, content
    _refuse_media(message)
    if not entry.calls and not entry.results:
        return _role(entry), entry.said
    blocks: Blocks = [
        {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
        for result in entry.results
    ]
    blocks += [_text_block(entry.said)] if entry.said else []
    blocks += [_format_call(call) for call in entry.calls]
    return _role(entry), blocks


def _role(entry: Entry) -> str:
    return entry.role if entry.role in ("system", "assistant") else "user"


def _refuse_media(message: Message) -> None:
    if message.media:
        what = f"holds an image or a file, which is sent in its own form alone ({message.form})"
        raise refuse(message.entry.index, what)


def _format_call(call: ToolCall) -> Request:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):  # what a model wrote need not be an object
        given = {"arguments": call.arguments}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _text_block(text: str) -> Request:
    return {"type": "text", "text": text}


def _content_to_blocks(content: Any) -> Blocks:
    if isinstance(content, str):
        return [_text_block(content)] if content else []
    return list(content or ())


def _drop_blank_text(content: Any) -> Any:
    if isinstance(content, str):
        return content if content.strip() else ""
    return [block for block in content if block.get("type") != "text" or block["text"].strip()]


def _strip_breakpoints(block: Mapping[str, Any]) -> Request:
    """A block without breakpoints, its own and those of the blocks in it; a tool's input stays."""
    found = {key: value for key, value in block.items() if key != CACHE_CONTROL}
    content = found.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        found["content"] = [_strip_breakpoints(b) if isinstance(b, Mapping) else b for b in content]
    return found


def add_cache_breakpoints(request: Request, places: Iterable[tuple[int, int]]) -> Request:
    """The request with at most four cache breakpoints behind blocks; a place is (message, block).

    Message -1 is the system prompt, block -1 the last one.
    """
    for message, block in sorted(set(places))[:MAX_BREAKPOINTS]:
        if message < 0:
            blocks = request["system"]
        else:
            known = request["messages"][message]
            blocks = known["content"] = _content_to_blocks(known["content"])
        blocks[block] = {**blocks[block], CACHE_CONTROL: {"type": "ephemeral"}}
    return request
