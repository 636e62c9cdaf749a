"""OpenAI-compatible servers: `openai:MODEL`, or `openai:MODEL@URL` for vLLM, llama.cpp and others.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from math import isfinite
from typing import Any, Literal

from foveate.core.errors import MissingExtra
from foveate.ports import Reply, Usage
from foveate.providers.chat.engine import forcing_options, parse_tokens
from foveate.providers.chat.http_client import (
    OWN_KEY,
    AttemptInfo,
    ProviderError,
    broken_stream_error,
    check_address,
    check_key_set,
    connection_error,
    http_options,
    protocol_error,
    read_key,
    status_error,
    truncated_error,
)
from foveate.providers.chat.request import (
    TOOL_CALLS,
    ChatRequest,
    ScoredReply,
    parse_count,
    parse_text,
)

_UNRELATED_STATUSES = (401, 403, 408, 429, 500, 502, 503, 504)
"""Answers that say nothing of what the server can do."""
_CERTAIN = -1e-6
"""Log-probabilities that are all above it are those of a grammar that leaves no choice."""


class ScoringUnsupported(Exception):
    """This server cannot be told what to write, or does not say how likely it was."""


async def fetch_server_tokens(
    http: Any, url: str, text: str, seen: AttemptInfo
) -> list[int] | None:
    """The server's tokens of the text; None where one ends within a character.

    `url` is that of the chat completions' version; the door is one level up. Raises
    `ScoringUnsupported` where there is no such door, and `ProviderError`.
    """
    import httpx2

    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    try:
        answer = await http.post(f"{url.removesuffix('/v1')}/tokenize", json=asked)
    except httpx2.RequestError as error:
        raise connection_error(error, seen) from None
    except ProviderError:  # a web page
        raise ScoringUnsupported from None
    if answer.status_code in _UNRELATED_STATUSES:
        raise status_error(answer.status_code, answer.text, seen)
    if answer.status_code != 200:
        raise ScoringUnsupported
    try:
        return parse_tokens(answer.json())
    except (ValueError, ProviderError):
        raise ScoringUnsupported from None


def scoring_options(tokens: Sequence[int]) -> dict[str, Any]:
    """What is asked beside the messages, so that these tokens are written."""
    found = forcing_options(tokens)
    grammar = found.pop("grammar")
    return {**found, "extra_body": {"grammar": grammar, "post_sampling_probs": False}}


async def parse_scored_reply(stream: Any, tokens: Sequence[int], usage_of: Any) -> ScoredReply:
    """What the stream says of them; raises `ScoringUnsupported` where it is of something else."""
    found: list[tuple[int | None, float]] = []
    usage, model, finish = Usage(), "", False
    async for chunk in stream:
        usage = usage_of(chunk.usage) if chunk.usage else usage
        model = chunk.model or model
        for choice in chunk.choices[:1]:
            finish = finish or bool(choice.finish_reason)
            said = choice.logprobs.content if choice.logprobs else None
            found += [(_token_id(one), one.logprob) for one in said or ()]
    if not finish:
        raise ProviderError("ended before the answer did; what does its log say?", again=True)
    logprobs = tuple(logprob for _, logprob in found)
    if [number for number, _ in found] != list(tokens) or not all(map(isfinite, logprobs)):
        raise ScoringUnsupported
    if all(p > _CERTAIN for p in logprobs):
        raise ScoringUnsupported
    return ScoredReply(text="", finish="stop", usage=usage, model=model, logprobs=logprobs)


def _token_id(said: Any) -> int | None:
    """The token's number, which this server says beside what the protocol knows."""
    extra: Mapping[str, Any] = said.model_extra or {}
    number = extra.get("id")
    return number if isinstance(number, int) else None


_HOME = "https://api.openai.com/v1"
_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}
_OPTIONAL = frozenset({"temperature", "max_tokens", "stop", "stream_options"})
_REJECTED_CODES = frozenset({"unsupported_parameter", "unsupported_value"})


class OpenAIProvider:
    """Streams one answer; the usage comes last."""

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._has_own_url = bool(url)
        self._rejected_options: frozenset[str] = (
            frozenset()
        )  # options that this model does not take
        self._url = url or check_address(os.environ.get("OPENAI_BASE_URL") or _HOME)
        # whether it says how likely a given text is; None until it is asked
        self._can_score: bool | None = False if self._url == _HOME else None

    @property
    def name(self) -> str:
        """`openai:`, the model, and the address where one was given."""
        return f"openai:{self._model}" + (f"@{self._url}" if self._has_own_url else "")

    @property
    def address(self) -> str:
        """The address, where the name does not say it."""
        return "" if self._has_own_url else self._url

    @property
    def at_home(self) -> bool:
        """Not at an address of one's own, nor where the environment points elsewhere."""
        return self._url == _HOME

    @property
    def takes(self) -> frozenset[str]:
        """Text parts; calls of tools and their results."""
        return frozenset({"text", TOOL_CALLS})

    @property
    def scores(self) -> bool | None:
        """Not at OpenAI; a server of one's own may, which asking it shows (`dictated`)."""
        return self._can_score

    def key(self) -> str:
        """Read when it is used, and kept nowhere."""
        return read_key(self._key_variable)

    @property
    def _key_variable(self) -> str:
        return OWN_KEY if self._has_own_url else "OPENAI_API_KEY"

    def check(self) -> None:
        """The vendor's client, with what it loads at first use; the provider's key."""
        try:
            import openai.resources.chat.completions  # noqa: F401
        except ImportError:
            raise MissingExtra("openai", "openai") from None
        if self._url == _HOME:
            check_key_set(self.name, self._key_variable)

    def load(self) -> None:
        """Nothing takes long."""

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """One attempt; what a model does not take is left out, and it is asked again at once."""
        import httpx2
        from openai import AsyncOpenAI

        key, seen = self.key(), AttemptInfo()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        wire = http_options(
            httpx2, connect=asked.connect, seen=seen, headers=headers, own=self._has_own_url
        )
        http = httpx2.AsyncClient(**wire)
        async with AsyncOpenAI(
            api_key=key or "none", base_url=self._url, max_retries=0, http_client=http
        ) as client:
            if asked.forced:
                yield await self._score_text(client.chat.completions.create, http, asked, seen)
                return
            stream = await self._open_stream(client.chat.completions.create, asked, seen)
            async with stream, aclosing(_stream_pieces(stream, self._model, seen)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _score_text(
        self, create: Any, http: Any, asked: ChatRequest, seen: AttemptInfo
    ) -> ScoredReply:
        """How likely the text is that was dictated; nothing where this server cannot say."""
        trouble: ProviderError | None = None
        try:
            tokens = await fetch_server_tokens(http, self._url, asked.forced, seen)
            if tokens is not None:
                options = {**self._options(asked), **scoring_options(tokens)}
                async with await create(**options) as stream:
                    found = await parse_scored_reply(stream, tokens, _parse_usage)
                self._can_score = True
                return found
        except ScoringUnsupported:
            self._can_score = False
        except Exception as error:  # noqa: BLE001
            trouble = _convert_error(error, seen)
        if trouble is not None:
            raise trouble
        return ScoredReply(text="")

    async def _open_stream(self, create: Any, asked: ChatRequest, seen: AttemptInfo) -> Any:
        """The stream, once the model takes what it is asked; raises `ProviderError`."""
        while True:
            options = self._options(asked)
            try:
                return await create(**options)
            except _client_errors() as error:
                trouble, refused_one = _convert_error(error, seen), _rejected_option(error, options)
            if not refused_one:
                raise trouble
            self._rejected_options = self._rejected_options | {refused_one}

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        """OpenAI's own models take `max_completion_tokens`, other servers know `max_tokens`."""
        newer = self._url == _HOME or "max_tokens" in self._rejected_options
        options = {
            "model": self._model,
            "messages": list(asked.messages),
            "temperature": asked.temperature,
            "max_completion_tokens" if newer else "max_tokens": asked.max_tokens,
            "stop": list(asked.stop),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        left_out = self._rejected_options | (frozenset() if asked.stop else {"stop"})
        return {name: value for name, value in options.items() if name not in left_out}


async def _stream_pieces(
    stream: Any, model: str, seen: AttemptInfo
) -> AsyncGenerator[str | Reply, None]:
    """What the stream holds; the finish is known before the usage, which may be missing."""
    said: list[str] = []
    finish, usage = "", Usage()
    trouble: ProviderError | None = None
    try:
        async for chunk in stream:
            model = parse_text(chunk.model) or model
            usage = _parse_usage(chunk.usage) if chunk.usage else usage
            choice = chunk.choices[0] if chunk.choices else None
            text = parse_text(choice.delta.content) if choice and choice.delta else ""
            finish = parse_text(choice.finish_reason) if choice and not finish else finish
            said += [text] if text else []
            yield text
    except Exception as error:  # noqa: BLE001
        trouble = _convert_error(error, seen)
    if trouble is not None:
        raise trouble
    if not finish:
        raise truncated_error()
    yield Reply(text="".join(said), finish=_FINISH.get(finish, "other"), usage=usage, model=model)


def _parse_usage(said: Any) -> Usage:
    details = said.prompt_tokens_details
    return Usage(
        prompt=parse_count(said.prompt_tokens),
        completion=parse_count(said.completion_tokens),
        cached=parse_count(details.cached_tokens) if details is not None else None,
    )


def _rejected_option(error: Exception, options: Mapping[str, Any]) -> str:
    """The option that this model does not take; empty where that is not what is wrong."""
    from openai import BadRequestError

    if not isinstance(error, BadRequestError) or error.code not in _REJECTED_CODES:
        return ""
    named = error.param or ""
    return named if named in _OPTIONAL and named in options else ""


def _client_errors() -> tuple[type[Exception], ...]:
    """What the client raises; anything else is a fault of ours."""
    import httpx2
    import openai

    return (openai.APIError, httpx2.RequestError, httpx2.InvalidURL, ProviderError)


def _convert_error(error: Exception, seen: AttemptInfo) -> ProviderError:
    """The vendor's errors, ours where one comes through."""
    import httpx2
    import openai

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, ProviderError):
            return inner
        inner = inner.__cause__
    if isinstance(error, openai.APIStatusError):
        return status_error(error.status_code, _error_message(error), seen)
    if isinstance(error, openai.APIConnectionError | httpx2.RequestError | httpx2.InvalidURL):
        return connection_error(error, seen)
    if isinstance(error, openai.APIError):
        return broken_stream_error(error.message, seen)
    return protocol_error(
        f"sent what is no chat completion ({type(error).__name__}: {error})", seen
    )


def _error_message(error: Any) -> str:
    """The server's own words, without the status that the vendor puts before them."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) else error.response.text
