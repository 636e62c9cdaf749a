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
from foveate.evals.converters.source import (
    SourceDataset,
    SourceQuestion,
    gold_from_span,
    sentence_with,
)
from foveate.evals.lines import expand_patterns

UNANSWERABLE = "not answerable"
NO_SUPPORT = "no supporting paragraph"
FORM = "MuSiQue is JSON Lines, a question with its paragraphs in each"


def read_musique(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = SourceDataset()

    def keep(record: Mapping[str, Any]) -> None:
        question = _parse_question(source, record, dataset, language)
        if question is None:
            source.left_out[UNANSWERABLE] += 1
        elif not question.gold:
            source.left_out[NO_SUPPORT] += 1
        else:
            source.add_question(question)

    for name in expand_patterns(names):
        source.read_json_lines(name, FORM, keep)
    return source


def _parse_question(
    source: SourceDataset, record: Mapping[str, Any], dataset: str, language: str
) -> SourceQuestion | None:
    """The question; None if it is not answerable."""
    hops = _answers_by_paragraph(record)
    gold, own = [], []
    for i, item in enumerate(fields.get_list(record, "paragraphs")):
        where = f"paragraphs[{i}]"
        paragraph = fields.check_object(item, where)
        title = fields.get_text(paragraph, "title", where)
        text = fields.get_nonblank_text(paragraph, "paragraph_text", where)
        passage = source.add_passage(dataset, title, text)
        own.append(passage.id)
        if fields.get_boolean(paragraph, "is_supporting", where):
            answers = hops.get(fields.get_integer(paragraph, "idx", where), ())
            gold.append(gold_from_span(passage, sentence_with(text, answers, language)))
    if not fields.get_boolean(record, "answerable", default=True):
        return None
    aliases = fields.get_texts(record, "answer_aliases", optional=True)
    return SourceQuestion(
        id=fields.get_nonblank_text(record, "id"),
        text=fields.get_nonblank_text(record, "question"),
        answers=tuple(dict.fromkeys((fields.get_text(record, "answer"), *aliases))),
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )


def _answers_by_paragraph(record: Mapping[str, Any]) -> Mapping[int | None, tuple[str, ...]]:
    """Number of a paragraph → the hops' answers in it."""
    found: dict[int | None, tuple[str, ...]] = {}
    for number, answer in _parse_steps(record):
        found[number] = (*found.get(number, ()), answer)
    return found


def _parse_steps(record: Mapping[str, Any]) -> Iterator[tuple[int | None, str]]:
    for i, item in enumerate(fields.get_list(record, "question_decomposition", optional=True)):
        where = f"question_decomposition[{i}]"
        hop = fields.check_object(item, where)
        yield (
            fields.get_integer(hop, "paragraph_support_idx", where),
            fields.get_text(hop, "answer", where),
        )
