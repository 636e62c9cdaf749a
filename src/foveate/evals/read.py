"""Files of golden cases → `Case` values. Strict, and clear about what is wrong and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.evals import fields
from foveate.evals.cases import Case, Evidence, Passage
from foveate.evals.lines import expanded, lines


def read_cases(names: Iterable[str], *, pools: bool = True) -> tuple[Case, ...]:
    """All cases of the files, in the order of the files and of their lines.

    `pools`: every case must have candidates; without it they may be left out.
    A name may be a pattern (`sets/*.jsonl.gz`). Raises `BadInput`: no file, not gzip, not UTF-8,
    not JSON, a missing key, a wrong type, an id that comes twice, no case at all.
    """
    found: list[Case] = []
    seen: dict[tuple[str, str], str] = {}
    for name in expanded(names):
        before = len(found)
        for number, line in lines(name):
            where = f"{name}: line {number}"
            case = _at(where, line, pools=pools)
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


def _at(where: str, line: str, *, pools: bool) -> Case:
    """One line; whatever is wrong with it names the file and the line."""
    try:
        record = fields.obj(parse_json(line), "", "a case is an object")
        return case_from(record, hash=digest(line.strip()), pools=pools)
    except BadInput as error:
        found = BadInput(f"{where}: {error}")
        found.field = error.field
        raise found from None


def case_from(record: Mapping[str, Any], *, hash: str = "", pools: bool = True) -> Case:
    """One record → one case; raises `BadInput` naming the field."""
    case = Case(
        id=fields.said(record, "id"),
        dataset=fields.said(record, "dataset"),
        question=fields.said(record, "question"),
        answers=fields.texts(record, "answers"),
        chunks=tuple(
            _passage(item, f"chunks[{i}]")
            for i, item in enumerate(fields.listed(record, "chunks", optional=not pools))
        ),
        evidence=tuple(
            _evidence(item, f"evidence[{i}]")
            for i, item in enumerate(fields.listed(record, "evidence"))
        ),
        gold_doc_ids=fields.texts(record, "gold_doc_ids", optional=True),
        hash=hash,
    )
    if pools and not case.chunks:
        raise BadInput("is empty; a case needs candidates to choose from", field="chunks")
    if not case.evidence:
        raise BadInput("is empty; without evidence there is nothing to look for", field="evidence")
    _refuse_repeats([passage.id for passage in case.chunks])
    return case


def _passage(item: Any, where: str) -> Passage:
    record = fields.obj(item, where)
    text = fields.text(record, "text", where)
    return Passage(
        id=fields.said(record, "id", where),
        doc_id=fields.said(record, "doc_id", where),
        text=text,
        score=fields.number(record, "score", where),
        source=fields.text(record, "source", where, default=""),
        title=fields.text(record, "title", where, default=""),
        sequence=fields.whole(record, "sequence", where) or 0,
        start=fields.whole(record, "start", where),
        is_gold=fields.flag(record, "is_gold", where),
        gold_spans=fields.spans(record, "gold_spans", where, len(text)),
    )


def _evidence(item: Any, where: str) -> Evidence:
    record = fields.obj(item, where)
    start, end = fields.whole(record, "start", where), fields.whole(record, "end", where)
    if start is not None and end is not None and end < start:
        raise BadInput(f"{end} is before start {start}", field=f"{where}.end")
    return Evidence(
        text=fields.said(record, "text", where),
        doc_id=fields.said(record, "doc_id", where),
        start=start,
        end=end,
        chunk_ids=fields.texts(record, "chunk_ids", where, optional=True),
    )


def _refuse_repeats(ids: list[str]) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(ids):
        if first.setdefault(name, i) != i:
            message = f"two chunks have the id {name!r}; give each its own"
            raise BadInput(message, field=f"chunks[{i}].id")
