"""MuSiQue: JSON Lines, a question over two to four hops with twenty paragraphs.

    {"id", "question", "answer", "answer_aliases", "answerable",
     "paragraphs": [{"idx", "title", "paragraph_text", "is_supporting"}, ...],
     "question_decomposition": [{"answer", "paragraph_support_idx"}, ...]}

Trivedi et al. 2022, arXiv:2108.00573. Questions that cannot be answered are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.evals import fields
from foveate.evals.converters.source import Question, Source, gold_in, sentence_with
from foveate.evals.lines import expanded

UNANSWERABLE = "not answerable"
NO_SUPPORT = "no supporting paragraph"
FORM = "MuSiQue is JSON Lines, a question with its paragraphs in each"


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = Source()

    def keep(record: Mapping[str, Any]) -> None:
        question = _question(source, record, dataset, language)
        if question is None:
            source.left_out[UNANSWERABLE] += 1
        elif not question.gold:
            source.left_out[NO_SUPPORT] += 1
        else:
            source.ask(question)

    for name in expanded(names):
        source.take_objects(name, FORM, keep)
    return source


def _question(
    source: Source, record: Mapping[str, Any], dataset: str, language: str
) -> Question | None:
    """The question; None where its paragraphs do not answer it."""
    hops = _hops(record)
    gold, own = [], []
    for i, item in enumerate(fields.listed(record, "paragraphs")):
        where = f"paragraphs[{i}]"
        paragraph = fields.obj(item, where)
        title = fields.text(paragraph, "title", where)
        text = fields.said(paragraph, "paragraph_text", where)
        passage = source.shelved(dataset, title, text)
        own.append(passage.id)
        if fields.flag(paragraph, "is_supporting", where):
            answers = hops.get(fields.whole(paragraph, "idx", where), ())
            gold.append(gold_in(passage, sentence_with(text, answers, language)))
    if not fields.flag(record, "answerable", default=True):
        return None
    aliases = fields.texts(record, "answer_aliases", optional=True)
    return Question(
        id=fields.said(record, "id"),
        text=fields.said(record, "question"),
        answers=tuple(dict.fromkeys((fields.text(record, "answer"), *aliases))),
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )


def _hops(record: Mapping[str, Any]) -> Mapping[int | None, tuple[str, ...]]:
    """Number of a paragraph → the answers that hops find in it."""
    found: dict[int | None, tuple[str, ...]] = {}
    for number, answer in _steps(record):
        found[number] = (*found.get(number, ()), answer)
    return found


def _steps(record: Mapping[str, Any]) -> Iterator[tuple[int | None, str]]:
    for i, item in enumerate(fields.listed(record, "question_decomposition", optional=True)):
        where = f"question_decomposition[{i}]"
        hop = fields.obj(item, where)
        yield fields.whole(hop, "paragraph_support_idx", where), fields.text(hop, "answer", where)
