"""What a text is about, in one or two of its own sentences. Pure; no model.

A sentence counts for the terms that it shares with many others (what is said again and again is
what the text is about), for its length, and for standing early; the second one counts for what the
first has not said. Luhn, "The automatic creation of literature abstracts", 1958, with a lead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log

from foveate.core.text.blocks import block_spans
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span

__all__ = ["summarise"]

_MAX_SENTENCES = 300  # sentences
_LEAST, _MOST = 4, 60  # terms of a sentence that can stand for a text
_LEAD = 1.5  # what the first sentence counts more
_SMOOTH = 8.0


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    at: int
    terms: frozenset[str]
    prose: bool


def summarise(
    text: str,
    count: Callable[[str], int],
    *,
    tokens: int = 80,
    sentences: int = 2,
    language: str = "en",
    readable: Sequence[Span] | None = None,
) -> str:
    """At most so many sentences, of at most `tokens` in all; empty where none can stand for it.

    `readable`: the stretches that may be used, None for all of it. White space is folded.

    >>> tea = "Tea is made with boiling water. The water for tea must boil for a whole minute. Ok."
    >>> summarise(tea, len, tokens=40, sentences=1)
    'Tea is made with boiling water.'
    """
    units = list(_candidate_sentences(text, language, readable))
    shared = Counter(term for each in units for term in each.terms)
    found = [each for each in units if _is_informative(each)]
    worth = {term: log(number) for term, number in shared.items() if number > 1}
    chosen: list[_Sentence] = []
    while len(chosen) < sentences:
        said = {term for each in chosen for term in each.terms}
        ranked = sorted(found, key=lambda each: (-_score(each, worth, said), each.at))
        best = next((each for each in ranked if _fits_tokens([*chosen, each], count, tokens)), None)
        if best is None or (chosen and not _score(best, worth, said)):
            break
        chosen.append(best)
        found.remove(best)
    return _join_sentences(chosen)


def _candidate_sentences(
    text: str, language: str, readable: Sequence[Span] | None
) -> Iterator[_Sentence]:
    """The first sentences, headings and lines that may be used, with their terms."""
    at = 0
    for span, kind in block_spans(text):
        for start, end in unit_spans(text, span, kind, language):
            if at >= _MAX_SENTENCES:
                return
            if readable is None or any(a <= start and end <= b for a, b in readable):
                unit = " ".join(text[start:end].split())
                yield _Sentence(unit, at, frozenset(query_terms(unit)), kind == "paragraph")
            at += 1


def _is_informative(sentence: _Sentence) -> bool:
    """Prose that says something and asks nothing."""
    return (
        sentence.prose
        and _LEAST <= len(sentence.terms) <= _MOST
        and sentence.text[-1] not in "?？:："
    )


def _score(sentence: _Sentence, worth: dict[str, float], said: set[str]) -> float:
    # Sorted, so that the sum does not depend on the order of a set.
    total = sum(worth.get(term, 0.0) for term in sorted(sentence.terms - said))
    return total / (_SMOOTH + len(sentence.terms)) * (1 + _LEAD / (1 + sentence.at))


def _fits_tokens(chosen: Sequence[_Sentence], count: Callable[[str], int], tokens: int) -> bool:
    return count(_join_sentences(chosen)) <= tokens


def _join_sentences(chosen: Sequence[_Sentence]) -> str:
    return " ".join(each.text for each in sorted(chosen, key=lambda each: each.at))
