"""BEIR: `corpus.jsonl`, `queries.jsonl` and judgements in `qrels/*.tsv`.

    corpus   {"_id", "title", "text"}
    queries  {"_id", "text"}
    qrels    query-id <tab> corpus-id <tab> score, under a line of heads

Thakur et al. 2021, arXiv:2104.08663. Evidence is the text of every document with a score above 0;
there are no answers. The input is the unpacked folder, or the three files in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput
from foveate.evals import fields
from foveate.evals.converters.source import Question, Source, Text, gold_in, trimmed
from foveate.evals.lines import lines, records

UNJUDGED = "no relevant document"
_SPLITS = ("test", "dev", "train")


def read(names: Sequence[str], dataset: str, language: str) -> Source:
    """The corpus, and the queries that have judgements."""
    corpus, queries, qrels = _files(names)
    source = Source()
    for passage in records(corpus, _passage):
        if passage.id in source.passages:
            raise BadInput(f"{corpus}: two documents have the _id {passage.id!r}")
        source.passages[passage.id] = passage
    judged = _judged(qrels, source.passages)
    for name, text in records(queries, lambda r: (_id(r), fields.said(r, "text"))):
        relevant = [source.passages[one] for one in judged.get(name, ())]
        spans = [(p, trimmed(p.text, 0, len(p.text))) for p in relevant]
        gold = tuple(gold_in(p, span) for p, span in spans if span[0] < span[1])
        if gold:
            source.questions.append(Question(id=name, text=text, answers=(), gold=gold))
        else:
            source.left_out[UNJUDGED] += 1
    return source


def _files(names: Sequence[str]) -> tuple[str, str, str]:
    """Corpus, queries, judgements; those of the test split where a folder has several."""
    if len(names) == 3:
        return names[0], names[1], names[2]
    if len(names) != 1 or not Path(names[0]).is_dir():
        raise BadInput("BEIR: give its folder, or corpus.jsonl queries.jsonl qrels/test.tsv")
    folder = Path(names[0])
    found = [
        _first(folder, (f"{name}.jsonl", f"{name}.jsonl.gz")) for name in ("corpus", "queries")
    ]
    qrels = _first(folder, tuple(f"qrels/{split}.tsv" for split in _SPLITS))
    return found[0], found[1], qrels


def _first(folder: Path, names: Sequence[str]) -> str:
    for name in names:
        if (folder / name).is_file():
            return str(folder / name)
    raise BadInput(f"{folder}: has no {names[0]}; give the unpacked folder of a BEIR set")


def _id(record: Mapping[str, Any]) -> str:
    return fields.said(record, "_id")


def _passage(record: Mapping[str, Any]) -> Text:
    name = _id(record)
    return Text(
        id=name,
        document_id=name,
        text=fields.text(record, "text"),
        title=fields.text(record, "title", default=""),
    )


def _judged(name: str, corpus: Mapping[str, Text]) -> Mapping[str, Sequence[str]]:
    """Query → its relevant documents, the most relevant first."""
    found: dict[str, dict[str, int]] = {}
    for number, line in lines(name):
        cells = line.split("\t")
        if len(cells) != 3:
            raise BadInput(f"{name}: line {number}: give three columns with tabs between them")
        query, document, said = (cell.strip() for cell in cells)
        if number == 1 and not said.lstrip("-").isdigit():
            continue  # the heads
        try:
            score = int(said)
        except ValueError:
            raise BadInput(f"{name}: line {number}: the score {said!r} is no number") from None
        if score <= 0:
            continue
        if document not in corpus:
            where = f"{name}: line {number}"
            raise BadInput(f"{where}: the corpus has no {document!r}; give the files of one set")
        found.setdefault(query, {})[document] = score
    return {q: sorted(docs, key=lambda d: (-docs[d], d)) for q, docs in found.items()}
