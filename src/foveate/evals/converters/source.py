"""A public data set: passages, and questions with gold ranges in them.

A bad record or line is noted with its place, what it added is removed, and the rest goes on; a file
without a usable record is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.core.json_values import read_value, type_name
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Span
from foveate.evals.lines import expand_patterns, read_raw_lines
from foveate.pipeline.text_files import decode_line

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePassage:
    """A passage that can be retrieved; `start` is where it begins in its document."""

    id: str
    document_id: str
    text: str
    title: str = ""
    sequence: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """A gold range of a document, and its text."""

    document_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceQuestion:
    """A question; `own` are its own passages, which are always candidates.

    `itself`: the passage that is the question, which is never a candidate; empty if there is none.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[GoldSpan, ...]
    own: tuple[str, ...] = ()
    itself: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFailure:
    """A record that was not usable: its file, and its place in it and why."""

    path: str
    reason: str


@dataclass(slots=True)
class SourceDataset:
    """A data set. `closed`: the candidates are a question's own passages only.

    `left_out` counts questions that cannot be cases, by reason; `failed` are the bad records.
    """

    passages: dict[str, SourcePassage] = field(default_factory=dict)
    questions: list[SourceQuestion] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    failed: list[RecordFailure] = field(default_factory=list)
    closed: bool = False
    _ids: dict[tuple[str, str], str] = field(default_factory=dict)
    _question_ids: set[str] = field(default_factory=set)

    def add_passage(self, name: str, title: str, text: str) -> SourcePassage:
        """The passage with this title and text, a document of its own; the same one each time."""
        number = self._ids.setdefault((title, text), f"{name}-{len(self._ids)}")
        if number not in self.passages:
            self.passages[number] = SourcePassage(
                id=number, document_id=number, text=text, title=title
            )
        return self.passages[number]

    def add_question(self, question: SourceQuestion) -> None:
        """Keep the question; raises `BadInput` for a repeated id."""
        if question.id in self._question_ids:
            raise BadInput(f"two questions have the id {question.id!r}; the first is kept")
        self._question_ids.add(question.id)
        self.questions.append(question)

    def add_question_with_gold(self, question: SourceQuestion, reason: str) -> None:
        """The same for a question with gold; one without is counted under the reason."""
        if question.gold:
            self.add_question(question)
        else:
            self.left_out[reason] += 1

    def read_records(
        self, name: str, form: str, records: Iterable[tuple[str, T]], keep: Callable[[T], None]
    ) -> None:
        """Keep each usable (place, record) of a file, and note the others.

        Raises `BadInput` with the first failure and the wanted `form` if all fail.
        """
        before = len(self.failed)
        good = sum(self.try_record(name, place, record, keep) for place, record in records)
        if not good and len(self.failed) > before:
            raise BadInput(f"{name}: {self.failed[before].reason}; {form}")

    def read_json_lines(
        self, names: Sequence[str], form: str, kind: type[T], keep: Callable[[T], None]
    ) -> None:
        """The same for files of JSON Lines, and records of this kind."""

        def parsed(line: bytes) -> None:
            record = parse_json(decode_line(line))
            if not isinstance(record, Mapping):
                raise BadInput(f"a line is an object, not {type_name(record)}")
            keep(read_value(kind, record))

        for name in expand_patterns(names):
            self.read_records(name, form, read_numbered_lines(name), parsed)

    def try_record(self, name: str, place: str, record: T, keep: Callable[[T], None]) -> bool:
        """Whether it could be kept; a failure is noted and what it added is taken back."""
        passages, ids = len(self.passages), len(self._ids)
        try:
            keep(record)
        except BadInput as error:
            while len(self.passages) > passages:
                self.passages.popitem()
            while len(self._ids) > ids:
                self._ids.popitem()
            self.add_failure(name, error, place)
            return False
        return True

    def read_part(self, name: str, kind: type[T], item: Any, place: str) -> T | None:
        """A part of a record; None where it is bad, which is noted."""
        try:
            return cast("T", read_value(kind, item, place))
        except BadInput as error:
            self.add_failure(name, error)
            return None

    def add_failure(self, name: str, error: BadInput, place: str = "") -> None:
        """Keep what was wrong with a record of the file."""
        reason = f"{place}: {error}" if place else str(error)
        self.failed.append(RecordFailure(path=name, reason=reason))


def read_numbered_lines(name: str) -> Iterator[tuple[str, bytes]]:
    """(place, bytes) of the lines of a file."""
    return ((f"line {number}", line) for number, line in read_raw_lines(name))


def gold_from_span(passage: SourcePassage, span: Span) -> GoldSpan:
    """The range of a passage as a gold place of its document."""
    start, end = span
    return GoldSpan(
        document_id=passage.document_id,
        start=passage.start + start,
        end=passage.start + end,
        text=passage.text[start:end],
    )


def trim_span(text: str, start: int, end: int) -> Span:
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
    """The sentence with the first answer in the text, else all of it."""
    for answer in answers:
        pattern = r"\s+".join(map(re.escape, answer.split()))
        found = re.search(pattern, text, re.IGNORECASE) if pattern else None
        if found is not None:
            return sentence_around(text, found.span(), language)
    return trim_span(text, 0, len(text))
