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
from foveate.evals.converters.source import Gold, Question, Source, Text, gold_in, trimmed
from foveate.evals.lines import expanded, whole_json

NO_FACT = "no supporting sentence in the paragraphs"
FORM = "HotpotQA is a list of questions, each with context and supporting_facts"


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """All questions of the files; the same paragraph of two questions is one passage."""
    source = Source()

    def keep(item: Any) -> None:
        question = _question(source, fields.obj(item, ""), dataset)
        if question.gold:
            source.ask(question)
        else:
            source.left_out[NO_FACT] += 1

    for name in expanded(names):
        items = whole_json(name, FORM)
        if not isinstance(items, list):
            raise BadInput(f"{name}: is {fields.kind(items)}; {FORM}")
        source.take(name, FORM, ((f"question {i}", item) for i, item in enumerate(items, 1)), keep)
    return source


def _question(source: Source, record: Mapping[str, Any], dataset: str) -> Question:
    paragraphs: dict[str, tuple[Text, list[Span]]] = {}
    for i, item in enumerate(fields.listed(record, "context")):
        title, sentences = _pair(item, f"context[{i}]")
        text, spans = _joined(sentences, f"context[{i}][1]")
        passage = source.shelved(dataset, fields.string(title, f"context[{i}][0]"), text)
        paragraphs.setdefault(passage.title, (passage, spans))
    return Question(
        id=fields.said(record, "_id"),
        text=fields.said(record, "question"),
        answers=(fields.text(record, "answer"),),
        gold=tuple(dict.fromkeys(_gold(record, paragraphs))),
        own=tuple(passage.id for passage, _ in paragraphs.values()),
    )


def _gold(
    record: Mapping[str, Any], paragraphs: Mapping[str, tuple[Text, list[Span]]]
) -> Iterator[Gold]:
    for i, item in enumerate(fields.listed(record, "supporting_facts")):
        title, number = _pair(item, f"supporting_facts[{i}]")
        if type(number) is not int:
            raise BadInput(f"must be a number, not {number!r}", field=f"supporting_facts[{i}][1]")
        passage, spans = paragraphs.get(title, (None, []))
        if passage is not None and 0 <= number < len(spans) and spans[number][0] < spans[number][1]:
            yield gold_in(passage, spans[number])


def _pair(item: Any, where: str) -> tuple[Any, Any]:
    if not isinstance(item, list) or len(item) != 2:
        raise BadInput("must be a pair", field=where)
    return fields.string(item[0], f"{where}[0]"), item[1]


def _joined(sentences: Any, where: str) -> tuple[str, list[Span]]:
    """The paragraph, and where each of its sentences stands; a missing space is put between."""
    if not isinstance(sentences, list):
        raise BadInput(f"must be a list, not {fields.kind(sentences)}", field=where)
    text, ends = "", []
    for i, item in enumerate(sentences):
        sentence = fields.string(item, f"{where}[{i}]")
        apart = not text or text[-1:].isspace() or sentence[:1].isspace()
        text += sentence if apart else f" {sentence}"
        ends.append(len(text))
    return text, [trimmed(text, s, e) for s, e in zip([0, *ends], ends, strict=False)]
