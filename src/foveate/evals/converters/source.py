"""What a public data set holds, in our words: passages, and questions with gold places in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A passage that can be retrieved; `start` is where it begins in its document."""

    id: str
    document_id: str
    text: str
    title: str = ""
    sequence: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A gold range of a document, and its text."""

    document_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question; `own` are the passages that come with it and are always candidates."""

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[Gold, ...]
    own: tuple[str, ...] = ()


@dataclass(slots=True)
class Source:
    """A set as it was read. `closed`: the candidates are a question's own passages and no more.

    `left_out` counts questions that cannot be cases, by reason.
    """

    passages: dict[str, Text] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    closed: bool = False
    _ids: dict[tuple[str, str], str] = field(default_factory=dict)

    def shelved(self, name: str, title: str, text: str) -> Text:
        """The passage with this title and text, a document of its own; the same one each time."""
        number = self._ids.setdefault((title, text), f"{name}-{len(self._ids)}")
        if number not in self.passages:
            self.passages[number] = Text(id=number, document_id=number, text=text, title=title)
        return self.passages[number]


def gold_in(passage: Text, span: Span) -> Gold:
    """The range of a passage as a gold place of its document."""
    start, end = span
    return Gold(
        document_id=passage.document_id,
        start=passage.start + start,
        end=passage.start + end,
        text=passage.text[start:end],
    )


def trimmed(text: str, start: int, end: int) -> Span:
    """The range without the white space at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def sentence_around(text: str, span: Span, language: str) -> Span:
    """From the beginning of the first sentence that the range touches to the end of the last.

    >>> text = "It is old. The well is deep. It was dug by hand."
    >>> start, end = sentence_around(text, (15, 19), "en")
    >>> text[start:end]
    'The well is deep.'
    """
    touched = [s for s in sentence_spans(text, language) if s[0] < span[1] and span[0] < s[1]]
    return (min(touched[0][0], span[0]), max(touched[-1][1], span[1])) if touched else span


def sentence_with(text: str, answers: Sequence[str], language: str) -> Span:
    """The sentence with the first answer that stands in the text; all of it where none does."""
    for answer in answers:
        pattern = r"\s+".join(map(re.escape, answer.split()))
        found = re.search(pattern, text, re.IGNORECASE) if pattern else None
        if found is not None:
            return sentence_around(text, found.span(), language)
    return trimmed(text, 0, len(text))
