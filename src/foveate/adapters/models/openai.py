"""Any endpoint that speaks OpenAI's chat completions: theirs, vLLM, llama.cpp, LM Studio, others.

`openai:MODEL` asks `OPENAI_BASE_URL` (or OpenAI) with `OPENAI_API_KEY`; `openai:MODEL@URL` asks
the URL with `FOVEATE_MODEL_KEY`, or without a key: a key is not sent to where it does not belong.
https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from foveate.adapters.models.asked import Asked, Scored
from foveate.adapters.models.dictated import CannotSay, options_for, scored, tokens_at
from foveate.adapters.models.sent import count_in, text_in
from foveate.adapters.models.tools import TOOLS
from foveate.adapters.models.trouble import (
    Seen,
    Trouble,
    broken,
    cut_off,
    odd,
    refused,
    unreachable,
)
from foveate.adapters.models.wire import (
    OWN_KEY,
    check_address,
    http_options,
    key_in,
    refuse_keyless,
)
from foveate.core.errors import MissingExtra
from foveate.ports import Reply, Usage

_HOME = "https://api.openai.com/v1"
_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}
_OPTIONAL = frozenset({"temperature", "max_tokens", "stop", "stream_options"})
_NOT_TAKEN = frozenset({"unsupported_parameter", "unsupported_value"})


class OpenAISpeaker:
    """Streams one answer; the usage comes last."""

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._own = bool(url)
        self._refused: frozenset[str] = frozenset()  # options that this model does not take
        self._url = url or check_address(os.environ.get("OPENAI_BASE_URL") or _HOME)
        # whether it says how likely a given text is; None until it is asked
        self._says: bool | None = False if self._url == _HOME else None

    @property
    def name(self) -> str:
        """`openai:`, the model, and the address where one was given."""
        return f"openai:{self._model}" + (f"@{self._url}" if self._own else "")

    @property
    def where(self) -> str:
        """The address, where the name does not say it."""
        return "" if self._own else self._url

    @property
    def at_home(self) -> bool:
        """Not at an address of one's own, nor where the environment points elsewhere."""
        return self._url == _HOME

    @property
    def takes(self) -> frozenset[str]:
        """Text parts; calls of tools and their results."""
        return frozenset({"text", TOOLS})

    @property
    def scores(self) -> bool | None:
        """Not at OpenAI; a server of one's own may, which asking it shows (`dictated`)."""
        return self._says

    def key(self) -> str:
        """Read when it is used, and kept nowhere."""
        return key_in(self._variable)

    @property
    def _variable(self) -> str:
        return OWN_KEY if self._own else "OPENAI_API_KEY"

    def check(self) -> None:
        """The vendor's client, with what it loads at first use; the provider's key."""
        try:
            import openai.resources.chat.completions  # noqa: F401
        except ImportError:
            raise MissingExtra("openai", "openai") from None
        if self._url == _HOME:
            refuse_keyless(self.name, self._variable)

    def ready(self) -> None:
        """Nothing takes long."""

    async def speak(self, asked: Asked) -> AsyncGenerator[str | Reply, None]:
        """One attempt; what a model does not take is left out, and it is asked again at once."""
        import httpx2
        from openai import AsyncOpenAI

        key, seen = self.key(), Seen()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        wire = http_options(
            httpx2, connect=asked.connect, seen=seen, headers=headers, own=self._own
        )
        http = httpx2.AsyncClient(**wire)
        async with AsyncOpenAI(
            api_key=key or "none", base_url=self._url, max_retries=0, http_client=http
        ) as client:
            if asked.forced:
                yield await self._scored(client.chat.completions.create, http, asked, seen)
                return
            stream = await self._opened(client.chat.completions.create, asked, seen)
            async with stream, aclosing(_pieces(stream, self._model, seen)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _scored(self, create: Any, http: Any, asked: Asked, seen: Seen) -> Scored:
        """How likely the text is that was dictated; nothing where this server cannot say."""
        trouble: Trouble | None = None
        try:
            tokens = await tokens_at(http, self._url, asked.forced, seen)
            if tokens is not None:
                options = {**self._options(asked), **options_for(tokens)}
                async with await create(**options) as stream:
                    found = await scored(stream, tokens, _usage)
                self._says = True
                return found
        except CannotSay:
            self._says = False
        except Exception as error:  # noqa: BLE001
            trouble = _trouble(error, seen)
        if trouble is not None:
            raise trouble
        return Scored(text="")

    async def _opened(self, create: Any, asked: Asked, seen: Seen) -> Any:
        """The stream, once the model takes what it is asked; raises `Trouble`."""
        while True:
            options = self._options(asked)
            try:
                return await create(**options)
            except _kinds() as error:
                trouble, refused_one = _trouble(error, seen), _not_taken(error, options)
            if not refused_one:
                raise trouble
            self._refused = self._refused | {refused_one}

    def _options(self, asked: Asked) -> dict[str, Any]:
        """OpenAI's own models take `max_completion_tokens`, other servers know `max_tokens`."""
        newer = self._url == _HOME or "max_tokens" in self._refused
        options = {
            "model": self._model,
            "messages": list(asked.messages),
            "temperature": asked.temperature,
            "max_completion_tokens" if newer else "max_tokens": asked.max_tokens,
            "stop": list(asked.stop),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        left_out = self._refused | (frozenset() if asked.stop else {"stop"})
        return {name: value for name, value in options.items() if name not in left_out}


async def _pieces(stream: Any, model: str, seen: Seen) -> AsyncGenerator[str | Reply, None]:
    """What the stream holds; the finish is known before the usage, which may be missing."""
    said: list[str] = []
    finish, usage = "", Usage()
    trouble: Trouble | None = None
    try:
        async for chunk in stream:
            model = text_in(chunk.model) or model
            usage = _usage(chunk.usage) if chunk.usage else usage
            choice = chunk.choices[0] if chunk.choices else None
            text = text_in(choice.delta.content) if choice and choice.delta else ""
            finish = text_in(choice.finish_reason) if choice and not finish else finish
            said += [text] if text else []
            yield text
    except Exception as error:  # noqa: BLE001
        trouble = _trouble(error, seen)
    if trouble is not None:
        raise trouble
    if not finish:
        raise cut_off()
    yield Reply(text="".join(said), finish=_FINISH.get(finish, "other"), usage=usage, model=model)


def _usage(said: Any) -> Usage:
    details = said.prompt_tokens_details
    return Usage(
        prompt=count_in(said.prompt_tokens),
        completion=count_in(said.completion_tokens),
        cached=count_in(details.cached_tokens) if details is not None else None,
    )


def _not_taken(error: Exception, options: Mapping[str, Any]) -> str:
    """The option that this model does not take; empty where that is not what is wrong."""
    from openai import BadRequestError

    if not isinstance(error, BadRequestError) or error.code not in _NOT_TAKEN:
        return ""
    named = error.param or ""
    return named if named in _OPTIONAL and named in options else ""


def _kinds() -> tuple[type[Exception], ...]:
    """What the client raises; anything else is a fault of ours."""
    import httpx2
    import openai

    return (openai.APIError, httpx2.RequestError, httpx2.InvalidURL, Trouble)


def _trouble(error: Exception, seen: Seen) -> Trouble:
    """The vendor's errors, ours where one comes through."""
    import httpx2
    import openai

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, Trouble):
            return inner
        inner = inner.__cause__
    if isinstance(error, openai.APIStatusError):
        return refused(error.status_code, _said(error), seen)
    if isinstance(error, openai.APIConnectionError | httpx2.RequestError | httpx2.InvalidURL):
        return unreachable(error, seen)
    if isinstance(error, openai.APIError):
        return broken(error.message, seen)
    return odd(f"sent what is no chat completion ({type(error).__name__}: {error})", seen)


def _said(error: Any) -> str:
    """The server's own words, without the status that the vendor puts before them."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) else error.response.text
