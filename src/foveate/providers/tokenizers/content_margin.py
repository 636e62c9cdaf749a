"""A margin for each kind of piece: `cl100k_base*text:0.4,words:0.9,marks:1,digits:3.1,letters:1.6,cjk:2.3`.

Vocabularies differ in how far they merge: in digits, in scripts other than Latin, in long words and
in punctuation and white space. One factor for all texts is too much for prose or too little for
tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.types import content_hash
from foveate.providers.tokenizers.counts import counts_for
from foveate.providers.tokenizers.simple import longest_prefix, replace_surrogates

MOST = 100.0
_DIGITS = re.compile(r"[0-9]+")
_WORDS = re.compile(r"[A-Za-z]+")
_CAPITALS = re.compile(r"(?<=[A-Z])[A-Z]")
_MARKS = re.compile(r" ?[!-/:-@\[-`{-~]+")
_SPACES = re.compile(r"[ \t\r\f\v]{2,}")
_SPACED = r"\u00aa-\u0dff\u10a0-\u177f\u1800-\u1fff\ua4d0-\uabff\ufb00-\ufdff\ufe70-\ufeff"
_UNSPACED = (
    r"\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f"
    r"\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_LETTERS = re.compile(rf" ?[A-Za-z]*[{_SPACED}][A-Za-z{_SPACED}]*")
_CJK = re.compile(rf"[{_UNSPACED}]+")
_SIGNS = re.compile(rf"[^\0-\x7f{_SPACED}{_UNSPACED}]")


class Composition(NamedTuple):
    """Tokens of a text by kind; fields are the classes.

    `digits`: a token for three of them. `letters`: words with letters beyond ASCII. `cjk`: scripts
    without spaces. `text`: what is left of the inner tokenizer's count. `words` and `marks` are
    not part of that count: they say how many tokens the same text would have if nothing were
    merged, a token for each word that the inner tokenizer knows, and one for each run of
    punctuation and of spaces, two for a line's end and three for a sign like an arrow or an emoji.
    """

    text: int
    words: int
    marks: int
    digits: int
    letters: int
    cjk: int


CLASSES = Composition._fields
PLAIN = (1.0, 0.0, 0.0, 1.0, 1.0, 1.0)
"""The factors with which the count is the inner tokenizer's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A request's tokens by class, summed over its texts, and what the provider counted."""

    tokens: tuple[int, ...]
    observed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentMargin:
    """Counts `inner`'s tokens times the factor of their class, rounded up.

    `factors`: in the order of `CLASSES`, 0 to 100, of which three decimals count. `observations`
    and `prior`: what the factors were learned from and what they were before, if they were.

    >>> from foveate.providers.tokenizers.simple import Simple
    >>> twice = ContentMargin(inner=Simple(), factors=(1, 0, 0, 2, 1, 1))
    >>> twice.count("word"), twice.count("123"), twice.name
    (1, 2, 'simple*text:1,words:0,marks:0,digits:2,letters:1,cjk:1')
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
            if not 0 <= factor <= MOST:
                what = f"{name} is {factor!r}; it must lie between 0 and {MOST:g}"
                raise BadOption(f"tokenizer margin: {what}")
        if min(sum(self.factors[:2]), *self.factors[3:]) <= 0:
            raise BadOption("tokenizer margin: text with words, digits, letters and cjk must count")

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
    """The composition of a text with `total` inner tokens; `count` counts parts of it."""
    if not total:
        return Composition(0, 0, 0, 0, 0, 0)
    digits = min(total, -(-sum(map(len, _DIGITS.findall(text))) // 3))
    left = total - digits
    letters = cjk = signs = 0
    if not text.isascii():
        cjk = min(left, count("".join(_CJK.findall(text))))
        letters = min(left - cjk, count("".join(_LETTERS.findall(text))))
        signs = len(_SIGNS.findall(text))
    words = count(" ".join(_WORDS.findall(text))) + 3 * len(_CAPITALS.findall(text)) // 10
    runs = len(_MARKS.findall(text)) + len(_SPACES.findall(text))
    marks = runs + 2 * text.count("\n") + 3 * signs
    return Composition(left - letters - cjk, words, marks, digits, letters, cjk)


def inner_tokens(tokens: Sequence[int]) -> int:
    """Those of a composition that the inner tokenizer counts."""
    return sum(n for n, plain in zip(tokens, PLAIN, strict=True) if plain)


def tokenizer_in_list(name: str, load: Callable[[str], Tokenizer]) -> Tokenizer:
    """The tokenizer of a name from outside: what `load` gives, with learned factors if it has some.

    `load` knows a closed list; factors are numbers.
    """
    inner, _, factors = name.rpartition("*")
    learned = parse_factors(factors) if inner else None
    return load(name) if learned is None else ContentMargin(inner=load(inner), factors=learned)


def parse_factors(text: str) -> tuple[float, ...] | None:
    """The factors of a name behind its star; None where these are none.

    >>> parse_factors("text:1,words:0,marks:0.2,digits:2,letters:1,cjk:1"), parse_factors("1.3")
    ((1.0, 0.0, 0.2, 2.0, 1.0, 1.0), None)
    """
    pairs = [part.partition(":") for part in text.split(",")]
    if tuple(name for name, _, _ in pairs) != CLASSES:
        return None
    try:
        return tuple(float(factor) for _, _, factor in pairs)
    except ValueError:
        return None
