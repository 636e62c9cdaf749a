"""What a ledger may quote of texts that left, each kind in the order of its need."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from foveate.core.bounded_cache import BoundedCache
from foveate.core.compact.entries import Speaker
from foveate.core.compact.ledger_text import WORTH_HANDLE, Origin
from foveate.core.compact.shorten import split_result
from foveate.core.compact.values import extract_values, value_form
from foveate.core.seal import content_hash
from foveate.core.text.facts import polarity_mark
from foveate.core.text.log_levels import is_severe
from foveate.core.text.salience import inverse_document_frequency
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import split_words
from foveate.core.types import Span

OPENING = 5
"""Sentences of the first person who spoke that come first: they say the task."""
LONGEST_SAID = 240
"""Characters of a sentence; a longer one of the model is an excerpt like others."""
REPEATED = 3
"""Sentences that differ in their numbers alone; of more, these many come before the others."""
LONGEST_LINE = 240
"""Characters; a longer line is no entry of a log that could be quoted."""
MOST_LINES = 40
"""Lines of one text that say an error, or that the question names."""
MOST_NAMED = 24
"""Places in a text; a value in more of them, such as the day of a log, tells nothing."""
LEAST_WORDS = 3
"""In a line; fewer are a value with its key, which a ledger names without quoting it."""
_LINE = re.compile(r"[^\n]++")
_KNOWN: BoundedCache[str, tuple[Span, ...]] = BoundedCache(2_000_000)
"""An agent sends its logs again with each call; reading them again took a fifth of the time."""
_DECISION = re.compile(
    r"""\b(?:decid|decision|conclu|because\b|therefore\b|turns\ out|root\ cause|caused?\ by
    |found\ that|instead\ of|will\ not\b|won't\b|entsch(?:ied|eid)|beschl(?:oss|uss)|weil\b
    |deshalb\b|daher\b|ursache|grund\b|statt\b|d[ée]ci[ds]|parce\ qu|donc\b|caus[eé]\b
    |porque\b|por\ eso\b|por\ (?:lo\ )?tanto\b|causa\b|en\ (?:vez|lugar)\ de\b)
    |决定|決定|因为|因為|所以|因此|结论|結論|原因|改为""",
    re.IGNORECASE | re.VERBOSE,
)
"""A sentence of the model that decides or concludes something."""
_HAN = "\u2e80"
KINDS: tuple[Speaker, ...] = ("user", "assistant", "tool")
"""Whose words say most, first."""

Piece: TypeAlias = tuple[int, str]
"""The place of an origin, and a text of it."""


class Quotes(NamedTuple):
    """Texts that left.

    `people`: all that they said. `decisions`, `answers`: sentences of the model. `lines`: of long
    results, those that the question names or that say an error. `excerpts`: pieces of anything.
    """

    people: Sequence[Piece]
    decisions: Sequence[Piece]
    answers: Sequence[Piece]
    lines: Sequence[Piece]
    excerpts: Iterable[Piece]


def find_quotes(origins: Sequence[Origin], question: str, query: str) -> Quotes:
    """What of the origins could be quoted; `question`: what a person said last."""
    brief = (one for one in _newest(origins, "assistant") if len(one[1]) <= LONGEST_SAID)
    answers, _ = _part_repeated(brief)
    pieces = (one for kind in KINDS for one in _newest(origins, kind))
    return Quotes(
        people=_people(origins),
        decisions=[piece for piece in answers if _DECISION.search(piece[1])],
        answers=[piece for piece in answers if not _DECISION.search(piece[1])],
        lines=_telling_lines(origins, query or question),
        excerpts=_rank_pieces(pieces, query) if query else pieces,
    )


def _people(origins: Sequence[Origin]) -> list[Piece]:
    """What people said: the newest question, the task, rules from the oldest on, and the rest."""
    spoken = [n for n, origin in enumerate(origins) if origin.kind == "user"]
    said = [piece for n in spoken for piece in _split(origins, n)]
    task = [piece for piece in said if piece[0] == spoken[0]][:OPENING]
    opening = [piece for piece in task if len(piece[1]) <= LONGEST_SAID]
    few, more = _part_repeated(said)
    rules = [piece for piece in few if _is_rule(piece[1])]
    asked = [piece for piece in reversed(few) if is_question(piece[1])]
    return list(dict.fromkeys((*asked[:1], *opening, *rules, *asked, *few, *more)))


def _is_rule(text: str) -> bool:
    """Whether a sentence forbids, demands or limits something."""
    return any(map(polarity_mark, (*split_words(text), *(sign for sign in text if sign >= _HAN))))


def is_question(text: str) -> bool:
    """Whether a sentence asks something."""
    return text.rstrip("\"')*_ ").endswith(("?", "\uff1f", "\u061f"))


def _part_repeated(pieces: Iterable[Piece]) -> tuple[list[Piece], list[Piece]]:
    """The pieces, of those that differ in their numbers alone the first few; and the others."""
    seen: Counter[str] = Counter()
    few, more = list[Piece](), list[Piece]()
    for piece in pieces:
        form = value_form(piece[1])
        seen[form] += 1
        (few if seen[form] <= REPEATED else more).append(piece)
    return few, more


def _telling_lines(origins: Sequence[Origin], question: str) -> list[Piece]:
    """Lines of long results that the question names, or that say an error."""
    found: list[Piece] = []
    for n, origin in enumerate(origins):
        if origin.kind == "tool" and origin.size >= WORTH_HANDLE:
            text = origin.text
            spans = sorted({*error_lines(text), *named_lines(text, question)})
            found += ((n, text[a:b]) for a, b in spans if text[a:b] not in origin.shown)
    return _rank_pieces(found, question)


def error_lines(text: str) -> tuple[Span, ...]:
    """The lines that say an error, in order: the first of each form."""
    key = content_hash(text)
    known = _KNOWN.get(key)
    if known is None:
        found: dict[str, Span] = {}
        for start, end in _short_lines(text):
            if is_severe(text[start:end]):
                found.setdefault(value_form(text[start:end]), (start, end))
        known = tuple(found.values())[:MOST_LINES]
        _KNOWN.put(key, known)
    return known


def named_lines(text: str, question: str) -> list[Span]:
    """The lines with a value of the question in them, such as an identifier or a time, in order."""
    values = [value.text for value in extract_values(question) if value.kind != "small"]
    named = [value for value in values if 0 < text.count(value) <= MOST_NAMED]
    if not named:
        return []
    pattern = re.compile("|".join(map(re.escape, named)))
    return [line for line in _short_lines(text) if pattern.search(text, *line)][:MOST_LINES]


def _short_lines(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        short = match.end() - match.start() <= LONGEST_LINE
        if short and len(match[0].split(maxsplit=LEAST_WORDS)) >= LEAST_WORDS:
            yield match.span()


def _newest(origins: Sequence[Origin], kind: Speaker) -> Iterator[Piece]:
    """Pieces of what one kind of speaker said, the newest text first."""
    for n in range(len(origins) - 1, -1, -1):
        if origins[n].kind == kind:
            yield from _split(origins, n)


def _split(origins: Sequence[Origin], n: int) -> Iterator[Piece]:
    """The sentences or records of an origin that are not shown."""
    origin = origins[n]
    split = split_result(origin.text)[0] if origin.kind == "tool" else None
    for start, end in split or sentence_spans(origin.text):
        if (piece := origin.text[start:end]) not in origin.shown:
            yield n, piece


def _rank_pieces(pieces: Iterable[Piece], query: str) -> list[Piece]:
    """Those with rare words of the query first, else as they came."""
    known = [(piece, frozenset(split_words(piece[1]))) for piece in pieces]
    rare = inverse_document_frequency(query, [words for _, words in known])
    known.sort(key=lambda one: -sum(weight for word, weight in rare.items() if word in one[1]))
    return [piece for piece, _ in known]
