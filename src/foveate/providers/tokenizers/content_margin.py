"""A margin for each kind of piece: `cl100k_base*text:0.4,words:1,marks:1,digits:3,letters:2,cjk:2`.

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
_MARKS = re.compile(r" ?[!-/:-@\[-`{-~]{1,16}")
_SPACES = re.compile(r"[ \t\r\f\v]{2,16}")
"""In parts of 16, the longest that some vocabularies have."""
_SPACED = r"\u00aa-\u0d7f\u10a0-\u10ff\u1e00-\u1fff\ufb00-\ufdff\ufe70-\ufeff"
_UNSPACED = (
    r"\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f"
    r"\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_LETTERS = re.compile(rf" ?[A-Za-z]*[{_SPACED}][A-Za-z{_SPACED}]*")
_CJK = re.compile(rf"[{_UNSPACED}]+")
_SIGNS = re.compile(rf"[^\0-\x7f{_SPACED}{_UNSPACED}]")


_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_FACTOR = re.compile(
    rf"(?P<factor>{_NUMBER})"
    rf"(?:/(?P<prior>{_NUMBER})@(?P<least>[0-9]{{1,9}})-(?P<most>[0-9]{{1,9}}))?"
)
_UNLIKE = 5
"""Times the share of a text beyond what was observed is the weight of the factors from before."""


class Composition(NamedTuple):
    """Tokens of a text by kind; fields are the classes.

    `digits`: a token for three of them. `letters`: words with letters beyond ASCII. `cjk`: scripts
    without spaces. `text`: what is left of the inner tokenizer's count. `words` and `marks` are
    not part of that count: they say how many tokens the same text would have if little were
    merged. A word has as many as the inner tokenizer gives it by itself; a run of up to 16 marks of
    punctuation or spaces has one, a line's end two. A sign (an arrow, an emoji, a letter of a
    script that few vocabularies have) counts as three words and a mark.
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
    """A request's tokens by class, summed over its texts, and what the provider counted.

    `least` and `most`: the tokens of each class in a thousand tokens of a text, in the text that
    has least and in the one that has most of them.
    """

    tokens: tuple[int, ...]
    observed: int
    least: tuple[int, ...]
    most: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What learned factors hold for: texts like those observed; others have the `prior` ones.

    `least` and `most`: as in `Observation`, over all observations.
    """

    prior: tuple[float, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentMargin:
    """Counts `inner`'s tokens times the factor of their class, rounded up.

    `factors`: in the order of `CLASSES`, 0 to 100, of which three decimals count. `learned`: if
    they were learned, what for; a text of which a fifth is unlike what was observed is counted
    with the factors from before. `observations`: what they were learned from.

    >>> from foveate.providers.tokenizers.simple import Simple
    >>> twice = ContentMargin(inner=Simple(), factors=(1, 0, 0, 2, 1, 1))
    >>> twice.count("word"), twice.count("123"), twice.name
    (1, 2, 'simple*text:1,words:0,marks:0,digits:2,letters:1,cjk:1')
    """

    inner: Tokenizer
    factors: tuple[float, ...]
    learned: Learned | None = None
    observations: tuple[Observation, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse factors that are no margin."""
        for factors in (self.factors, self.prior):
            if len(factors) != len(CLASSES):
                raise BadOption(f"tokenizer margin: give a factor for each of {', '.join(CLASSES)}")
            for name, factor in zip(CLASSES, factors, strict=True):
                if not 0 <= factor <= MOST:
                    what = f"{name} is {factor!r}; it must lie between 0 and {MOST:g}"
                    raise BadOption(f"tokenizer margin: {what}")
            if min(sum(factors[:2]), *factors[3:]) <= 0:
                raise BadOption(
                    "tokenizer margin: text with words, digits, letters and cjk must count"
                )

    @classmethod
    def plain(cls, inner: Tokenizer, factor: float = 1.0) -> ContentMargin:
        """With one factor for all that `inner` counts."""
        return cls(inner=inner, factors=tuple(factor * one for one in PLAIN))

    @property
    def prior(self) -> tuple[float, ...]:
        """The factors before anything was learned."""
        return self.learned.prior if self.learned else self.factors

    @property
    def name(self) -> str:
        """The inner name and the factors."""
        return f"{self.inner.name}*{self._spelled()}"

    @property
    def fingerprint(self) -> str:
        """The inner fingerprint and the factors."""
        return f"{self.inner.fingerprint}*{self._spelled()}"

    def _spelled(self) -> str:
        found = [f"{name}:{round(f, 3):g}" for name, f in zip(CLASSES, self.factors, strict=True)]
        if self.learned:
            own = zip(found, self.prior, self.learned.least, self.learned.most, strict=True)
            found = [f"{one}/{round(p, 3):g}@{least}-{most}" for one, p, least, most in own]
        return ",".join(found)

    def count(self, text: str) -> int:
        """Tokens of each class times its factor, added and rounded up."""
        return -(-self._thousandths(self.composition(text)) // 1_000)

    def _thousandths(self, tokens: Composition) -> int:
        total = _times(self.factors, tokens)
        if not self.learned or (before := _times(self.prior, tokens)) <= total:
            return total
        inner, prior = inner_tokens(tokens), self.learned.prior
        more = [1_000 * n - most * inner for n, most in zip(tokens, self.learned.most, strict=True)]
        less = [k * inner - 1_000 * n for n, k in zip(tokens, self.learned.least, strict=True)]
        unlike = max(_times(prior, [max(n, 0) for n in beyond]) for beyond in (more, less))
        share = min(_UNLIKE * unlike, 1_000 * before)  # of 1,000 times `before`
        return total - (total - before) * share // (1_000 * before)

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
    words += 3 * signs
    marks = len(_MARKS.findall(text)) + len(_SPACES.findall(text)) + 2 * text.count("\n") + signs
    return Composition(left - letters - cjk, words, marks, digits, letters, cjk)


def _times(factors: Sequence[float], tokens: Sequence[int]) -> int:
    return sum(n * round(f * 1_000) for n, f in zip(tokens, factors, strict=True))


def inner_tokens(tokens: Sequence[int]) -> int:
    """Those of a composition that the inner tokenizer counts."""
    return sum(n for n, plain in zip(tokens, PLAIN, strict=True) if plain)


def tokenizer_in_list(name: str, load: Callable[[str], Tokenizer]) -> Tokenizer:
    """The tokenizer of a name from outside: what `load` gives, with learned factors if it has some.

    `load` knows a closed list; factors are numbers.
    """
    inner, _, margin = name.rpartition("*")
    return with_margin(load(inner), margin) if inner and has_classes(margin) else load(name)


def has_classes(margin: str) -> bool:
    """Whether the text behind a tokenizer's star has a factor for each class."""
    return tuple(part.partition(":")[0] for part in margin.split(",")) == CLASSES


def with_margin(inner: Tokenizer, margin: str) -> ContentMargin:
    """The tokenizer with factors as a name has them behind its star; `BadOption` for others.

    >>> from foveate.providers.tokenizers.simple import Simple
    >>> with_margin(Simple(), "text:1,words:0,marks:0.2,digits:2,letters:1,cjk:1").factors
    (1.0, 0.0, 0.2, 2.0, 1.0, 1.0)
    """
    found = [_FACTOR.fullmatch(part.partition(":")[2]) for part in margin.split(",")]
    known = [one for one in found if one]
    learned = [one["prior"] is not None for one in known]
    if len(known) < len(found) or any(learned) != all(learned):
        raise BadOption(f"tokenizer margin: {margin!r} is not what ContentMargin.name gives")
    factors = tuple(float(one["factor"]) for one in known)
    if not all(learned):
        return ContentMargin(inner=inner, factors=factors)
    prior = tuple(float(one["prior"]) for one in known)
    least, most = (tuple(int(one[key]) for one in known) for key in ("least", "most"))
    return ContentMargin(
        inner=inner, factors=factors, learned=Learned(prior=prior, least=least, most=most)
    )
