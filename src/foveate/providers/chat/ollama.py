"""A model on an Ollama server: `ollama:MODEL` at `OLLAMA_HOST`, or `ollama:MODEL@URL`.

Ollama's own protocol, because only there the size of the context can be set: Ollama silently cuts
what does not fit, 4,096 tokens by default.
https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

from foveate.ports import Reply, Usage, text_from_content
from foveate.providers.chat.http_client import (
    AttemptInfo,
    ProviderError,
    broken_stream_error,
    ollama_url,
    status_error,
)
from foveate.providers.chat.http_provider import HttpProvider, Vendor
from foveate.providers.chat.request import ChatRequest, parse_count, parse_text

_OLLAMA = Vendor(
    name="ollama",
    client="ollama",
    http="httpx",
    key_variable="OLLAMA_API_KEY",
    answer="chat answer",
    finish={"stop": "stop", "length": "length"},
)
_MIN_CONTEXT = 4096
_MESSAGE_OVERHEAD = 16
"""Tokens that a model's chat format adds to a message, at the most."""


class OllamaProvider(HttpProvider):
    """Streams one answer, line by line; your own server needs no key."""

    vendor = _OLLAMA

    def _default_url(self) -> str:
        return ollama_url()

    def _connect(self, key: str, options: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
        from ollama import AsyncClient

        client: AbstractAsyncContextManager[Any] = AsyncClient(self._url, **options)
        return client

    async def _stream(
        self, client: Any, asked: ChatRequest, seen: AttemptInfo
    ) -> AsyncGenerator[str | Reply, None]:
        texts: list[str] = []
        last: Any = None
        async with aclosing(await client.chat(**self._options(asked))) as parts:
            async for last in parts:
                texts.append(parse_text(last.message.content))
                yield texts[-1]
        finish = (last.done_reason or "stop") if last is not None and last.done else ""
        usage = Usage(
            prompt=parse_count(getattr(last, "prompt_eval_count", None)),
            completion=parse_count(getattr(last, "eval_count", None)),
        )
        yield self._reply(texts, finish, usage, getattr(last, "model", "") or self._model)

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": list(asked.messages),
            "stream": True,
            "options": {
                "num_predict": asked.max_tokens,
                "num_ctx": context_size(asked),
                "temperature": asked.temperature,
                **({"stop": list(asked.stop)} if asked.stop else {}),
            },
        }

    def _convert_client_error(self, error: Exception, seen: AttemptInfo) -> ProviderError | None:
        from ollama import ResponseError

        if not isinstance(error, ResponseError):
            return None
        if error.status_code < 0:  # in the middle of a stream
            return broken_stream_error(error.error, seen)
        return status_error(error.status_code, error.error, seen)


def context_size(asked: ChatRequest) -> int:
    """Room for prompt and answer, a power of two: the server loads the model again for a new size.

    A byte counts as a token: no vocabulary has more tokens than bytes, and too little would be cut.
    """
    size = sum(
        len(text_from_content(message["content"]).encode()) + _MESSAGE_OVERHEAD
        for message in asked.messages
    )
    return max(_MIN_CONTEXT, 1 << (size + asked.max_tokens - 1).bit_length())
