"""Requests held against the providers' own types: nothing missing, nothing of the wrong kind.

And nothing beyond: a key that a type does not know would be dropped by it, so what it reads must be
equal to what was sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel, TypeAdapter

HAS_GOOGLE = find_spec("google") is not None and find_spec("google.genai") is not None
"""Whether Google's types are here: they are in the environment of `make newest`."""


@cache
def _adapter(provider: str) -> TypeAdapter[Any]:
    if provider == "anthropic":
        from anthropic.types import MessageParam, TextBlockParam
        from typing_extensions import TypedDict

        class Request(TypedDict, total=False):
            system: str | list[TextBlockParam]
            messages: list[MessageParam]

        return TypeAdapter(Request)
    if provider == "tool result":
        from anthropic.types import ToolResultBlockParam

        return TypeAdapter(ToolResultBlockParam)
    if provider == "openai list":
        from openai.types.chat import ChatCompletionMessageParam

        return TypeAdapter(list[ChatCompletionMessageParam])
    if provider == "responses list":
        from openai.types.responses import ResponseInputItemParam

        return TypeAdapter(list[ResponseInputItemParam])
    if provider == "anthropic list":
        from anthropic.types.beta import BetaMessageParam

        return TypeAdapter(list[BetaMessageParam])
    if provider == "gemini list":
        from google.genai.types import Content

        return TypeAdapter(list[Content])
    if provider == "responses":
        from openai.types.responses import EasyInputMessageParam

        return TypeAdapter(list[EasyInputMessageParam])
    from openai.types.chat import ChatCompletionSystemMessageParam, ChatCompletionUserMessageParam

    return TypeAdapter(list[ChatCompletionSystemMessageParam | ChatCompletionUserMessageParam])


def check_request(provider: str, request: Any) -> None:
    """The request is one of this provider's: a message's or a whole list's."""
    read = _whole(_adapter(provider).validate_python(request))
    assert read == request


def _whole(value: Any) -> Any:
    """The value with what is validated only when it is walked over."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: _whole(one) for key, one in value.items()}
    if isinstance(value, Iterable):
        return [_whole(one) for one in value]
    return value
