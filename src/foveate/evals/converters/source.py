"""What a public data set holds, in our words: passages, and questions with gold places in them.

One bad record, or one bad line, is noted with its file and its place and the rest go on; a file of
which no record is usable is of another format, and is refused. What a bad record added is taken
back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Span
from foveate.evals import fields
from foveate.evals.lines import decoded, raw_lines

T = TypeVar("T")


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
    """A question; `own` are the passages that come with it and are always candidates.

    `itself`: the passage that is the question, empty where none is; it is never a candidate.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[Gold, ...]
    own: tuple[str, ...] = ()
    itself: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A record that was not usable: its file, and its place in it and why."""

    path: str
    reason: str


@dataclass(slots=True)
class Source:
    """A set as it was read. `closed`: the candidates are a question's own passages and no more.

    `left_out` counts questions that cannot be cases, by reason; `failed` are the records with
    something wrong.
    """

    passages: dict[str, Text] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    failed: list[Failure] = field(default_factory=list)
    closed: bool = False
    _ids: dict[tuple[str, str], str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    def shelved(self, name: str, title: str, text: str) -> Text:
        """The passage with this title and text, a document of its own; the same one each time."""
        number = self._ids.setdefault((title, text), f"{name}-{len(self._ids)}")
        if number not in self.passages:
            self.passages[number] = Text(id=number, document_id=number, text=text, title=title)
        return self.passages[number]

    def ask(self, question: Question) -> None:
        """Keep the question; raises `BadInput` where its id was there before."""
        if question.id in self._asked:
            raise BadInput(f"two questions have the id {question.id!r}; the first is kept")
        self._asked.add(question.id)
        self.questions.append(question)

    def take(
        self, name: str, form: str, records: Iterable[tuple[str, T]], keep: Callable[[T], None]
    ) -> None:
        """Keep each (place, record) of a file that is usable, and note the others.

        Raises `BadInput` with the first of them, and with the `form` that is wanted, where all of
        them failed.
        """
        before = len(self.failed)
        good = sum(self.tried(name, place, record, keep) for place, record in records)
        if not good and len(self.failed) > before:
            raise BadInput(f"{name}: {self.failed[before].reason}; {form}")

    def take_objects(self, name: str, form: str, keep: Callable[[Mapping[str, Any]], None]) -> None:
        """The same for a file of JSON Lines."""

        def parsed(line: bytes) -> None:
            keep(fields.obj(parse_json(decoded(line)), "", "a line is an object"))

        self.take(name, form, numbered(name), parsed)

    def tried(self, name: str, place: str, record: T, keep: Callable[[T], None]) -> bool:
        """Whether it could be kept; a failure is noted and what it added is taken back."""
        passages, ids = len(self.passages), len(self._ids)
        try:
            keep(record)
        except BadInput as error:
            while len(self.passages) > passages:
                self.passages.popitem()
            while len(self._ids) > ids:
                self._ids.popitem()
            self.note(name, error, place)
            return False
        return True

    def note(self, name: str, error: BadInput, place: str = "") -> None:
        """Keep what was wrong with a record of the file."""
        reason = f"{place}: {error}" if place else str(error)
        self.failed.append(Failure(path=name, reason=reason))


def numbered(name: str) -> Iterator[tuple[str, bytes]]:
    """(place, bytes) of the lines of a file."""
    return ((f"line {number}", line) for number, line in raw_lines(name))


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
