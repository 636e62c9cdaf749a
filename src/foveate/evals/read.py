"""Files of golden cases → `Case` values. Strict, and clear about what is wrong and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, name_in_errors
from foveate.core.manifest import digest
from foveate.core.typed import read_value, type_name
from foveate.evals.cases import Case
from foveate.evals.questions import read_questions
from foveate.pipeline.text_files import expand_patterns, read_lines


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
        with name_in_errors(where):
            case = case_from_record(parse_json(line), hash=digest(line.strip()), pools=pools)
        yield where, case


def case_from_record(record: Any, *, hash: str = "", pools: bool = True) -> Case:
    """One record → one case; raises `BadInput` naming the field."""
    if not isinstance(record, Mapping):
        raise BadInput(f"a case is an object, not {type_name(record)}")
    if "answers" not in record:
        raise BadInput("is missing", field="answers")
    case: Case = read_value(Case, record if pools else {"chunks": [], **record})
    if pools and not case.chunks:
        raise BadInput("is empty; a case needs candidates to choose from", field="chunks")
    if not case.evidence:
        raise BadInput("is empty; without evidence there is nothing to look for", field="evidence")
    first: dict[str, int] = {}
    for i, name in enumerate(passage.id for passage in case.chunks):
        if first.setdefault(name, i) != i:
            message = f"two chunks have the id {name!r}; give each its own"
            raise BadInput(message, field=f"chunks[{i}].id")
    return replace(case, hash=hash)
