"""Files of golden cases → `Case` values. Strict, and clear about what is wrong and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.evals import fields
from foveate.evals.cases import Case, Evidence, Passage
from foveate.evals.lines import expand_patterns, read_lines
from foveate.evals.questions import read_questions


def read_cases(names: Iterable[str], *, pools: bool = True) -> tuple[Case, ...]:
    """All cases of the files, in the order of the files and of their lines.

    `pools`: every case must have candidates; without it they may be left out.
    A name may be a pattern (`sets/*.jsonl.gz`). Raises `BadInput`: no file, not gzip, not UTF-8,
    not JSON, a missing key, a wrong type, an id that comes twice, no case at all.
    """
    found: list[Case] = []
    seen: dict[tuple[str, str], str] = {}
    for name in expand_patterns(names):
        before = len(found)
        for where, case in _each_case(name, pools=pools):
            key = (case.dataset, case.id)
            if key in seen:
                raise BadInput(
                    f"{where}: field 'id': {case.id!r} of the set {case.dataset!r} was at "
                    f"{seen[key]} already; give every question its own id, and every file once"
                )
            seen[key] = where
            found.append(case)
        if len(found) == before:
            raise BadInput(f"{name}: holds no cases; give one JSON object a line")
    return tuple(found)


def _each_case(name: str, *, pools: bool) -> Iterator[tuple[str, Case]]:
    """The cases of a file, each with its place in it."""
    if name.endswith(".csv"):
        if pools:
            raise BadInput(f"{name}: a CSV file has no candidates; name the store: --store URL")
        yield from read_questions(name)
        return
    for number, line in read_lines(name):
        where = f"{name}: line {number}"
        yield where, _parse_line(where, line, pools=pools)


def _parse_line(where: str, line: str, *, pools: bool) -> Case:
    """One line; whatever is wrong with it names the file and the line."""
    try:
        record = fields.check_object(parse_json(line), "", "a case is an object")
        return case_from_record(record, hash=digest(line.strip()), pools=pools)
    except BadInput as error:
        found = BadInput(f"{where}: {error}")
        found.field = error.field
        raise found from None


def case_from_record(record: Mapping[str, Any], *, hash: str = "", pools: bool = True) -> Case:
    """One record → one case; raises `BadInput` naming the field."""
    case = Case(
        id=fields.get_nonblank_text(record, "id"),
        dataset=fields.get_nonblank_text(record, "dataset"),
        question=fields.get_nonblank_text(record, "question"),
        answers=fields.get_texts(record, "answers"),
        chunks=tuple(
            _parse_passage(item, f"chunks[{i}]")
            for i, item in enumerate(fields.get_list(record, "chunks", optional=not pools))
        ),
        evidence=tuple(
            _parse_evidence(item, f"evidence[{i}]")
            for i, item in enumerate(fields.get_list(record, "evidence"))
        ),
        gold_doc_ids=fields.get_texts(record, "gold_doc_ids", optional=True),
        hash=hash,
    )
    if pools and not case.chunks:
        raise BadInput("is empty; a case needs candidates to choose from", field="chunks")
    if not case.evidence:
        raise BadInput("is empty; without evidence there is nothing to look for", field="evidence")
    _refuse_repeated_ids([passage.id for passage in case.chunks])
    return case


def _parse_passage(item: Any, where: str) -> Passage:
    record = fields.check_object(item, where)
    text = fields.get_text(record, "text", where)
    return Passage(
        id=fields.get_nonblank_text(record, "id", where),
        doc_id=fields.get_nonblank_text(record, "doc_id", where),
        text=text,
        score=fields.get_number(record, "score", where),
        source=fields.get_text(record, "source", where, default=""),
        title=fields.get_text(record, "title", where, default=""),
        sequence=fields.get_integer(record, "sequence", where) or 0,
        start=fields.get_integer(record, "start", where),
        is_gold=fields.get_boolean(record, "is_gold", where),
        gold_spans=fields.get_spans(record, "gold_spans", where, len(text)),
    )


def _parse_evidence(item: Any, where: str) -> Evidence:
    record = fields.check_object(item, where)
    start = fields.get_integer(record, "start", where)
    end = fields.get_integer(record, "end", where)
    if start is not None and end is not None and end < start:
        raise BadInput(f"{end} is before start {start}", field=f"{where}.end")
    return Evidence(
        text=fields.get_nonblank_text(record, "text", where),
        doc_id=fields.get_nonblank_text(record, "doc_id", where),
        start=start,
        end=end,
        chunk_ids=fields.get_texts(record, "chunk_ids", where, optional=True),
    )


def _refuse_repeated_ids(ids: list[str]) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(ids):
        if first.setdefault(name, i) != i:
            message = f"two chunks have the id {name!r}; give each its own"
            raise BadInput(message, field=f"chunks[{i}].id")
