"""HotpotQA, distractor setting: one JSON list of questions with ten paragraphs each.

    {"_id", "question", "answer", "context": [[title, [sentence, ...]], ...],
     "supporting_facts": [[title, number of the sentence], ...]}

Yang et al. 2018, arXiv:1809.09600. A few published facts name a sentence that is not there; they
are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.json_values import NonBlank, read_value, type_name
from foveate.core.types import Span
from foveate.evals.converters.source import (
    GoldSpan,
    SourceDataset,
    SourcePassage,
    SourceQuestion,
    gold_from_span,
    trim_span,
)
from foveate.evals.lines import expand_patterns, read_json

NO_FACT = "no supporting sentence in the paragraphs"
FORM = "HotpotQA is a list of questions, each with context and supporting_facts"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    id: NonBlank = field(metadata={"key": "_id"})
    question: NonBlank
    answer: str
    context: tuple[tuple[str, tuple[str, ...]], ...]
    supporting_facts: tuple[tuple[str, int], ...]


def read_hotpotqa(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = SourceDataset()

    def keep(item: Any) -> None:
        question = _parse_question(source, read_value(_Record, item), dataset)
        source.add_question_with_gold(question, NO_FACT)

    for name in expand_patterns(names):
        items = read_json(name, FORM)
        if not isinstance(items, list):
            raise BadInput(f"{name}: is {type_name(items)}; {FORM}")
        source.read_records(
            name, FORM, ((f"question {i}", item) for i, item in enumerate(items, 1)), keep
        )
    return source


def _parse_question(source: SourceDataset, record: _Record, dataset: str) -> SourceQuestion:
    paragraphs: dict[str, tuple[SourcePassage, list[Span]]] = {}
    for title, sentences in record.context:
        text, spans = _join_sentences(sentences)
        passage = source.add_passage(dataset, title, text)
        paragraphs.setdefault(passage.title, (passage, spans))
    return SourceQuestion(
        id=record.id,
        text=record.question,
        answers=(record.answer,),
        gold=tuple(dict.fromkeys(_parse_gold(record, paragraphs))),
        own=tuple(passage.id for passage, _ in paragraphs.values()),
    )


def _parse_gold(
    record: _Record, paragraphs: Mapping[str, tuple[SourcePassage, list[Span]]]
) -> Iterator[GoldSpan]:
    for title, number in record.supporting_facts:
        passage, spans = paragraphs.get(title, (None, []))
        if passage is not None and number < len(spans) and spans[number][0] < spans[number][1]:
            yield gold_from_span(passage, spans[number])


def _join_sentences(sentences: Sequence[str]) -> tuple[str, list[Span]]:
    """The paragraph, and the range of each sentence; a missing space is inserted."""
    text, ends = "", []
    for sentence in sentences:
        apart = not text or text[-1:].isspace() or sentence[:1].isspace()
        text += sentence if apart else f" {sentence}"
        ends.append(len(text))
    return text, [trim_span(text, s, e) for s, e in zip([0, *ends], ends, strict=False)]
