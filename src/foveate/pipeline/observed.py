"""What a provider really counted: `observed` gives a tokenizer that counts so from then on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from foveate import plugins
from foveate.core.arguments import check_arguments
from foveate.core.compact.compaction import Compacted
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption
from foveate.core.json_text import compact_json
from foveate.core.json_values import read_value
from foveate.pipeline.compact import DEFAULT_TOKENIZER
from foveate.ports import Usage
from foveate.providers.tokenizers.content_margin import (
    CLASSES,
    PLAIN,
    Composition,
    ContentMargin,
    Learned,
    Observation,
    inner_tokens,
)
from foveate.providers.tokenizers.simple import Margin

LEAST_TOKENS = 256
"""Tokens of a list from which something is learned; shorter ones are mostly provider's framing."""
MOST_TOKENS = 1_000_000_000
"""Tokens of an observation that is read again."""
REMEMBERED = 32
"""Observations; the count of a request among the last of them is never below what was observed."""
_PROMPT = ("prompt_tokens", "prompt_token_count", "promptTokenCount", "prompt", "input_tokens")
_BESIDE = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""What Anthropic counts beside `input_tokens`; the others' cached tokens are part of the prompt."""
MOST_OBSERVED = 4
"""Times the tokens of a list; a larger figure is that of another request."""
_ROUNDS = 12
_LOWEST, _HIGHEST = 0.25, 5.0  # factors of what the inner tokenizer counts, before the last raise
_COVERED = 0.95
"""Share of a list's tokens; the longest texts that hold it say what the list's texts are like."""
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
) -> ContentMargin:
    """A tokenizer that counts this list at no less than the provider did, and others like it.

    `usage`: the usage object of the response, of OpenAI, Anthropic or Gemini, or as a mapping.
    `sent`: what `compact` gave, or the messages as they were sent, then with their `tools`.
    `system`: text that was sent beside the list. `tokenizer`: what was used until now, by
    default that of `sent`; what `observed` gave before remembers its last 32 observations.

    Factors are learned for words, punctuation and white space, digits, letters beyond ASCII and
    scripts without spaces, from lists of 256 tokens or more. They hold for texts that are made up
    as the observed ones; for others, those of `tokenizer` hold. All that is part of the tokenizer's
    name, so manifests have it and `tokenizer=name` brings it back.

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
    margin = _content_margin(plugins.tokenizer(counter) if isinstance(counter, str) else counter)
    texts = [system, *map(compact_json, tools)]

    def add(text: str) -> int:
        texts.append(text)
        return 0

    known = check_messages(messages)
    # what is not counted as text (images, the provider's own around a message) is all that is left
    media = MeasuredList(entries=message_form(known, form).parse(known), count=add, frame=frame)
    compositions = [margin.composition(text) for text in texts]
    one = _observation(compositions, observed=read - media.total)
    total = inner_tokens(one.tokens)
    if total < LEAST_TOKENS or one.observed < 1:
        return margin
    if one.observed > MOST_OBSERVED * total:
        raise BadInput(
            f"counts {read} tokens where the list has about {total}; give what else was sent "
            "with tools= and system=",
            field="usage",
        )
    return _fit(margin, (*margin.observations, one))


def _observation(compositions: Sequence[Composition], observed: int) -> Observation:
    """What texts of these compositions were counted as, and what the longer ones are made of."""
    totals = tuple(map(sum, zip(*compositions, strict=True)))
    left = _COVERED * inner_tokens(totals)
    shares = [_shares(totals)]
    for one in sorted(compositions, key=inner_tokens, reverse=True):
        if left <= 0:
            break
        shares.append(_shares(one))
        left -= inner_tokens(one)
    least = tuple(int(min(of_class)) for of_class in zip(*shares, strict=True))
    most = tuple(math.ceil(max(of_class)) for of_class in zip(*shares, strict=True))
    return Observation(tokens=totals, observed=observed, least=least, most=most)


def _shares(tokens: Sequence[int]) -> list[float]:
    """Tokens of each class in a thousand of the inner tokenizer's."""
    return [1_000 * n / max(1, inner_tokens(tokens)) for n in tokens]


def observe(
    usage: Any,
    messages: Iterable[Mapping[str, Any]],
    *,
    load: Callable[[str], Tokenizer],
    tokenizer: str | None = None,
    before: Mapping[str, Any] | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    system: str = "",
) -> dict[str, Any]:
    """`observed` for callers that hold no Python values: JSON in, JSON out, and no state kept.

    `before`: what this gave for the request before, None for the first, which may name the
    `tokenizer` used until now. `load` resolves names. The answer has the learned `tokenizer`'s
    name, for `compact`; it is the next `before`. Raises as `observed` does.
    """
    if before is not None and tokenizer is not None:
        raise BadOption("give tokenizer with the first observation alone; before names it")
    start = before["start"] if before else tokenizer or DEFAULT_TOKENIZER
    known = load(start)
    # what a model's name stands for is a margin of a file, perhaps, and stays unnamed
    margin = _content_margin(known) if known.name == start else ContentMargin.plain(known)
    if before and (seen := _observations_from_json(before["observations"])):
        margin = _fit(margin, seen)
    counter = observed(usage, messages, tokenizer=margin, tools=tools, system=system)
    # a model's name stands for its tokenizer, which may be a file of the operator's
    inner = start if counter.inner is known else counter.inner.name
    return {
        "tokenizer": inner + counter.name.removeprefix(counter.inner.name),
        "start": start,
        "observations": list(map(asdict, counter.observations)),
    }


def _observations_from_json(given: Any) -> tuple[Observation, ...]:
    """Observations as `observe` wrote them; raises `BadInput` for others."""
    found: tuple[Observation, ...] = read_value(tuple[Observation, ...], given, "before")
    if not all(map(_can_be, found)):
        raise BadInput("has an observation that cannot be; give what observed gave", field="before")
    return found


def _can_be(one: Observation) -> bool:
    lists = (one.tokens, one.least, one.most)
    if any(len(numbers) != len(CLASSES) for numbers in lists):
        return False
    if max(one.observed, *(n for numbers in lists for n in numbers)) > MOST_TOKENS:
        return False
    total = inner_tokens(one.tokens)
    return total >= LEAST_TOKENS and 1 <= one.observed <= MOST_OBSERVED * total


def _fit(margin: ContentMargin, seen: Sequence[Observation]) -> ContentMargin:
    """The margin with which all of the last observations hold."""
    seen = tuple(seen)[-REMEMBERED:]
    return ContentMargin(
        inner=margin.inner,
        factors=fit_factors(seen, margin.prior),
        learned=Learned(
            prior=margin.prior,
            least=tuple(map(min, zip(*(one.least for one in seen), strict=True))),
            most=tuple(map(max, zip(*(one.most for one in seen), strict=True))),
        ),
        observations=seen,
    )


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


def _content_margin(tokenizer: Tokenizer) -> ContentMargin:
    if isinstance(tokenizer, ContentMargin):
        return tokenizer
    if isinstance(tokenizer, Margin):
        return ContentMargin.plain(tokenizer.inner, tokenizer.factor)
    return ContentMargin.plain(tokenizer)


def fit_factors(seen: Sequence[Observation], prior: Sequence[float]) -> tuple[float, ...]:
    """Factors near `prior`, with which no observation is counted below what was observed.

    Each observation in turn moves the factors of what it holds by the least that makes it right
    (Kaczmarz); what is still counted too low at the end raises all factors.
    """
    factors = list(prior)
    lowest = [min(one, _LOWEST * plain) for one, plain in zip(prior, PLAIN, strict=True)]
    for _ in range(_ROUNDS):
        for one in seen:
            square = sum(n * n for n in one.tokens)
            step = (one.observed - _dot(factors, one.tokens)) / square
            for place, n in enumerate(one.tokens):
                factors[place] = min(max(factors[place] + step * n, lowest[place]), _HIGHEST)
    low = max(1.0, *(one.observed / _dot(factors, one.tokens) for one in seen))
    low *= 1 + _CUSHION + _FIRST_CUSHION / len(seen)
    held = [any(tokens) for tokens in zip(*(one.tokens for one in seen), strict=True)]
    return tuple(
        math.ceil(factor * low * 1_000) / 1_000 if was_seen else factor
        for factor, was_seen in zip(factors, held, strict=True)
    )


def _dot(factors: Sequence[float], tokens: Sequence[int]) -> float:
    return sum(f * n for f, n in zip(factors, tokens, strict=True))
