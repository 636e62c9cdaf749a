"""OpenAI-compatible servers: `openai:MODEL`, or `openai:MODEL@URL` for vLLM, llama.cpp and others.

Some servers, such as llama.cpp's, can also score a given text: a grammar forces its tokens, and
the log-probabilities are from before the grammar. They are used only if those very tokens come
back. https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from math import isfinite
from typing import Any

from foveate.ports import Reply, Usage
from foveate.providers.chat.http_client import ProviderError, truncated_error
from foveate.providers.chat.http_provider import Connection, HttpProvider, Vendor
from foveate.providers.chat.request import (
    TOOL_CALLS,
    ChatRequest,
    ScoredReply,
    parse_count,
    parse_text,
)

OPENAI = Vendor(
    name="openai",
    path="/chat/completions",
    key_variable="OPENAI_API_KEY",
    answer="chat completion",
    home="https://api.openai.com/v1",
    takes=frozenset({"text", "image_url", TOOL_CALLS}),
    finish={"stop": "stop", "length": "length"},
)
_OPTIONAL = frozenset({"temperature", "max_tokens", "stop", "stream_options"})
_REJECTED_CODES = frozenset({"unsupported_parameter", "unsupported_value"})
_KEY_STATUSES = (401, 403)
"""Answers about the key, which say nothing of what the server can do."""
_CERTAIN = -1e-6
"""Log-probabilities that are all above it are those of a grammar that leaves no choice."""


class _ScoringUnsupported(Exception):
    """This server cannot force a text, or does not return its log-probabilities."""


async def _fetch_tokens(connection: Connection, url: str, text: str) -> list[int] | None:
    """The server's tokens of the text; None if one ends within a character."""
    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    door = connection.post(f"{url.removesuffix('/v1')}/tokenize", asked)
    try:
        async with aclosing(door) as lines:
            found = json.loads(b"\n".join([line async for line in lines]))
        tokens = [(int(one["id"]), one["piece"]) for one in found["tokens"]]
    except ProviderError as error:
        if error.again or error.status in _KEY_STATUSES:
            raise
        raise _ScoringUnsupported from None
    except (KeyError, TypeError, ValueError):
        raise _ScoringUnsupported from None
    whole = all(isinstance(piece, str) for _, piece in tokens)
    return [number for number, _ in tokens] if tokens and whole else None


def scoring_options(tokens: Sequence[int]) -> dict[str, Any]:
    """Options under which llama.cpp's server writes exactly these tokens, and scores them.

    >>> scoring_options([7042, 314])["grammar"]
    'root ::= <[7042]> <[314]>'
    """
    grammar = "root ::= " + " ".join(f"<[{number}]>" for number in tokens)
    return {
        "max_tokens": len(tokens),
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 1,
        "grammar": grammar,
        "post_sampling_probs": False,
    }


async def _parse_scored_reply(
    events: AsyncGenerator[dict[str, Any], None], tokens: Sequence[int]
) -> ScoredReply:
    """The log-probabilities of the tokens; raises `_ScoringUnsupported` if others came."""
    found: list[tuple[int | None, float]] = []
    usage, model, finish = Usage(), "", False
    async for event in events:
        usage = _parse_usage(event["usage"]) if event.get("usage") else usage
        model = parse_text(event.get("model")) or model
        for choice in (event.get("choices") or [])[:1]:
            finish = finish or bool(choice.get("finish_reason"))
            said = (choice.get("logprobs") or {}).get("content") or ()
            # The token's number is what llama.cpp's server adds to the protocol.
            found += [(parse_count(one.get("id")), one["logprob"]) for one in said]
    if not finish:
        raise truncated_error()
    logprobs = tuple(logprob for _, logprob in found)
    if [number for number, _ in found] != list(tokens) or not all(map(isfinite, logprobs)):
        raise _ScoringUnsupported
    if all(p > _CERTAIN for p in logprobs):
        raise _ScoringUnsupported
    return ScoredReply(text="", finish="stop", usage=usage, model=model, logprobs=logprobs)


class OpenAIProvider(HttpProvider):
    """Streams one answer; the usage comes last."""

    vendor = OPENAI

    def __init__(self, model: str, url: str = "") -> None:
        super().__init__(model, url)
        self.scores = False if self.at_home else None

    async def _stream(
        self, connection: Connection, asked: ChatRequest
    ) -> AsyncGenerator[str | Reply, None]:
        """The finish is known before the usage, which may be missing."""
        if asked.forced:
            yield await self._score_text(connection, asked)
            return
        texts: list[str] = []
        finish, usage, model = "", Usage(), self._model
        async with aclosing(self._events(connection, asked)) as events:
            async for event in events:
                model = parse_text(event.get("model")) or model
                usage = _parse_usage(event["usage"]) if event.get("usage") else usage
                choice = (event.get("choices") or [{}])[0]
                finish = finish or parse_text(choice.get("finish_reason"))
                texts.append(parse_text((choice.get("delta") or {}).get("content")))
                yield texts[-1]
        yield self._reply(texts, finish, usage, model)

    async def _score_text(self, connection: Connection, asked: ChatRequest) -> ScoredReply:
        """The log-probabilities of a given text; none if this server cannot compute them."""
        try:
            tokens = await _fetch_tokens(connection, self._url, asked.forced)
            if tokens is not None:
                scoring = self._events(connection, asked, scoring_options(tokens))
                async with aclosing(scoring) as events:
                    found = await _parse_scored_reply(events, tokens)
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

    def _rejected_option(self, error: ProviderError, options: Mapping[str, Any]) -> str:
        said = error.said if isinstance(error.said, Mapping) else {}
        if error.status != 400 or said.get("code") not in _REJECTED_CODES:
            return ""
        named = said.get("param")
        return named if named in _OPTIONAL and named in options else ""


def _parse_usage(said: Mapping[str, Any]) -> Usage:
    details = said.get("prompt_tokens_details") or {}
    return Usage(
        prompt=parse_count(said.get("prompt_tokens")),
        completion=parse_count(said.get("completion_tokens")),
        cached=parse_count(details.get("cached_tokens")),
    )
