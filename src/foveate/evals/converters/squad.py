"""SQuAD, versions 1 and 2, and sets of its form (XQuAD, MLQA): one JSON object.

    {"data": [{"title", "paragraphs": [{"context",
        "qas": [{"id", "question", "is_impossible", "answers": [{"text", "answer_start"}]}]}]}]}

Rajpurkar et al. 2018, arXiv:1806.03822. A document is an article, its paragraphs two line ends
apart; the pool is the best paragraphs of all articles. Impossible questions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.json_values import NonBlank, read_value, type_name
from foveate.core.types import Span
from foveate.evals.converters.source import (
    SourceDataset,
    SourcePassage,
    SourceQuestion,
    gold_from_span,
    sentence_around,
)
from foveate.evals.lines import expand_patterns, read_json

IMPOSSIBLE = "no answer in the article"
FORM = "SQuAD is an object with data, a list of articles with their paragraphs"
_PARAGRAPH_GAP = 2
"""Characters between two paragraphs of an article."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Article:
    title: str | None = None
    paragraphs: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paragraph:
    context: NonBlank
    qas: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    text: NonBlank
    answer_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _SquadQuestion:
    id: NonBlank
    question: NonBlank
    is_impossible: bool = False
    answers: tuple[_Answer, ...]


RawQuestion = tuple[SourcePassage, str, Any]
"""A paragraph, the place of a question about it, and the question as it stands there."""


def read_squad(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All paragraphs and questions of the files."""
    source = SourceDataset()

    def keep(asked: RawQuestion) -> None:
        question = _parse_question(*asked, language)
        if question is None:
            source.left_out[IMPOSSIBLE] += 1
        else:
            source.add_question(question)

    number = 0
    for name in expand_patterns(names):
        whole = read_json(name, FORM)
        articles = whole.get("data") if isinstance(whole, Mapping) else None
        if not isinstance(articles, list):
            said = "an object without such data" if isinstance(whole, Mapping) else type_name(whole)
            raise BadInput(f"{name}: is {said}; {FORM}")
        documents = [f"{dataset}-{i}" for i in range(number, number + len(articles))]
        number += len(articles)
        asked = _iter_questions(source, name, list(zip(documents, articles, strict=True)))
        source.read_records(name, FORM, asked, keep)
    return source


def _iter_questions(
    source: SourceDataset, name: str, articles: Sequence[tuple[str, Any]]
) -> Iterator[tuple[str, RawQuestion]]:
    """The questions; adds their paragraphs and notes bad ones."""
    for i, (document, item) in enumerate(articles):
        start = 0
        article = source.read_part(name, _Article, item, f"data[{i}]")
        for j, inner in enumerate(article.paragraphs if article is not None else ()):
            where = f"data[{i}].paragraphs[{j}]"
            paragraph = source.read_part(name, _Paragraph, inner, where)
            if article is None or paragraph is None:
                continue
            passage = SourcePassage(
                id=f"{document}#{j}",
                document_id=document,
                text=paragraph.context,
                title=(article.title or "").replace("_", " "),
                sequence=j,
                start=start,
            )
            start += len(passage.text) + _PARAGRAPH_GAP
            source.passages[passage.id] = passage
            for k, asked in enumerate(paragraph.qas):
                yield "", (passage, f"{where}.qas[{k}]", asked)


def _parse_question(
    passage: SourcePassage, where: str, item: Any, language: str
) -> SourceQuestion | None:
    """The question; None if it has no answer. A file's offsets must be right."""
    record: _SquadQuestion = read_value(_SquadQuestion, item, where)
    spans: list[Span] = []
    for i, answer in enumerate(record.answers):
        start, end = answer.answer_start, answer.answer_start + len(answer.text)
        if passage.text[start:end] != answer.text:
            message = f"{answer.text[:40]!r} is not at {start} of its context"
            raise BadInput(message, field=f"{where}.answers[{i}]")
        spans.append((start, end))
    if not spans or record.is_impossible:
        return None
    return SourceQuestion(
        id=record.id,
        text=record.question,
        answers=tuple(dict.fromkeys(passage.text[start:end] for start, end in spans)),
        gold=(gold_from_span(passage, sentence_around(passage.text, spans[0], language)),),
    )
