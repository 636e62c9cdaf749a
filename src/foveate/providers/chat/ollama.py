"""A model on an Ollama server: `ollama:MODEL` at `OLLAMA_HOST`, or `ollama:MODEL@URL`.

Ollama's own protocol and not the OpenAI one that it speaks too, because only there the size of
the context can be said: Ollama silently cuts what does not fit, 4,096 tokens by default.
https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from foveate.core.errors import MissingExtra
from foveate.ports import Reply, Usage, text_from_content
from foveate.providers.chat.http_client import (
    OWN_KEY,
    AttemptInfo,
    ProviderError,
    broken_stream_error,
    check_address,
    connection_error,
    http_options,
    protocol_error,
    read_key,
    status_error,
    truncated_error,
)
from foveate.providers.chat.request import ChatRequest, parse_count, parse_text

_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}
_MIN_CONTEXT = 4096
_MESSAGE_OVERHEAD = 16
"""Tokens that a model's chat format adds to a message, at the most."""


class OllamaProvider:
    """Streams one answer, line by line."""

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._has_own_url = bool(url)
        self._url = url or _read_host()

    @property
    def name(self) -> str:
        """`ollama:`, the model, and the address where one was given."""
        return f"ollama:{self._model}" + (f"@{self._url}" if self._has_own_url else "")

    @property
    def address(self) -> str:
        """The address, where the name does not say it."""
        return "" if self._has_own_url else (self._url or "127.0.0.1:11434")

    @property
    def at_home(self) -> bool:
        """No: nobody publishes what it costs."""
        return False

    @property
    def takes(self) -> frozenset[str]:
        """None: a message is a text."""
        return frozenset()

    @property
    def scores(self) -> bool:
        """No: the protocol has no way to ask for it."""
        return False

    def key(self) -> str:
        """A server of one's own has none; Ollama's hosted models do."""
        return read_key(OWN_KEY if self._has_own_url else "OLLAMA_API_KEY")

    def check(self) -> None:
        """The vendor's client; a server of one's own wants no key."""
        try:
            import ollama  # noqa: F401
        except ImportError:
            raise MissingExtra("ollama", "ollama") from None

    def load(self) -> None:
        """Nothing takes long."""

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """One attempt."""
        import httpx
        from ollama import AsyncClient

        key, seen = self.key(), AttemptInfo()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        wire = http_options(
            httpx, connect=asked.connect, seen=seen, headers=headers, own=self._has_own_url
        )
        said: list[str] = []
        trouble: ProviderError | None = None
        last: Any = None
        async with AsyncClient(self._url or None, **wire) as client:
            try:
                async with aclosing(await client.chat(**self._options(asked))) as parts:
                    async for last in parts:
                        text = parse_text(last.message.content)
                        said += [text] if text else []
                        yield text
            except Exception as error:  # noqa: BLE001  # every kind becomes trouble, below
                trouble = _convert_error(error, seen)
        if trouble is not None:
            raise trouble
        if last is None or not last.done:
            raise truncated_error()
        yield self._build_reply("".join(said), last)

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

    def _build_reply(self, text: str, last: Any) -> Reply:
        return Reply(
            text=text,
            finish=_FINISH.get(last.done_reason or "stop", "other"),
            usage=Usage(
                prompt=parse_count(last.prompt_eval_count), completion=parse_count(last.eval_count)
            ),
            model=last.model or self._model,
        )


def _read_host() -> str:
    """`OLLAMA_HOST`, which may leave out the scheme and the port: the client adds them."""
    host = os.environ.get("OLLAMA_HOST", "").strip()
    if host:
        check_address(host if "://" in host else f"http://{host.removeprefix(':') or 'localhost'}")
    return host


def context_size(asked: ChatRequest) -> int:
    """Room for prompt and answer, a power of two: for each new size the server loads anew.

    A byte is a token: prose has three to five bytes a token, but digits, hexadecimals and tables
    come near to one, no vocabulary has less than one, and which one it is is not known here. What
    is too much costs memory; what is too little would be cut out of the prompt without a word. The
    server itself does not go beyond what the model was trained for.
    """
    size = sum(
        len(text_from_content(message["content"]).encode()) + _MESSAGE_OVERHEAD
        for message in asked.messages
    )
    return max(_MIN_CONTEXT, 1 << (size + asked.max_tokens - 1).bit_length())


def _convert_error(error: Exception, seen: AttemptInfo) -> ProviderError:
    """The vendor's errors, ours where one comes through."""
    import httpx
    from ollama import ResponseError

    if isinstance(error, ProviderError):
        return error
    if isinstance(error, ResponseError):
        # An error in the middle of a stream has no status.
        if error.status_code < 0:
            return broken_stream_error(error.error, seen)
        return status_error(error.status_code, error.error, seen)
    if isinstance(error, httpx.RequestError | httpx.InvalidURL | ConnectionError):
        return connection_error(error, seen)
    return protocol_error(f"sent what is no chat answer ({type(error).__name__}: {error})", seen)
