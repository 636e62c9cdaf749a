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
FORM = "SQuAD is an object with data, a list of articles with their paragraphs"
_BETWEEN = 2
"""Characters between two paragraphs of an article."""

Asked = tuple[Text, str, Any]
"""A paragraph, the place of a question about it, and the question as it stands there."""


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """All paragraphs and questions of the files."""
    source = Source()

    def keep(asked: Asked) -> None:
        question = _question(*asked, language)
        if question is None:
            source.left_out[IMPOSSIBLE] += 1
        else:
            source.ask(question)

    number = 0
    for name in expanded(names):
        whole = whole_json(name, FORM)
        articles = whole.get("data") if isinstance(whole, Mapping) else None
        if not isinstance(articles, list):
            raise BadInput(f"{name}: is {_described(whole)}; {FORM}")
        documents = [f"{dataset}-{i}" for i in range(number, number + len(articles))]
        number += len(articles)
        asked = _asked(source, name, list(zip(documents, articles, strict=True)))
        source.take(name, FORM, asked, keep)
    return source


def _described(whole: Any) -> str:
    return "an object without such data" if isinstance(whole, Mapping) else fields.kind(whole)


def _asked(
    source: Source, name: str, articles: Sequence[tuple[str, Any]]
) -> Iterator[tuple[str, Asked]]:
    """The questions; their paragraphs are kept, and what is no paragraph is noted."""
    for i, (document, article) in enumerate(articles):
        start = 0
        try:
            title, paragraphs = _article(article, f"data[{i}]")
        except BadInput as error:
            source.note(name, error)
            continue
        for j, paragraph in enumerate(paragraphs):
            where = f"data[{i}].paragraphs[{j}]"
            try:
                text, qas = _paragraph(paragraph, where)
            except BadInput as error:
                source.note(name, error)
                continue
            passage = Text(
                id=f"{document}#{j}",
                document_id=document,
                text=text,
                title=title,
                sequence=j,
                start=start,
            )
            start += len(text) + _BETWEEN
            source.passages[passage.id] = passage
            for k, item in enumerate(qas):
                yield "", (passage, f"{where}.qas[{k}]", item)


def _article(item: Any, where: str) -> tuple[str, list[Any]]:
    """Its title and its paragraphs."""
    record = fields.obj(item, where)
    title = fields.text(record, "title", where, default="").replace("_", " ")
    return title, fields.listed(record, "paragraphs", where)


def _paragraph(item: Any, where: str) -> tuple[str, list[Any]]:
    """Its text and its questions."""
    record = fields.obj(item, where)
    return fields.said(record, "context", where), fields.listed(record, "qas", where)


def _question(passage: Text, where: str, item: Any, language: str) -> Question | None:
    """The question; None where nothing answers it."""
    record = fields.obj(item, where)
    answers = [
        _answer(answer, f"{where}.answers[{i}]", passage)
        for i, answer in enumerate(fields.listed(record, "answers", where))
    ]
    if not answers or fields.flag(record, "is_impossible", where):
        return None
    return Question(
        id=fields.said(record, "id", where),
        text=fields.said(record, "question", where),
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
