"""pydantic-ai: the message history of each model request fits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_json

from foveate.integrations.compaction import CompactionOptions, chat_call, compact_items, tool_schema
from foveate.integrations.known_options import refuse_unknown_options


@refuse_unknown_options
@dataclass(kw_only=True, eq=False)
class FoveateCompaction(CompactionOptions, AbstractCapability[Any]):  # type: ignore[misc]
    """A capability that fits each request; the run's history keeps all messages.

    The instructions and the schemas of the tools count within the budget. `ProcessHistory(fit)`
    uses it as a history processor instead, which replaces the history by the shorter one and
    counts neither.
    """

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """The request with the messages that fit; raises as `foveate.compact` does."""
        asked = request_context.model_request_parameters
        beside: list[Mapping[str, Any]] = [
            tool_schema(tool.name, tool.description, tool.parameters_json_schema)
            for tool in (*asked.function_tools, *asked.output_tools)
        ]
        beside += [{"instructions": part.content} for part in asked.instruction_parts or ()]
        known = request_context.messages
        request_context.messages = await asyncio.to_thread(self._fit, known, beside)
        return request_context

    def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """The messages that fit, for `ProcessHistory`."""
        return self._fit(messages, ())

    def _fit(
        self, messages: Sequence[ModelMessage], beside: Iterable[Mapping[str, Any]]
    ) -> list[ModelMessage]:
        pieces = [piece for message in messages for piece in _pieces(message)]
        fitted = compact_items(
            self,
            pieces,
            form="openai",
            read=_to_json,
            write=_from_json,
            beside=beside,
            pinned=[place for place, piece in enumerate(pieces) if piece.must_stay],
        )
        return list(_joined(fitted))


class _Piece(NamedTuple):
    """A part of a request, or a message as a whole where `part` is None."""

    message: ModelMessage
    part: Any = None

    @property
    def must_stay(self) -> bool:
        """It stands for more than its text: a provider's compaction, a result with a type."""
        parts = self.message.parts if self.part is None else (self.part,)
        return any(
            isinstance(part, CompactionPart)
            or (isinstance(part, ToolReturnPart) and type(part) is not ToolReturnPart)
            for part in parts
        )


def _pieces(message: ModelMessage) -> list[_Piece]:
    if isinstance(message, ModelResponse) or not message.parts:
        return [_Piece(message)]
    return [_Piece(message, part) for part in message.parts]


def _joined(pieces: Iterable[_Piece]) -> Iterator[ModelMessage]:
    """The messages of the pieces; one of which every piece stayed is the object that came."""
    for _, run in groupby(pieces, key=lambda piece: id(piece.message)):
        found = list(run)
        message, parts = found[0].message, [piece.part for piece in found]
        whole = parts == [None] or (
            len(parts) == len(message.parts)
            and all(a is b for a, b in zip(parts, message.parts, strict=True))
        )
        yield message if whole else replace(message, parts=parts)


def _to_json(piece: _Piece, place: int) -> dict[str, Any]:
    """A piece in the form of OpenAI's chat, as far as it is counted and matched."""
    part = piece.part
    if isinstance(piece.message, ModelResponse):
        return _response_to_json(piece.message)
    if part is None:
        return {"role": "user", "content": ""}
    if isinstance(part, ToolReturnPart):
        texts = [part.model_response_str(wrap_if_error=False)]
        content = list(map(_content, [*texts, *part.files]))
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if getattr(part, "tool_name", None):  # a retry as it was spelled before results had outcomes
        content = [_content(part.model_response())]
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if isinstance(part, UserPromptPart):
        content = part.content
        known = [content] if isinstance(content, str) else content
        return {"role": "user", "content": list(map(_content, known))}
    if isinstance(part, RetryFeedbackPart):
        return {"role": "user", "content": part.model_response()}
    found = getattr(part, "content", None)  # instructions and records of them stay as they are
    return {"role": "system", "content": found if isinstance(found, str) else _dumped(part)}


def _response_to_json(response: ModelResponse) -> dict[str, Any]:
    parts = response.parts
    calls = [
        chat_call(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in parts
        if isinstance(part, ToolCallPart)
    ]
    texts = [part.content for part in parts if isinstance(part, TextPart | ThinkingPart)]
    known = (ToolCallPart, TextPart, ThinkingPart)
    others = [_dumped(part) for part in parts if not isinstance(part, known)]
    found: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts)}
    if calls:
        found["tool_calls"] = calls
    if others:
        found["parts"] = others
    return found


def _content(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, TextContent):
        return {"type": "text", "text": item.content}
    if isinstance(item, ImageUrl | BinaryContent):
        url = item.url if isinstance(item, ImageUrl) else item.data_uri
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": _dumped(item)}


def _dumped(part: Any) -> str:
    return to_json(part, bytes_mode="base64", fallback=str).decode()


def _from_json(known: _Piece | None, message: Mapping[str, Any]) -> _Piece:
    content = message["content"]
    if known is None and message["role"] == "assistant":
        return _Piece(ModelResponse([TextPart(content)]))
    if known is None:
        return _Piece(made := ModelRequest([UserPromptPart(content)]), made.parts[0])
    text = content[0]["text"]
    files = known.part.files if isinstance(known.part, ToolReturnPart) else ()
    return known._replace(part=replace(known.part, content=[text, *files] if files else text))
