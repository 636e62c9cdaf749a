"""Extractive summaries of a text, and the questions that it answers, in its own words.

A sentence counts for the terms that it shares with many others, for its length and for its early
place; the second for what the first has not said (Luhn, "The automatic creation of literature
abstracts", 1958). Questions are those in the text, and headings under the document's title.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log

from foveate.core.text.blocks import block_spans
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span

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
        fitting = (one for one in ranked if count(_join_sentences([*chosen, one])) <= tokens)
        best = next(fitting, None)
        if best is None or (chosen and not _score(best, worth, said)):
            break
        chosen.append(best)
        found.remove(best)
    return _join_sentences(chosen)


def _candidate_sentences(
    text: str, language: str, readable: Sequence[Span] | None
) -> Iterator[_Sentence]:
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
    return (
        sentence.prose
        and _LEAST <= len(sentence.terms) <= _MOST
        and sentence.text[-1] not in "?？:："
    )


def _score(sentence: _Sentence, worth: dict[str, float], said: set[str]) -> float:
    # Sorted, so that the sum does not depend on the order of a set.
    total = sum(worth.get(term, 0.0) for term in sorted(sentence.terms - said))
    return total / (_SMOOTH + len(sentence.terms)) * (1 + _LEAD / (1 + sentence.at))


def _join_sentences(chosen: Sequence[_Sentence]) -> str:
    return " ".join(each.text for each in sorted(chosen, key=lambda each: each.at))


_SHORTEST, _LONGEST = 8, 200  # characters of a question
_SHORTEST_UNSPACED = 4
_MARKUP = re.compile(r"^[\s#>*_`|-]+|[\s#*_`|]+$|[*_`]{2,}")
_LABEL = re.compile(r"^(?:Q|F|Question|Frage|Vraag)\s*\d*\s*[:.)]\s*", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.)])\s+")
_HOW_TO = re.compile(r"^how to\s+(.+?)[.:]?$", re.IGNORECASE)
_MARKS = ("?", "？", "؟", "՞")


def extract_questions(
    text: str, *, title: str = "", section: str = "", language: str = "en", most: int = 5
) -> tuple[str, ...]:
    r"""At most so many questions, distinct, those in so many words first; one names the title.

    `section`: the heading path that the piece begins under.

    >>> extract_questions("## How to bleed the pump\n\nOpen the valve. Is it hot?")
    ('How do I bleed the pump?', 'Is it hot?')
    >>> extract_questions("It opens at 4 bar.", title="Boiler", section="Boiler > Opening pressure")
    ('Boiler: Opening pressure?',)
    """
    headings, sentences = [part for part in [section.rpartition(" > ")[2]] if part], list[str]()
    for span, kind in block_spans(text):
        if kind == "heading":
            headings.append(text[span[0] : span[1]].partition("\n")[0])
        elif kind in ("paragraph", "list") and _has_mark(text[span[0] : span[1]]):
            sentences += _question_sentences(text, unit_spans(text, span, kind, language))
    bare = list(dict.fromkeys(_strip_markup(each) for each in headings))
    asked = [each for each in (*map(_question_from_heading, bare), *sentences) if _is_usable(each)]
    kept = list(dict.fromkeys(asked))[:most]
    made = [
        each
        for each in bare
        if not _question_from_heading(each) and each.casefold() != title.casefold()
    ]
    kept += [f"{title}: {each}?" for each in made if title and each][: most - len(kept)]
    if title and not any(title.casefold() in each.casefold() for each in kept):
        kept[most - 1 :] = [f"{title}?"]
    return tuple(kept)


def _question_from_heading(heading: str) -> str:
    if heading.endswith(_MARKS):
        return heading
    found = _HOW_TO.match(heading)
    return f"How do I {found[1]}?" if found else ""


def _question_sentences(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    for start, end in spans:
        if _has_mark(text[start:end]):  # most have none, and reading them is slow
            sentence = _strip_markup(text[start:end])
            if sentence.endswith(_MARKS):
                yield sentence


def _has_mark(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _strip_markup(text: str) -> str:
    bare = _MARKUP.sub("", " ".join(text.split()))
    return _LABEL.sub("", _NUMBER.sub("", bare)).strip()


def _is_usable(question: str) -> bool:
    least = _SHORTEST if question.isascii() else _SHORTEST_UNSPACED
    return least <= len(question) <= _LONGEST
