"""SQuAD, versions 1 and 2, and sets of its form (XQuAD, MLQA): one JSON object.

    {"data": [{"title", "paragraphs": [{"context",
        "qas": [{"id", "question", "is_impossible", "answers": [{"text", "answer_start"}]}]}]}]}

Rajpurkar et al. 2018, arXiv:1806.03822. A document is an article, its paragraphs two line ends
apart; the pool is the best paragraphs of all articles. Impossible questions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.types import Span
from foveate.evals import fields
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
            raise BadInput(f"{name}: is {_describe_value(whole)}; {FORM}")
        documents = [f"{dataset}-{i}" for i in range(number, number + len(articles))]
        number += len(articles)
        asked = _iter_questions(source, name, list(zip(documents, articles, strict=True)))
        source.read_records(name, FORM, asked, keep)
    return source


def _describe_value(whole: Any) -> str:
    return "an object without such data" if isinstance(whole, Mapping) else fields.type_name(whole)


def _iter_questions(
    source: SourceDataset, name: str, articles: Sequence[tuple[str, Any]]
) -> Iterator[tuple[str, RawQuestion]]:
    """The questions; adds their paragraphs and notes bad ones."""
    for i, (document, article) in enumerate(articles):
        start = 0
        try:
            title, paragraphs = _parse_article(article, f"data[{i}]")
        except BadInput as error:
            source.add_failure(name, error)
            continue
        for j, paragraph in enumerate(paragraphs):
            where = f"data[{i}].paragraphs[{j}]"
            try:
                text, qas = _parse_paragraph(paragraph, where)
            except BadInput as error:
                source.add_failure(name, error)
                continue
            passage = SourcePassage(
                id=f"{document}#{j}",
                document_id=document,
                text=text,
                title=title,
                sequence=j,
                start=start,
            )
            start += len(text) + _PARAGRAPH_GAP
            source.passages[passage.id] = passage
            for k, item in enumerate(qas):
                yield "", (passage, f"{where}.qas[{k}]", item)


def _parse_article(item: Any, where: str) -> tuple[str, list[Any]]:
    record = fields.check_object(item, where)
    title = fields.get_text(record, "title", where, default="").replace("_", " ")
    return title, fields.get_list(record, "paragraphs", where)


def _parse_paragraph(item: Any, where: str) -> tuple[str, list[Any]]:
    record = fields.check_object(item, where)
    return fields.get_nonblank_text(record, "context", where), fields.get_list(record, "qas", where)


def _parse_question(
    passage: SourcePassage, where: str, item: Any, language: str
) -> SourceQuestion | None:
    """The question; None if it has no answer."""
    record = fields.check_object(item, where)
    answers = [
        _parse_answer(answer, f"{where}.answers[{i}]", passage)
        for i, answer in enumerate(fields.get_list(record, "answers", where))
    ]
    if not answers or fields.get_boolean(record, "is_impossible", where):
        return None
    return SourceQuestion(
        id=fields.get_nonblank_text(record, "id", where),
        text=fields.get_nonblank_text(record, "question", where),
        answers=tuple(dict.fromkeys(passage.text[start:end] for start, end in answers)),
        gold=(gold_from_span(passage, sentence_around(passage.text, answers[0], language)),),
    )


def _parse_answer(item: Any, where: str, passage: SourcePassage) -> Span:
    """The answer's range; the file's offset must be right."""
    record = fields.check_object(item, where)
    text = fields.get_nonblank_text(record, "text", where)
    start = fields.get_integer(record, "answer_start", where)
    if start is None or passage.text[start : start + len(text)] != text:
        raise BadInput(f"{text[:40]!r} is not at {start} of its context", field=where)
    return start, start + len(text)
