"""How likely a given text is, asked of an OpenAI-compatible server, where it can be made to say so.

Chat completions give probabilities of what the model writes of its own accord, and of nothing else.
llama.cpp's server takes a grammar that names tokens, and then writes a given text (`forced`). So
its tokens are asked for first, at its own door for that; and what comes back is believed only
where it is those very tokens, with probabilities from before the grammar had its say. Any other
server is found out by that, and said to have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from foveate.ports import Usage
from foveate.providers.chat.forced_decoding import forcing_options, parse_tokens
from foveate.providers.chat.provider_error import (
    AttemptInfo,
    ProviderError,
    connection_error,
    status_error,
)
from foveate.providers.chat.request import ScoredReply

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
