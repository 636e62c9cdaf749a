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
from foveate.evals.converters.source import Gold, Question, Source, Text, gold_in, sentence_around
from foveate.evals.lines import expanded, whole_json

IMPOSSIBLE = "no answer in the article"
_BETWEEN = 2
"""Characters between two paragraphs of an article."""


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """All paragraphs and questions of the files."""
    source = Source()
    number = 0
    for name in expanded(names):
        try:
            whole = fields.obj(whole_json(name), "", "SQuAD is an object with data")
            for i, item in enumerate(fields.listed(whole, "data")):
                article = fields.obj(item, f"data[{i}]")
                _article(source, article, f"data[{i}]", f"{dataset}-{number}", language)
                number += 1
        except BadInput as error:
            said = str(error)
            raise BadInput(said if said.startswith(f"{name}: ") else f"{name}: {said}") from None
    return source


def _article(
    source: Source, article: Mapping[str, Any], where: str, document: str, language: str
) -> None:
    title = fields.text(article, "title", where, default="").replace("_", " ")
    start = 0
    for i, item in enumerate(fields.listed(article, "paragraphs", where)):
        inner = f"{where}.paragraphs[{i}]"
        paragraph = fields.obj(item, inner)
        passage = Text(
            id=f"{document}#{i}",
            document_id=document,
            text=fields.said(paragraph, "context", inner),
            title=title,
            sequence=i,
            start=start,
        )
        start += len(passage.text) + _BETWEEN
        source.passages[passage.id] = passage
        for question in _questions(source, paragraph, inner, passage, language):
            source.questions.append(question)


def _questions(
    source: Source, paragraph: Mapping[str, Any], where: str, passage: Text, language: str
) -> Iterator[Question]:
    for i, item in enumerate(fields.listed(paragraph, "qas", where)):
        inner = f"{where}.qas[{i}]"
        record = fields.obj(item, inner)
        answers = [
            _answer(answer, f"{inner}.answers[{j}]", passage)
            for j, answer in enumerate(fields.listed(record, "answers", inner))
        ]
        if not answers or fields.flag(record, "is_impossible", inner):
            source.left_out[IMPOSSIBLE] += 1
            continue
        yield Question(
            id=fields.said(record, "id", inner),
            text=fields.said(record, "question", inner),
            answers=tuple(dict.fromkeys(passage.text[start:end] for start, end in answers)),
            gold=(_gold(passage, answers[0], language),),
        )


def _answer(item: Any, where: str, passage: Text) -> Span:
    """Where it stands; the file's own offset must be right."""
    record = fields.obj(item, where)
    text = fields.said(record, "text", where)
    start = fields.whole(record, "answer_start", where)
    if start is None or passage.text[start : start + len(text)] != text:
        raise BadInput(f"{text[:40]!r} is not at {start} of its context", field=where)
    return start, start + len(text)


def _gold(passage: Text, answer: Span, language: str) -> Gold:
    return gold_in(passage, sentence_around(passage.text, answer, language))
