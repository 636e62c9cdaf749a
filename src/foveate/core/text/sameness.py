"""The one rule of sameness: whether a text says what another says, and nothing else about it.

Two texts that differ in a fact (`facts.py`: figures with sign, comparison, currency and unit,
symbols, boxes, names of one letter, words that negate, limit or take back) are two texts. So are
those of which one has words of weight inside of a sentence of the other ("it is said that", "vice")
or has two words on the other side of a third ("A sold to B"). Duplicates, repeats in a budget,
corroborating sources and the check of answers ask here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from foveate.core.text.facts import SIGNS, extract_facts
from foveate.core.text.word_weight import said_words
from foveate.core.text.words import split_words

Statement: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a sentence that turn it or have weight, and its facts, both in order."""

_END = re.compile(
    r"[.!?…][\"'”’»)\]*_]*(?=\s|\Z)|;|[；。！？｡؟।۔]|\n[^\S\n]*(?=\n|[-*•#|>+]|\d{1,3}[.)]\s)|(?<!\s)\s*\Z"
)
_LINKS = frozenset(
    ("and", "or", "&", "und", "oder", "et", "ou", "y", "o", "e", "en", "of", "и", "или")
)
"""Between these two words may change places."""


def has_same_facts(
    mine: tuple[str, ...], theirs: tuple[str, ...], spelled: Collection[str] = ()
) -> bool:
    """Whether all facts of one text are in the other, in order, and none of it looks alike.

    The other asks none of `spelled`, the words of the one; signs of code (!ready) are the same.

    >>> has_same_facts(("5mg",), ("5mg", "10mg")), has_same_facts(("5",), ("5", "-5"))
    (True, False)
    """
    if mine == theirs:
        return True
    if not has_in_order(theirs, mine) or _code_signs(mine) != _code_signs(theirs):
        return False
    more = Counter(_questions(theirs)) - Counter(_questions(mine))
    if any(word in spelled for word in more):
        return False
    bare = set(map(split_words, mine))
    return not any(split_words(fact) in bare for fact in set(theirs).difference(mine))


def has_in_order(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether all of `part` stands in `whole`, in this order, other facts between them or not.

    >>> has_in_order(("5mg", "10mg", "not"), ("5mg", "not")), has_in_order(("5mg",), ("10mg",))
    (True, False)
    """
    rest = iter(whole)
    return all(fact in rest for fact in part)


def _code_signs(facts: Sequence[str]) -> list[str]:
    return [fact for fact in facts if fact in SIGNS]


def _questions(facts: Sequence[str]) -> list[str]:
    return [fact[:-1] for fact in facts if fact[-1] == "?"]


def statement(text: str) -> Statement:
    """What a sentence says; where nothing has weight, the sentence itself.

    >>> statement("The pumps run at 5 bar.") == statement("Pump run at  5 bar")
    True
    """
    words = split_words(text)
    return said_words(words) or (text.strip(),), extract_facts(text, words)


def statements(text: str) -> Iterator[Statement]:
    """What each sentence of a text says."""
    at = 0
    for end in _END.finditer(text):
        if text[at : end.end()].strip():
            yield statement(text[at : end.end()])
        at = end.end()


def is_repeated(mine: Iterable[Statement], stated: Collection[Statement]) -> bool:
    """Whether sentences whose words all stand in others, in any of them, say nothing new.

    A sentence is new if none has its facts in order, or if one that holds it has others.
    """
    return all(
        one in stated
        or (
            any(has_in_order(facts, one[1]) for _, facts in stated)
            and not any(facts != one[1] and _holds(words, one[0]) for words, facts in stated)
        )
        for one in mine
    )


def _holds(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return len(part) < len(whole) and f" {' '.join(part)} " in f" {' '.join(whole)} "


def swaps_parties(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two words stand on the other side of a third: "A sold to B", "B sold to A".

    Words that either text repeats are not looked at.

    >>> swaps_parties("acme bought globex in may".split(), "in may acme bought globex".split())
    False
    >>> swaps_parties("acme bought globex in may".split(), "globex bought acme in may".split())
    True
    """
    one, other = Counter(mine), Counter(theirs)
    places = {word: n for n, word in enumerate(theirs) if other[word] == 1 == one[word]}
    order = [places[word] for word in mine if word in places and word not in _LINKS]
    highest = crossed = -1  # of all so far, and of those behind a higher one
    for place in order:
        if place < crossed:
            return True
        if place < highest:
            crossed = max(crossed, place)
        highest = max(highest, place)
    return False
