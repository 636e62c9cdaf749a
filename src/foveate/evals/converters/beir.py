"""BEIR: `corpus.jsonl`, `queries.jsonl` and judgements in `qrels/*.tsv`.

    corpus   {"_id", "title", "text"}
    queries  {"_id", "text"}
    qrels    query-id <tab> corpus-id <tab> score, under a line of heads

Thakur et al. 2021, arXiv:2104.08663. Evidence is the text of every document with a score above 0;
there are no answers. The input is the unpacked folder, or the three files in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.core.json_values import NonBlank
from foveate.evals.converters.source import (
    SourceDataset,
    SourcePassage,
    SourceQuestion,
    gold_from_span,
    read_numbered_lines,
    trim_span,
)
from foveate.pipeline.text_files import decode_line

UNJUDGED = "no relevant document"
CORPUS_FORM = "a BEIR corpus is JSON Lines with _id, title and text"
QUERIES_FORM = "BEIR queries are JSON Lines with _id and text"
QRELS_FORM = "BEIR judgements are query-id, corpus-id and score with tabs between them, of one set"
_SPLITS = ("test", "dev", "train")
_COLUMNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    id: NonBlank = field(metadata={"key": "_id"})
    text: str
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    id: NonBlank = field(metadata={"key": "_id"})
    text: NonBlank


def read_beir(names: Sequence[str], dataset: str, language: str) -> SourceDataset:
    """The corpus, and the queries that have judgements."""
    corpus, queries, qrels = _find_files(names)
    source = SourceDataset()
    source.read_json_lines([corpus], CORPUS_FORM, _Document, partial(_add_document, source))
    judged = _read_judgements(source, qrels)

    def keep(query: _Query) -> None:
        question = _parse_question(query, source.passages, judged)
        source.add_question_with_gold(question, UNJUDGED)

    source.read_json_lines([queries], QUERIES_FORM, _Query, keep)
    return source


def _parse_question(
    query: _Query,
    passages: Mapping[str, SourcePassage],
    judged: Mapping[str, Sequence[str]],
) -> SourceQuestion:
    """The query with its relevant documents; a document of its own id is the query itself.

    In ArguAna queries are documents of the corpus; they are neither candidate nor evidence.
    """
    name = query.id
    relevant = [passages[one] for one in judged.get(name, ()) if one != name]
    spans = [(p, trim_span(p.text, 0, len(p.text))) for p in relevant]
    return SourceQuestion(
        id=name,
        text=query.text,
        answers=(),
        gold=tuple(gold_from_span(p, span) for p, span in spans if span[0] < span[1]),
        itself=name if name in passages else "",
    )


def _find_files(names: Sequence[str]) -> tuple[str, str, str]:
    """Corpus, queries, judgements; of the test split if a folder has several."""
    if len(names) == 3:
        return names[0], names[1], names[2]
    if len(names) != 1 or not Path(names[0]).is_dir():
        raise BadInput("BEIR: give its folder, or corpus.jsonl queries.jsonl qrels/test.tsv")
    folder = Path(names[0])
    found = [
        _first_existing(folder, (f"{name}.jsonl", f"{name}.jsonl.gz"))
        for name in ("corpus", "queries")
    ]
    qrels = _first_existing(folder, tuple(f"qrels/{split}.tsv" for split in _SPLITS))
    return found[0], found[1], qrels


def _first_existing(folder: Path, names: Sequence[str]) -> str:
    for name in names:
        if (folder / name).is_file():
            return str(folder / name)
    raise BadInput(f"{folder}: has no {names[0]}; give the unpacked folder of a BEIR set")


def _add_document(source: SourceDataset, document: _Document) -> None:
    name = document.id
    if name in source.passages:
        raise BadInput(f"two documents have the _id {name!r}; the first is kept")
    source.passages[name] = SourcePassage(
        id=name,
        document_id=name,
        text=document.text,
        title=document.title or "",
    )


def _read_judgements(source: SourceDataset, name: str) -> Mapping[str, Sequence[str]]:
    """Query → its relevant documents, best first."""
    found: dict[str, dict[str, int]] = {}

    def keep(cells: Sequence[str]) -> None:
        if len(cells) != _COLUMNS:
            raise BadInput("give three columns with tabs between them")
        query, document, said = (cell.strip() for cell in cells)
        try:
            score = int(said)
        except ValueError:
            raise BadInput(f"the score {said!r} is no number") from None
        if score <= 0:
            return
        if document not in source.passages:
            raise BadInput(f"the corpus has no {document!r}")
        found.setdefault(query, {})[document] = score

    source.read_records(
        name, QRELS_FORM, _read_rows(name), lambda line: keep(decode_line(line).split("\t"))
    )
    return {q: sorted(docs, key=lambda d: (-docs[d], d)) for q, docs in found.items()}


def _read_rows(name: str) -> Iterator[tuple[str, bytes]]:
    """The lines without a header line."""
    for place, line in read_numbered_lines(name):
        cells = line.split(b"\t")
        heads = len(cells) == _COLUMNS and not cells[-1].strip().lstrip(b"-").isdigit()
        if place != "line 1" or not heads:
            yield place, line
