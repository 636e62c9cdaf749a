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


def normalised(text: str) -> str:
    """As SQuAD compares answers.

    >>> normalised("The  Beatles' U.S. tour")
    'beatles us tour'
    """
    bare = "".join(char for char in text.lower() if char not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact(answer: str, golds: Sequence[str]) -> float:
    """1 where the answer is one of them, once both are normalised.

    >>> exact("The year 1880.", ["1880", "year 1880"]), exact("in 1880", ["1880"])
    (1.0, 0.0)
    """
    return float(any(normalised(answer) == normalised(gold) for gold in golds))


def f1(answer: str, golds: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over words, of the best one.

    >>> f1("the old mill of 1880", ["mill of 1880"])
    0.8571428571428571
    """
    return max((_overlap(normalised(answer), normalised(gold)) for gold in golds), default=0.0)


def inside(answer: str, golds: Sequence[str]) -> float:
    """1 where one of them stands in the answer, word by word.

    >>> inside("It was built in 1880, they say.", ["1880"]), inside("It was 18800.", ["1880"])
    (1.0, 0.0)
    """
    line = f" {normalised(answer)} "
    return float(any(gold and f" {gold} " in line for gold in map(normalised, golds)))


def _overlap(answer: str, gold: str) -> float:
    said, wanted = answer.split(), gold.split()
    same = sum((Counter(said) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
