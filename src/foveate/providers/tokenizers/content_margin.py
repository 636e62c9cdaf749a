"""A margin for each class of content: `cl100k_base*prose:1.12,code:1.3,json:1.2,digits:1.6,cjk:1`.

Vocabularies differ most in digits, in scripts without spaces and in punctuation, so one factor for
all texts is too much for prose or too little for tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.types import content_hash
from foveate.providers.tokenizers.counts import counts_for
from foveate.providers.tokenizers.simple import longest_prefix, replace_surrogates

LEAST, MOST = 0.1, 100.0
_DIGITS = re.compile(r"[0-9]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f"
    r"\U0001b000-\U0001b2ff\U00020000-\U0003ffff]+"
)
_JSON_LINE = re.compile(r'[ \t]*+[\[{"}\]]')
_SYMBOL = re.compile(r"[\[\](){}<>;=/\\|&*_#$@+]")
_CODE_SHARE = 0.06
"""Of a line's characters; a line with more symbols is code."""
_LINE_LENGTH = 2_000
"""Characters; of a longer line, the beginning says what it is."""


class Composition(NamedTuple):
    """Tokens of a text by class, as the inner tokenizer counts them; fields are the classes.

    `cjk`: scripts without spaces. `json` and `code`: lines of such. `prose`: the rest.
    """

    prose: int
    code: int
    json: int
    digits: int
    cjk: int


CLASSES = Composition._fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A request's tokens by class, summed over its texts, and what the provider counted."""

    tokens: tuple[int, ...]
    observed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentMargin:
    """Counts `inner`'s tokens times the factor of their class, rounded up.

    `factors`: in the order of `CLASSES`, 0.1 to 100, of which three decimals count. `observations`
    and `prior`: what the factors were learned from and what they were before, if they were.

    >>> from foveate.providers.tokenizers.simple import Simple
    >>> twice = ContentMargin(inner=Simple(), factors=(1, 1, 1, 2, 1))
    >>> twice.count("word"), twice.count("1234"), twice.name
    (1, 2, 'simple*prose:1,code:1,json:1,digits:2,cjk:1')
    """

    inner: Tokenizer
    factors: tuple[float, ...]
    observations: tuple[Observation, ...] = field(default=(), repr=False, compare=False)
    prior: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse factors that are no margin."""
        if len(self.factors) != len(CLASSES):
            raise BadOption(f"tokenizer margin: give a factor for each of {', '.join(CLASSES)}")
        for name, factor in zip(CLASSES, self.factors, strict=True):
            if not LEAST <= factor <= MOST:
                what = f"{name} is {factor!r}; it must lie between {LEAST} and {MOST}"
                raise BadOption(f"tokenizer margin: {what}")

    @property
    def name(self) -> str:
        """The inner name and the factors."""
        return f"{self.inner.name}*{self._spelled()}"

    @property
    def fingerprint(self) -> str:
        """The inner fingerprint and the factors."""
        return f"{self.inner.fingerprint}*{self._spelled()}"

    def _spelled(self) -> str:
        pairs = zip(CLASSES, self.factors, strict=True)
        return ",".join(f"{name}:{round(factor, 3):g}" for name, factor in pairs)

    def count(self, text: str) -> int:
        """Tokens of each class times its factor, added and rounded up."""
        tokens = self.composition(text)
        total = sum(n * round(f * 1_000) for n, f in zip(tokens, self.factors, strict=True))
        return -(-total // 1_000)

    def composition(self, text: str) -> Composition:
        """The inner tokens of the text by class; `inner` counts each text once in a process."""
        text = replace_surrogates(text)
        known = counts_for(self.inner.fingerprint)
        key = content_hash(text)
        total = known.get(key)
        if total is None:
            total = known[key] = self.inner.count(text)
        return compose(text, total, self.inner.count)

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)


def compose(text: str, total: int, count: Callable[[str], int]) -> Composition:
    """The `total` tokens of the text by class; `count` counts its characters without spaces."""
    if not total:
        return Composition(0, 0, 0, 0, 0)
    digits = min(total, sum(-(-len(run) // 3) for run in _DIGITS.findall(text)))
    unspaced = "".join(_UNSPACED.findall(text))
    cjk = min(total - digits, count(unspaced)) if unspaced else 0
    rest = total - digits - cjk
    code = json = 0
    for line in text.splitlines(keepends=True):
        if _JSON_LINE.match(line):
            json += len(line)
        else:
            head = line[:_LINE_LENGTH]
            if len(_SYMBOL.findall(head)) > _CODE_SHARE * len(head):
                code += len(line)
    code, json = rest * code // len(text), rest * json // len(text)
    return Composition(rest - code - json, code, json, digits, cjk)


def tokenizer_in_list(name: str, load: Callable[[str], Tokenizer]) -> Tokenizer:
    """The tokenizer of a name from outside: what `load` gives, with learned factors if it has some.

    `load` knows a closed list; factors are numbers.
    """
    inner, _, factors = name.rpartition("*")
    learned = parse_factors(factors) if inner else None
    return load(name) if learned is None else ContentMargin(inner=load(inner), factors=learned)


def parse_factors(text: str) -> tuple[float, ...] | None:
    """The factors of a name behind its star; None where these are none.

    >>> parse_factors("prose:1,code:1.25,json:1,digits:2,cjk:1"), parse_factors("1.3")
    ((1.0, 1.25, 1.0, 2.0, 1.0), None)
    """
    pairs = [part.partition(":") for part in text.split(",")]
    if tuple(name for name, _, _ in pairs) != CLASSES:
        return None
    try:
        return tuple(float(factor) for _, _, factor in pairs)
    except ValueError:
        return None
