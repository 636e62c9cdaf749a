"""Questions without candidates: read from CSV, and answered from a store.

A CSV file has the columns `question` and `evidence`, the text of a document that answers it, and
optionally `id`, `answer` and `document`, the id of that document. A question whose evidence stands
in several places has a row for each.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.core.types import Candidate
from foveate.evals.cases import Case, Evidence, Passage
from foveate.evals.measures import split_words
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.text_files import read_lines

COLUMNS = ("question", "evidence")
OPTIONAL_COLUMNS = ("id", "answer", "document")


def read_questions(name: str) -> Iterator[tuple[str, Case]]:
    """The questions of a CSV file, each with its place; raises `BadInput` naming the row."""
    lines = [f"{line}\n" for _, line in read_lines(name)]  # a cell may have several
    rows = csv.DictReader(lines, strict=True)
    missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        raise BadInput(
            f"{name}: no column {' and no column '.join(missing)}; the first line names the "
            f"columns {', '.join(COLUMNS)}, and may name {', '.join(OPTIONAL_COLUMNS)}"
        )
    found: dict[str, tuple[str, Case]] = {}
    dataset = PurePath(name).name.partition(".")[0]
    try:
        for number, row in enumerate(rows, 2):
            where = f"{name}: row {number}"
            values = {key: (row.get(key) or "").strip() for key in (*COLUMNS, *OPTIONAL_COLUMNS)}
            if empty := [column for column in COLUMNS if not values[column]]:
                raise BadInput(f"{where}: {empty[0]} is empty; give a text or leave the row out")
            key = values["id"] or values["question"]
            case = _case_of(values, dataset)
            if key in found:
                first = found[key][1]
                answers = tuple(dict.fromkeys((*first.answers, *case.answers)))
                evidence = (*first.evidence, *case.evidence)
                case = replace(first, evidence=evidence, answers=answers)
            found[key] = (where, case)
    except csv.Error as error:
        raise BadInput(f"{name}: line {rows.line_num}: {error}; close every quote") from None
    yield from found.values()


def _case_of(values: dict[str, str], dataset: str) -> Case:
    return Case(
        id=values["id"] or digest(values["question"])[:12],
        dataset=dataset,
        question=values["question"],
        chunks=(),
        evidence=(Evidence(text=values["evidence"], doc_id=values["document"]),),
        answers=(values["answer"],) if values["answer"] else (),
    )


def retrieve_pools(cases: Sequence[Case], assembler: Assembler, limit: int) -> tuple[Case, ...]:
    """The cases with the candidates that the assembler's store finds, the best `limit`."""
    found = []
    for case in cases:
        candidates = assembler.search(case.question, limit=limit).candidates
        if not candidates:
            raise BadInput(
                f"the store finds nothing for {case.question!r}; index the documents that answer it"
            )
        sought = [" ".join(split_words(evidence.text)) for evidence in case.evidence]
        found.append(replace(case, chunks=tuple(_passage_of(one, sought) for one in candidates)))
    return tuple(found)


def _passage_of(candidate: Candidate, sought: Sequence[str]) -> Passage:
    chunk = candidate.chunk
    said = f" {' '.join(split_words(chunk.text))} "
    return Passage(
        id=chunk.id,
        doc_id=chunk.document_id,
        text=chunk.text,
        score=candidate.score,
        source=chunk.source,
        title=chunk.title,
        sequence=chunk.sequence,
        start=chunk.start,
        is_gold=any(f" {words} " in said for words in sought),
    )
