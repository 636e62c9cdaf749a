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

from foveate.adapters.models.asked import Scored
from foveate.adapters.models.forced import forced_by, tokens_in
from foveate.adapters.models.trouble import Seen, Trouble, refused, unreachable
from foveate.ports import Usage

_REFUSED = (401, 403, 408, 429, 500, 502, 503, 504)
"""Answers that say nothing of what the server can do."""
_CERTAIN = -1e-6
"""Log-probabilities that are all above it are those of a grammar that leaves no choice."""


class CannotSay(Exception):
    """This server cannot be told what to write, or does not say how likely it was."""


async def tokens_at(http: Any, url: str, text: str, seen: Seen) -> list[int] | None:
    """The server's tokens of the text; None where one ends within a character.

    `url` is that of the chat completions' version; the door is one level up. Raises `CannotSay`
    where there is no such door, and `Trouble`.
    """
    import httpx2

    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    try:
        answer = await http.post(f"{url.removesuffix('/v1')}/tokenize", json=asked)
    except httpx2.RequestError as error:
        raise unreachable(error, seen) from None
    except Trouble:  # a web page
        raise CannotSay from None
    if answer.status_code in _REFUSED:
        raise refused(answer.status_code, answer.text, seen)
    if answer.status_code != 200:
        raise CannotSay
    try:
        return tokens_in(answer.json())
    except (ValueError, Trouble):
        raise CannotSay from None


def options_for(tokens: Sequence[int]) -> dict[str, Any]:
    """What is asked beside the messages, so that these tokens are written."""
    found = forced_by(tokens)
    grammar = found.pop("grammar")
    return {**found, "extra_body": {"grammar": grammar, "post_sampling_probs": False}}


async def scored(stream: Any, tokens: Sequence[int], usage_of: Any) -> Scored:
    """What the stream says of them; raises `CannotSay` where it is of something else."""
    found: list[tuple[int | None, float]] = []
    usage, model, finish = Usage(), "", False
    async for chunk in stream:
        usage = usage_of(chunk.usage) if chunk.usage else usage
        model = chunk.model or model
        for choice in chunk.choices[:1]:
            finish = finish or bool(choice.finish_reason)
            said = choice.logprobs.content if choice.logprobs else None
            found += [(_number(one), one.logprob) for one in said or ()]
    if not finish:
        raise Trouble("ended before the answer did; what does its log say?", again=True)
    logprobs = tuple(logprob for _, logprob in found)
    if [number for number, _ in found] != list(tokens) or not all(map(isfinite, logprobs)):
        raise CannotSay
    if all(p > _CERTAIN for p in logprobs):
        raise CannotSay
    return Scored(text="", finish="stop", usage=usage, model=model, logprobs=logprobs)


def _number(said: Any) -> int | None:
    """The token's number, which this server says beside what the protocol knows."""
    extra: Mapping[str, Any] = said.model_extra or {}
    number = extra.get("id")
    return number if isinstance(number, int) else None
