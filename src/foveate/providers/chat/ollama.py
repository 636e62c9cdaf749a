"""A model on an Ollama server: `ollama:MODEL` at `OLLAMA_HOST`, or `ollama:MODEL@URL`.

Ollama's own protocol, because only there the size of the context can be set: Ollama silently cuts
what does not fit, 4,096 tokens by default.
https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from foveate.ports import Reply, Usage, text_from_content
from foveate.providers.chat.http_client import ollama_url
from foveate.providers.chat.http_provider import Connection, HttpProvider, Vendor
from foveate.providers.chat.request import ChatRequest, parse_count, parse_text

_OLLAMA = Vendor(
    name="ollama",
    path="/api/chat",
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

    def _payload(self, line: bytes) -> bytes:
        return line.strip()

    async def _stream(
        self, connection: Connection, asked: ChatRequest
    ) -> AsyncGenerator[str | Reply, None]:
        texts: list[str] = []
        last: dict[str, Any] = {}
        async with aclosing(self._events(connection, asked)) as events:
            async for last in events:
                texts.append(parse_text((last.get("message") or {}).get("content")))
                yield texts[-1]
        finish = (parse_text(last.get("done_reason")) or "stop") if last.get("done") else ""
        usage = Usage(
            prompt=parse_count(last.get("prompt_eval_count")),
            completion=parse_count(last.get("eval_count")),
        )
        yield self._reply(texts, finish, usage, parse_text(last.get("model")) or self._model)

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


def context_size(asked: ChatRequest) -> int:
    """Room for prompt and answer, a power of two: the server loads the model again for a new size.

    A byte counts as a token: no vocabulary has more tokens than bytes, and too little would be cut.
    """
    size = sum(
        len(text_from_content(message["content"]).encode()) + _MESSAGE_OVERHEAD
        for message in asked.messages
    )
    return max(_MIN_CONTEXT, 1 << (size + asked.max_tokens - 1).bit_length())
