"""The weight of a word when a text that has it is dropped for one that lacks it.

    light     articles, connectives, hedges: their loss loses nothing
    turning   negation, quantity, duty, condition: a difference changes the statement
    weighty   every other word, numbers included, and every word of a language not listed here

Turning words have no weight; those of two texts are compared one by one, in order. A number goes
with the weight before it: "50" is not said by "under 50". A plural s makes no difference. Scripts
without spaces are weighed by character. A word wrongly taken for weighty keeps a copy too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from foveate.core.text.facts import polarity_mark

_LIGHT_WORDS = """
    a an the which that also therefore then however
    clearly thus hence moreover furthermore indeed actually basically simply so do does did
    der dem des ein eine einen einem einer eines auch daher dann jedoch also somit deshalb
    außerdem zudem le la les l du aussi donc alors cependant toutefois ainsi
    clairement el los las una también tanto entonces embargo claramente así
    de het een ook dus echter il lo gli anche quindi allora tuttavia
    os uma também portanto então
"""
_LIGHT = frozenset(word.casefold() for word in _LIGHT_WORDS.split())
_CONTRACTED = {"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "hasn": "has"}
_CONTRACTED |= {"haven": "have", "hadn": "had", "couldn": "could", "wouldn": "would"}
_CONTRACTED |= {"don": "", "doesn": "", "didn": "", "mustn": "", "shouldn": ""}
_GLUED = re.compile(r"\d+|\D+")
_SPACELESS = "\u0e00"
_RULER = re.compile(r"([^\w\s])\1{2,}")
"""A line drawn with signs, below a heading or between parts."""
PAIR = 2  # characters of a script without spaces
_LEAST = 4  # letters that a plural must leave
_NO_PLURALS = frozenset(("arms", "customs", "damages", "glasses", "goods", "grounds", "securities"))


def weight(word: str) -> str:
    """What the word weighs, to be compared with another's weight; empty: nothing.

    >>> weight("connections") == weight("connection"), weight("the"), weight("approved")
    (True, '', 'approved')
    """
    if word in _LIGHT or polarity_mark(word) or _RULER.fullmatch(word):
        return ""
    if not word.isalpha() or word >= _SPACELESS:
        return word
    if word.endswith("s") and len(word) > _LEAST and word[-2] not in "sui":
        return word if word in _NO_PLURALS else word[:-1]
    return word


def weights(words: Iterable[str]) -> Iterator[str]:
    """The weights of the words that have one, in order; don is a name but before t.

    >>> list(weights(["don", "t", "ask", "don"]))
    ['ask', 'don']
    """
    atoms = list(_atoms(words))
    for word, after in zip_longest(atoms, atoms[1:]):
        heavy = _CONTRACTED.get(word) if after == "t" else None
        if heavy is None:
            heavy = weight(word)
        if heavy:
            yield heavy


def bound_facts(words: Sequence[str]) -> Counter[tuple[str, str]]:
    """Numbers with the word before them, words that turn a statement with the one after them.

    Light words do not count.

    >>> bound_facts("from 50 to 60".split()) == bound_facts("from 60 to 50".split())
    False
    """
    said = said_words(words)
    found: Counter[tuple[str, str]] = Counter()
    for before, word, after in zip(("", *said), said, (*said[1:], ""), strict=False):
        if word[:1].isdigit():
            found[before, word] += 1
        elif polarity_mark(word):
            found[word, after] += 1
    return found


def said_words(words: Iterable[str]) -> tuple[str, ...]:
    """What turns a statement or has weight, in order.

    >>> said_words("the pumps do not run".split())
    ('pump', 'not', 'run')
    """
    return tuple(
        [known for word in _atoms(words) if (known := polarity_mark(word) or weight(word))]
    )


def _atoms(words: Iterable[str]) -> Iterator[str]:
    """Words, 5mg as 5 mg; of scripts without spaces the characters: 不安 安全 is 不 安 全."""
    last = ""
    for word in words:
        if len(word) != PAIR or word < _SPACELESS:
            last = ""
            yield from (word,) if word.isalpha() else _GLUED.findall(word)
            continue
        if word[0] != last:
            yield word[0]
        last = word[1]
        yield last
