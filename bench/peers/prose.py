"""An endless, seeded stream of English sentences: the Python language reference inside CPython.

The reference (`pydoc_data.topics`) comes with every Python, so nothing is downloaded. It has some
40,000 tokens of prose. The first pass gives its paragraphs as they stand. Every later pass gives
its sentences in a new order, four a paragraph, with every second long word exchanged for another
long word of the same text: so the words keep their frequencies, and two passages that grew from
one sentence still differ. `check.py` measures how distinct the result is.

The text differs between versions of Python by a few sentences: figures name the version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import TypeAlias

Sentence: TypeAlias = tuple[str, str]
"""A sentence and what follows it: a space, or a blank line at the end of a paragraph."""

_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*(\[\"'])")
_LONG = re.compile(r"(?<![\w\"*.])[a-z]{5,}(?![\w\"*(])")
_NOTE = re.compile(r"\[\d+\]")
_LEAST = 40  # characters; shorter paragraphs are list numbers and labels
_MOST = 400  # characters; longer sentences are tables and lists run together
_A_PARAGRAPH = 4  # sentences


@lru_cache(maxsize=1)
def paragraphs() -> tuple[str, ...]:
    """The distinct paragraphs of prose, unwrapped, by topic: no code, no grammar, no headings."""
    from pydoc_data.topics import topics

    found: dict[str, None] = {}
    for topic in sorted(topics):
        for block in topics[topic].split("\n\n"):
            text = " ".join(block.split())
            long = max(map(len, _END.split(text)), default=0) > _MOST
            if _NOTE.search(text):
                continue  # marks of footnotes look like the marks that systems cite by
            if len(text) >= _LEAST and not long and _is_prose(block.strip("\n").split("\n")):
                found[text] = None
    return tuple(found)


def _is_prose(lines: list[str]) -> bool:
    """Neither code (indented by three or more) nor grammar nor a heading."""
    code = lines[0].startswith("   ") and lines[0].lstrip()[0] not in "*-"
    heading = len(lines) > 1 and set(lines[1]) <= set("*=-^~")
    return not (code or heading or "::=" in "".join(lines))


@lru_cache(maxsize=1)
def titles() -> tuple[str, ...]:
    """The headings of the topics."""
    from pydoc_data.topics import topics

    return tuple(dict.fromkeys(topics[topic].split("\n", 1)[0].strip() for topic in sorted(topics)))


def fingerprint() -> str:
    """Names the text that the stream is made of."""
    return blake2b("\n".join(paragraphs()).encode(), digest_size=8).hexdigest()


def stream(dice: Random) -> Iterator[Sentence]:
    """Sentences without end; the same for the same dice."""
    told = [_END.split(paragraph) for paragraph in paragraphs()]
    for sentences in told:
        yield from _set(sentences)
    sentences = sorted({sentence for paragraph in told for sentence in paragraph})
    long_words = [word for sentence in sentences for word in _LONG.findall(sentence)]
    while True:
        dice.shuffle(sentences)
        for first in range(0, len(sentences), _A_PARAGRAPH):
            group = sentences[first : first + _A_PARAGRAPH]
            yield from _set([_varied(sentence, long_words, dice) for sentence in group])


def _set(sentences: list[str]) -> Iterator[Sentence]:
    """One paragraph: a space after each sentence, a blank line after the last."""
    for sentence in sentences[:-1]:
        yield sentence, " "
    yield sentences[-1], "\n\n"


def _varied(sentence: str, long_words: list[str], dice: Random) -> str:
    """The sentence with every second long word exchanged."""
    return _LONG.sub(
        lambda found: dice.choice(long_words) if dice.random() < 0.5 else found[0], sentence
    )
