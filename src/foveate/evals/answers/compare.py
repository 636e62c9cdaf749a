"""An answer against the gold ones: exact match, F1 over words, and whether it holds one.

The definitions are those of SQuAD (Rajpurkar et al., 2016, `evaluate-v1.1.py`): small letters, no
ASCII punctuation, no `a`, `an`, `the`, single spaces; the best of the gold answers counts. F1 is
over what white space separates, so it says little of Chinese or Japanese.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalise_answer(text: str) -> str:
    """As SQuAD compares answers.

    >>> normalise_answer("The  Beatles' U.S. tour")
    'beatles us tour'
    """
    bare = "".join(char for char in text.lower() if char not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """1 where the answer is one of them, once both are normalised.

    >>> exact_match("The year 1880.", ["1880", "year 1880"]), exact_match("in 1880", ["1880"])
    (1.0, 0.0)
    """
    return float(any(normalise_answer(answer) == normalise_answer(gold) for gold in golds))


def f1_score(answer: str, golds: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over words, of the best one.

    >>> f1_score("the old mill of 1880", ["mill of 1880"])
    0.8571428571428571
    """
    return max(
        (_pair_f1(normalise_answer(answer), normalise_answer(gold)) for gold in golds), default=0.0
    )


def contains_answer(answer: str, golds: Sequence[str]) -> float:
    """1 where one of them stands in the answer, word by word.

    >>> (
    ...     contains_answer("It was built in 1880, they say.", ["1880"]),
    ...     contains_answer("It was 18800.", ["1880"]),
    ... )
    (1.0, 0.0)
    """
    line = f" {normalise_answer(answer)} "
    return float(any(gold and f" {gold} " in line for gold in map(normalise_answer, golds)))


def _pair_f1(answer: str, gold: str) -> float:
    said, wanted = answer.split(), gold.split()
    same = sum((Counter(said) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
