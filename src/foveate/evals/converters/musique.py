"""MuSiQue: JSON Lines, a question over two to four hops with twenty paragraphs.

    {"id", "question", "answer", "answer_aliases", "answerable",
     "paragraphs": [{"idx", "title", "paragraph_text", "is_supporting"}, ...],
     "question_decomposition": [{"answer", "paragraph_support_idx"}, ...]}

Trivedi et al. 2022, arXiv:2108.00573. Questions that cannot be answered are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foveate.core.json_values import NonBlank
from foveate.evals.converters.source import (
    SourceDataset,
    SourceQuestion,
    gold_from_span,
    sentence_with,
)

UNANSWERABLE = "not answerable"
NO_SUPPORT = "no supporting paragraph"
FORM = "MuSiQue is JSON Lines, a question with its paragraphs in each"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paragraph:
    title: str
    paragraph_text: NonBlank
    is_supporting: bool = False
    idx: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hop:
    answer: str
    paragraph_support_idx: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    id: NonBlank
    question: NonBlank
    answer: str
    answer_aliases: tuple[str, ...] = ()
    answerable: bool = True
    paragraphs: tuple[_Paragraph, ...]
    question_decomposition: tuple[_Hop, ...] = ()


def read_musique(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = SourceDataset()

    def keep(record: _Record) -> None:
        question = _parse_question(source, record, dataset, language)
        if question is None:
            source.left_out[UNANSWERABLE] += 1
        else:
            source.add_question_with_gold(question, NO_SUPPORT)

    source.read_json_lines(names, FORM, _Record, keep)
    return source


def _parse_question(
    source: SourceDataset, record: _Record, dataset: str, language: str
) -> SourceQuestion | None:
    """The question; None if it is not answerable."""
    hops: dict[int | None, tuple[str, ...]] = {}
    for hop in record.question_decomposition:
        hops[hop.paragraph_support_idx] = (*hops.get(hop.paragraph_support_idx, ()), hop.answer)
    gold, own = [], []
    for paragraph in record.paragraphs:
        text = paragraph.paragraph_text
        passage = source.add_passage(dataset, paragraph.title, text)
        own.append(passage.id)
        if paragraph.is_supporting:
            answers = hops.get(paragraph.idx, ())
            gold.append(gold_from_span(passage, sentence_with(text, answers, language)))
    if not record.answerable:
        return None
    return SourceQuestion(
        id=record.id,
        text=record.question,
        answers=tuple(dict.fromkeys((record.answer, *record.answer_aliases))),
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )
