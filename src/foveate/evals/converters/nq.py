"""Natural Questions as of "Lost in the Middle": JSON Lines, a question and 10, 20 or 30 passages.

    {"question", "answers": [...], "ctxs": [{"id", "title", "text", "isgold"}, ...]}

Liu et al. 2023, arXiv:2307.03172, the multi-document files. One passage answers; the candidates
are the question's own and no more. The published order puts the gold passage where the experiment
wants it, so all of them are ranked anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.evals import fields
from foveate.evals.converters.source import Question, Source, gold_in, sentence_with
from foveate.evals.lines import expanded

FORM = "give a multi-document file of Lost in the Middle: JSON Lines, question, answers and ctxs"


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """All questions of the files; the same passage of two questions is one."""
    source = Source(closed=True)
    for name in expanded(names):
        source.take_objects(
            name, FORM, lambda record: source.ask(_question(source, record, dataset, language))
        )
    return source


def _question(source: Source, record: Mapping[str, Any], dataset: str, language: str) -> Question:
    answers = fields.texts(record, "answers")
    own, gold = [], []
    for i, item in enumerate(fields.listed(record, "ctxs")):
        where = f"ctxs[{i}]"
        entry = fields.obj(item, where)
        text = fields.said(entry, "text", where)
        title = fields.text(entry, "title", where, default="")
        passage = source.shelved(dataset, title, text)
        own.append(passage.id)
        if fields.flag(entry, "isgold", where):
            gold.append(gold_in(passage, sentence_with(text, answers, language)))
    if not gold:
        raise BadInput("no passage has isgold", field="ctxs")
    return Question(
        id=f"{dataset}-{len(source.questions) + len(source.failed)}",
        text=fields.said(record, "question"),
        answers=answers,
        gold=tuple(dict.fromkeys(gold)),
        own=tuple(dict.fromkeys(own)),
    )
