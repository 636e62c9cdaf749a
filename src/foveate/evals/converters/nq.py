"""Natural Questions as of "Lost in the Middle": JSON Lines, a question and 10, 20 or 30 passages.

    {"question", "answers": [...], "ctxs": [{"id", "title", "text", "isgold"}, ...]}

Liu et al. 2023, arXiv:2307.03172, the multi-document files. One passage answers; the candidates
are the question's own and no more. The published order puts the gold passage where the experiment
wants it, so all of them are ranked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.evals import fields
from foveate.evals.converters.source import (
    SourceDataset,
    SourceQuestion,
    gold_from_span,
    sentence_with,
)
from foveate.evals.lines import expand_patterns

FORM = "give a multi-document file of Lost in the Middle: JSON Lines, question, answers and ctxs"


def read_nq(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """All questions of the files; the same passage of two questions is one."""
    source = SourceDataset(closed=True)
    for name in expand_patterns(names):
        source.read_json_lines(
            name,
            FORM,
            lambda record: source.add_question(_parse_question(source, record, dataset, language)),
        )
    return source


def _parse_question(
    source: SourceDataset, record: Mapping[str, Any], dataset: str, language: str
) -> SourceQuestion:
    answers = fields.get_texts(record, "answers")
    own, gold = [], []
    for i, item in enumerate(fields.get_list(record, "ctxs")):
        where = f"ctxs[{i}]"
        entry = fields.check_object(item, where)
        text = fields.get_nonblank_text(entry, "text", where)
        title = fields.get_text(entry, "title", where, default="")
        passage = source.add_passage(dataset, title, text)
        own.append(passage.id)
        if fields.get_boolean(entry, "isgold", where):
            gold.append(gold_from_span(passage, sentence_with(text, answers, language)))
    if not gold:
        raise BadInput("no passage has isgold", field="ctxs")
    return SourceQuestion(
        id=f"{dataset}-{len(source.questions) + len(source.failed)}",
        text=fields.get_nonblank_text(record, "question"),
        answers=answers,
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )
