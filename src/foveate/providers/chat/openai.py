"""OpenAI-compatible servers: `openai:MODEL`, or `openai:MODEL@URL` for vLLM, llama.cpp and others.

Some servers, such as llama.cpp's, can also score a given text: a grammar forces its tokens, and
the log-probabilities are from before the grammar. They are used only if those very tokens come
back. https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from math import isfinite
from typing import Any

from foveate.ports import Reply, Usage
from foveate.providers.chat.http_client import (
    AttemptInfo,
    ProviderError,
    check_address,
    connection_error,
    status_error,
)
from foveate.providers.chat.http_provider import HttpProvider, Vendor
from foveate.providers.chat.request import (
    TOOL_CALLS,
    ChatRequest,
    ScoredReply,
    parse_count,
    parse_text,
)

OPENAI = Vendor(
    name="openai",
    client="openai.resources.chat.completions",
    http="httpx2",
    key_variable="OPENAI_API_KEY",
    answer="chat completion",
    home="https://api.openai.com/v1",
    takes=frozenset({"text", "image_url", TOOL_CALLS}),
    finish={"stop": "stop", "length": "length"},
)
_OPTIONAL = frozenset({"temperature", "max_tokens", "stop", "stream_options"})
_REJECTED_CODES = frozenset({"unsupported_parameter", "unsupported_value"})
_UNRELATED_STATUSES = (401, 403, 408, 429, 500, 502, 503, 504)
"""Answers that say nothing of what the server can do."""
_CERTAIN = -1e-6
"""Log-probabilities that are all above it are those of a grammar that leaves no choice."""


class _ScoringUnsupported(Exception):
    """This server cannot force a text, or does not return its log-probabilities."""


async def _fetch_tokens(http: Any, url: str, text: str, seen: AttemptInfo) -> list[int] | None:
    """The server's tokens of the text; None if one ends within a character."""
    import httpx2

    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    try:
        answer = await http.post(f"{url.removesuffix('/v1')}/tokenize", json=asked)
    except httpx2.RequestError as error:
        raise connection_error(error, seen) from None
    except ProviderError:  # a web page
        raise _ScoringUnsupported from None
    if answer.status_code in _UNRELATED_STATUSES:
        raise status_error(answer.status_code, answer.text, seen)
    if answer.status_code != 200:
        raise _ScoringUnsupported
    try:
        return _parse_tokens(answer.json())
    except (KeyError, TypeError, ValueError):
        raise _ScoringUnsupported from None


def _parse_tokens(found: Any) -> list[int] | None:
    """The tokens in an answer of `/tokenize`; raises `ValueError` or the like for anything else."""
    tokens = [(int(one["id"]), one["piece"]) for one in found["tokens"]]
    whole = all(isinstance(piece, str) for _, piece in tokens)
    return [number for number, _ in tokens] if tokens and whole else None


def scoring_options(tokens: Sequence[int]) -> dict[str, Any]:
    """Options under which llama.cpp's server writes exactly these tokens, and scores them.

    >>> scoring_options([7042, 314])["extra_body"]["grammar"]
    'root ::= <[7042]> <[314]>'
    """
    grammar = "root ::= " + " ".join(f"<[{number}]>" for number in tokens)
    return {
        "max_tokens": len(tokens),
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 1,
        "extra_body": {"grammar": grammar, "post_sampling_probs": False},
    }


async def _parse_scored_reply(stream: Any, tokens: Sequence[int]) -> ScoredReply:
    """The log-probabilities of the tokens; raises `_ScoringUnsupported` if others came."""
    found: list[tuple[int | None, float]] = []
    usage, model, finish = Usage(), "", False
    async for chunk in stream:
        usage = _parse_usage(chunk.usage) if chunk.usage else usage
        model = chunk.model or model
        for choice in chunk.choices[:1]:
            finish = finish or bool(choice.finish_reason)
            said = choice.logprobs.content if choice.logprobs else None
            found += [(_token_id(one), one.logprob) for one in said or ()]
    if not finish:
        raise ProviderError("ended before the answer did; what does its log say?", again=True)
    logprobs = tuple(logprob for _, logprob in found)
    if [number for number, _ in found] != list(tokens) or not all(map(isfinite, logprobs)):
        raise _ScoringUnsupported
    if all(p > _CERTAIN for p in logprobs):
        raise _ScoringUnsupported
    return ScoredReply(text="", finish="stop", usage=usage, model=model, logprobs=logprobs)


def _token_id(said: Any) -> int | None:
    """The token's number, which llama.cpp's server adds to the protocol."""
    number = (said.model_extra or {}).get("id")
    return number if isinstance(number, int) else None


class OpenAIProvider(HttpProvider):
    """Streams one answer; the usage comes last."""

    vendor = OPENAI

    def __init__(self, model: str, url: str = "") -> None:
        super().__init__(model, url)
        self.scores = False if self.at_home else None

    def _default_url(self) -> str:
        return check_address(os.environ.get("OPENAI_BASE_URL") or OPENAI.home)

    @asynccontextmanager
    async def _connect(self, key: str, options: dict[str, Any]) -> AsyncGenerator[Any, None]:
        import httpx2
        from openai import AsyncOpenAI

        http = httpx2.AsyncClient(**options)
        client = AsyncOpenAI(api_key=key, base_url=self._url, max_retries=0, http_client=http)
        async with client:
            yield client, http

    async def _stream(
        self, client: Any, asked: ChatRequest, seen: AttemptInfo
    ) -> AsyncGenerator[str | Reply, None]:
        """The finish is known before the usage, which may be missing."""
        openai, http = client
        create = openai.chat.completions.create
        if asked.forced:
            yield await self._score_text(create, http, asked, seen)
            return
        texts: list[str] = []
        finish, usage, model = "", Usage(), self._model
        async with await self._create(create, asked) as stream:
            async for chunk in stream:
                model = parse_text(chunk.model) or model
                usage = _parse_usage(chunk.usage) if chunk.usage else usage
                choice = chunk.choices[0] if chunk.choices else None
                text = parse_text(choice.delta.content) if choice and choice.delta else ""
                finish = parse_text(choice.finish_reason) if choice and not finish else finish
                texts.append(text)
                yield text
        yield self._reply(texts, finish, usage, model)

    async def _score_text(
        self, create: Any, http: Any, asked: ChatRequest, seen: AttemptInfo
    ) -> ScoredReply:
        """The log-probabilities of a given text; none if this server cannot compute them."""
        try:
            tokens = await _fetch_tokens(http, self._url, asked.forced, seen)
            if tokens is not None:
                options = {**self._options(asked), **scoring_options(tokens)}
                async with await create(**options) as stream:
                    found = await _parse_scored_reply(stream, tokens)
                self.scores = True
                return found
        except _ScoringUnsupported:
            self.scores = False
        return ScoredReply(text="")

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        """OpenAI's own models take `max_completion_tokens`, other servers know `max_tokens`."""
        newer = self.at_home or "max_tokens" in self._rejected_options
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

    def _rejected_option(self, error: Exception, options: Mapping[str, Any]) -> str:
        from openai import BadRequestError

        if not isinstance(error, BadRequestError) or error.code not in _REJECTED_CODES:
            return ""
        named = error.param or ""
        return named if named in _OPTIONAL and named in options else ""


def _parse_usage(said: Any) -> Usage:
    details = said.prompt_tokens_details
    return Usage(
        prompt=parse_count(said.prompt_tokens),
        completion=parse_count(said.completion_tokens),
        cached=parse_count(details.cached_tokens) if details is not None else None,
    )
