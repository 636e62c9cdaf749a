"""What a provider really counted: `observed` gives a tokenizer that counts so from then on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foveate import plugins
from foveate.core.compact.compaction import Compacted
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json
from foveate.core.typed import check_arguments
from foveate.pipeline.compact import DEFAULT_TOKENIZER, token_counter
from foveate.ports import Usage
from foveate.providers.tokenizers.simple import Margin, Observation

LEAST_TOKENS = 256
"""Tokens of a list from which something is learned; shorter ones are mostly provider's framing."""
REMEMBERED = 32
"""Observations; the count of a request among the last of them is never below what was observed."""
_PROMPT = ("prompt_tokens", "prompt_token_count", "promptTokenCount", "prompt", "input_tokens")
_BESIDE = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""What Anthropic counts beside `input_tokens`; the others' cached tokens are part of the prompt."""
MOST_OBSERVED = 4
"""Times the tokens of a list; a larger figure is that of another request."""
_LOWEST = 0.25
_CUSHION, _FIRST_CUSHION = 0.03, 0.06
"""Shares of a count that are added: always, and divided by the number of observations."""


@check_arguments()
def observed(
    usage: Any,
    sent: Compacted | Iterable[Mapping[str, Any]],
    *,
    tokenizer: str | Tokenizer | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    system: str = "",
) -> Margin:
    """A tokenizer that counts this list at no less than the provider did, and others like it.

    `usage`: the usage object of the response, of OpenAI, Anthropic or Gemini, or as a mapping.
    `sent`: what `compact` gave, or the messages as they were sent, then with their `tools`.
    `system`: text that was sent beside the list. `tokenizer`: what was used until now, by
    default that of `sent`; what `observed` gave before remembers its last 32 observations.

    The factor is the largest share that a provider counted of the tokens without a margin, with a
    cushion, from lists of 256 tokens or more. It holds for texts like those: figures and other
    scripts often have more tokens than prose. It is part of the tokenizer's name, so manifests have
    it and `tokenizer=name` brings it back.

    >>> text = "Order 44 2231 9087 again, please. " * 40
    >>> counter = observed({"prompt_tokens": 640}, [{"role": "user", "content": text}])
    >>> 640 <= counter.count(text) < 700
    True

    Raises `BadInput` for a usage without prompt tokens, for one of another request, and for
    messages that cannot be read.
    """
    read = prompt_tokens(usage)
    if isinstance(sent, Compacted):
        messages, form, frame = list(sent.messages), sent.form, sent.options.frame
        tools = tools or sent.tools
        counter = tokenizer or sent.tokenizer
    else:
        messages, form, frame = list(sent), None, 0
        counter = tokenizer or DEFAULT_TOKENIZER
    known = plugins.tokenizer(counter)
    margin = known if isinstance(known, Margin) else Margin(inner=known, factor=1.0)
    texts = [system, *map(compact_json, tools)]

    def add(text: str) -> int:
        texts.append(text)
        return 0

    listed = check_messages(messages)
    # what is not counted as text (images, the provider's own around a message) is all that is left
    media = MeasuredList(entries=message_form(listed, form).parse(listed), count=add, frame=frame)
    total = sum(map(token_counter(margin.inner), texts))
    one = Observation(tokens=total, observed=read - media.total)
    if total < LEAST_TOKENS or one.observed < 1:
        return margin
    if one.observed > MOST_OBSERVED * total:
        raise BadInput(
            f"counts {read} tokens where the list has about {total}; give what else was sent "
            "with tools= and system=",
            field="usage",
        )
    return _fit(margin.inner, (*margin.observations, one))


def _fit(inner: Tokenizer, seen: Sequence[Observation]) -> Margin:
    """The least factor, with a cushion, with which all of the last observations hold."""
    seen = tuple(seen)[-REMEMBERED:]
    largest = max(one.observed / one.tokens for one in seen)
    factor = largest * (1 + _CUSHION + _FIRST_CUSHION / len(seen))
    rounded = math.ceil(1_000 * max(factor, _LOWEST)) / 1_000
    return Margin(inner=inner, factor=rounded, observations=seen)


def prompt_tokens(usage: Any) -> int:
    """The tokens of the request, cached ones included, that a usage object names."""
    if isinstance(usage, Usage):
        usage = {"prompt": usage.prompt}

    def field(name: str) -> Any:
        return usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)

    found = next((field(name) for name in _PROMPT if field(name) is not None), None)
    beside = [field(name) or 0 for name in _BESIDE] if field("input_tokens") is not None else []
    numbers: list[Any] = [found, *beside]
    if not all(type(n) is int and n >= 0 for n in numbers) or sum(numbers) < 1:
        raise BadInput(
            "names no prompt tokens; give the usage object of a response (OpenAI usage, Anthropic "
            "usage, Gemini usage_metadata)",
            field="usage",
        )
    return sum(numbers)
