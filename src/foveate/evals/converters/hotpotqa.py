"""HotpotQA, distractor setting: one JSON list of questions with ten paragraphs each.

    {"_id", "question", "answer", "context": [[title, [sentence, ...]], ...],
     "supporting_facts": [[title, number of the sentence], ...]}

Yang et al. 2018, arXiv:1809.09600. A few published facts name a sentence that is not there; they
are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.types import Span
from foveate.evals import fields
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


def read_hotpotqa(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = SourceDataset()

    def keep(item: Any) -> None:
        question = _parse_question(source, fields.check_object(item, ""), dataset)
        if question.gold:
            source.add_question(question)
        else:
            source.left_out[NO_FACT] += 1

    for name in expand_patterns(names):
        items = read_json(name, FORM)
        if not isinstance(items, list):
            raise BadInput(f"{name}: is {fields.type_name(items)}; {FORM}")
        source.read_records(
            name, FORM, ((f"question {i}", item) for i, item in enumerate(items, 1)), keep
        )
    return source


def _parse_question(
    source: SourceDataset, record: Mapping[str, Any], dataset: str
) -> SourceQuestion:
    paragraphs: dict[str, tuple[SourcePassage, list[Span]]] = {}
    for i, item in enumerate(fields.get_list(record, "context")):
        title, sentences = _parse_pair(item, f"context[{i}]")
        text, spans = _join_sentences(sentences, f"context[{i}][1]")
        passage = source.add_passage(dataset, fields.check_string(title, f"context[{i}][0]"), text)
        paragraphs.setdefault(passage.title, (passage, spans))
    return SourceQuestion(
        id=fields.get_nonblank_text(record, "_id"),
        text=fields.get_nonblank_text(record, "question"),
        answers=(fields.get_text(record, "answer"),),
        gold=tuple(dict.fromkeys(_parse_gold(record, paragraphs))),
        own=tuple(passage.id for passage, _ in paragraphs.values()),
    )


def _parse_gold(
    record: Mapping[str, Any], paragraphs: Mapping[str, tuple[SourcePassage, list[Span]]]
) -> Iterator[GoldSpan]:
    for i, item in enumerate(fields.get_list(record, "supporting_facts")):
        title, number = _parse_pair(item, f"supporting_facts[{i}]")
        if type(number) is not int:
            raise BadInput(f"must be a number, not {number!r}", field=f"supporting_facts[{i}][1]")
        passage, spans = paragraphs.get(title, (None, []))
        if passage is not None and 0 <= number < len(spans) and spans[number][0] < spans[number][1]:
            yield gold_from_span(passage, spans[number])


def _parse_pair(item: Any, where: str) -> tuple[Any, Any]:
    if not isinstance(item, list) or len(item) != 2:
        raise BadInput("must be a pair", field=where)
    return fields.check_string(item[0], f"{where}[0]"), item[1]


def _join_sentences(sentences: Any, where: str) -> tuple[str, list[Span]]:
    """The paragraph, and the range of each sentence; a missing space is inserted."""
    if not isinstance(sentences, list):
        raise BadInput(f"must be a list, not {fields.type_name(sentences)}", field=where)
    text, ends = "", []
    for i, item in enumerate(sentences):
        sentence = fields.check_string(item, f"{where}[{i}]")
        apart = not text or text[-1:].isspace() or sentence[:1].isspace()
        text += sentence if apart else f" {sentence}"
        ends.append(len(text))
    return text, [trim_span(text, s, e) for s, e in zip([0, *ends], ends, strict=False)]
