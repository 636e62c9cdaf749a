"""What a search takes from the questions before, if the new one says little by itself.

"And in 2023?" has one word to search for. The model reads the question as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from foveate.core.text.terms import document_terms, keys
from foveate.core.weak_evidence import FRAME

FEW = 2
"""A question with fewer words to search for is a follow-up, where there is a question before."""
MOST_BACK = 3  # questions
EDGE = 150
"""Characters that are read at each end of a question before: the middle may be a pasted text."""
SEARCHED_ALSO = "searched_also"
"""The note that names the words."""


def add_earlier_words(
    query: str, history: Iterable[tuple[str, str]]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What is searched for, and the note that says which words were added."""
    earlier = earlier_words(query, history)
    return (f"{query} {earlier}", ((SEARCHED_ALSO, earlier),)) if earlier else (query, ())


def earlier_words(query: str, history: Iterable[tuple[str, str]]) -> str:
    """The words of the questions before that are searched too; empty if the query has its own.

    `history`: earlier messages as (role, content), in their order.

    >>> said = [("user", "What is the kilometre rate for private cars?"), ("assistant", "0.30.")]
    >>> earlier_words("And in 2023?", said)
    'kilometre rate private cars'
    >>> earlier_words("When was the old mill at Uferstadt built?", said)
    ''
    """
    own = _telling_words(query)
    if len(own) >= FEW:
        return ""
    asked = [content for role, content in history if role in ("user", "human")]
    found: dict[str, str] = {}
    for question in asked[: -MOST_BACK - 1 : -1]:
        words = _telling_words(_edges(question))
        found |= {k: word for k, word in words.items() if k not in own | found}
        if len(found) >= FEW:
            break
    return " ".join(found.values())


def _edges(question: str) -> str:
    """The question; of a long one its beginning and its end, in whole words."""
    if len(question) <= 2 * EDGE:
        return question
    head, tail = question[:EDGE].rsplit(maxsplit=1)[:1], question[-EDGE:].split(maxsplit=1)[-1:]
    return " ".join([*head, *tail])


def _telling_words(text: str) -> dict[str, str]:
    """The words that a search can tell texts by, by what they are compared by."""
    words = (word.strip("?!.,;:…¿¡\"'()[]«»“”„‘’") for word in text.split())
    known = ((tuple(keys(document_terms(word))), word) for word in words)
    return {" ".join(k): word for k, word in known if k and not FRAME.issuperset(k)}
