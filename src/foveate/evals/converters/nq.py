"""Natural Questions as of "Lost in the Middle": JSON Lines, a question and 10, 20 or 30 passages.

    {"question", "answers": [...], "ctxs": [{"id", "title", "text", "isgold"}, ...]}

Liu et al. 2023, arXiv:2307.03172, the multi-document files. One passage answers; the candidates
are the question's own and no more. The published order puts the gold passage where the experiment
wants it, so all of them are ranked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foveate.core.errors import BadInput
from foveate.core.json_values import NonBlank
from foveate.evals.converters.source import (
    SourceDataset,
    SourceQuestion,
    gold_from_span,
    sentence_with,
)

FORM = "give a multi-document file of Lost in the Middle: JSON Lines, question, answers and ctxs"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    text: NonBlank
    title: str | None = None
    isgold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    question: NonBlank
    answers: tuple[str, ...]
    ctxs: tuple[_Entry, ...]


def read_nq(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same passage of two questions is one."""
    source = SourceDataset(closed=True)

    def keep(record: _Record) -> None:
        source.add_question(_parse_question(source, record, dataset, language))

    source.read_json_lines(names, FORM, _Record, keep)
    return source


def _parse_question(
    source: SourceDataset, record: _Record, dataset: str, language: str
) -> SourceQuestion:
    own, gold = [], []
    for entry in record.ctxs:
        passage = source.add_passage(dataset, entry.title or "", entry.text)
        own.append(passage.id)
        if entry.isgold:
            span = sentence_with(entry.text, record.answers, language)
            gold.append(gold_from_span(passage, span))
    if not gold:
        raise BadInput("no passage has isgold", field="ctxs")
    return SourceQuestion(
        id=f"{dataset}-{len(source.questions) + len(source.failed)}",
        text=record.question,
        answers=record.answers,
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )
