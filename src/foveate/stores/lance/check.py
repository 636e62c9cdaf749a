"""The check of a Lance store: all that is derived is computed again from texts and principals.

It reads one version, a segment at a time, while others may write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foveate.core.types import content_hash
from foveate.stores.base import Report
from foveate.stores.filters import encode_facts
from foveate.stores.int8 import squared_norms
from foveate.stores.lance import files, postings, schema
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.location import Location, convert_engine_errors
from foveate.stores.lance.scan import vectors_from_column
from foveate.stores.lance.schema import Audience
from foveate.stores.recount import Recount, text_findings
from foveate.stores.rows import SHARED, chunk_members, document_member, terms_to_index
from foveate.stores.scoring import decode_places
from foveate.stores.totals import CHUNKS, DOCUMENTS


@dataclass(slots=True, kw_only=True)
class _CheckTotals:
    """Documents and chunks by id so far, and what each set of principals holds."""

    documents: Counter[str] = field(default_factory=Counter)
    chunk_ids: Counter[str] = field(default_factory=Counter)
    recount: Recount[Any] = field(default_factory=Recount)


def check(place: Location, now: Snapshot, *, embedder: str, dimensions: int) -> Report:
    """Check one version; what is wrong is a finding, at most 100 a part."""
    totals = _CheckTotals()
    found: dict[str, Iterator[str]] = {
        "file": files.wrong(place, now, {}, {}),
        "rows": _check_rows(now, totals),
        "words": _check_postings(now),
        "vectors": _check_vectors(now, dimensions),
        "state": _check_state(now, totals),
    }
    for name, findings in found.items():
        totals.recount.take(name, _readable(place, findings))
    totals.recount.documents = len(totals.documents)
    totals.recount.chunks = totals.chunk_ids.total()
    return totals.recount.report(embedder)


def _readable(place: Location, findings: Iterator[str]) -> Iterator[str]:
    """The findings, with Lance's errors as ours."""
    with convert_engine_errors(place):
        yield from findings


def _segment_table(now: Snapshot, segment: int, kind: str, columns: Sequence[str]) -> Any:
    """A segment's rows of one kind, or None."""
    fragment = now.fragment(segment, kind)
    return fragment.to_table(columns=list(columns)) if fragment is not None else None


def _check_rows(now: Snapshot, totals: _CheckTotals) -> Iterator[str]:
    rows: dict[str, dict[str, Any]] = {}
    audiences = now.head.audiences.items()
    totals.recount.principals.update((number, one.principals) for number, one in audiences)
    for number, segment in now.head.segments.items():
        for kind, file in segment.files.items():
            if file.name not in now.files:
                yield f"segment {number}: its file of {kind} is not there"
        table = _segment_table(now, number, "documents", schema.DOCUMENT_COLUMNS)
        for row in table.to_pylist() if table is not None else ():
            name = row["document_id"]
            totals.documents[name] += 1
            yield from text_findings(row, row["packed"])
            yield from totals.recount.audience_findings(row)
            rows[name] = {key: row[key] for key in SHARED}
            _, encoded = document_member(row)
            totals.recount.totals.apply([(row["principals"], encoded)], DOCUMENTS)
    yield from _find_duplicates("document", totals.documents)
    for number in now.head.segments:
        table = _segment_table(now, number, "chunks", schema.CHUNK_COLUMNS)
        for row in table.to_pylist() if table is not None else ():
            yield from _check_chunk(row, number, rows.get(row["document_id"]))
            yield from totals.recount.audience_findings(None, [row])
            totals.chunk_ids[row["chunk_id"]] += 1
            ((_, encoded),) = chunk_members(row, [row])
            totals.recount.totals.apply([(row["principals"], encoded)], CHUNKS)
    yield from _find_duplicates("chunk", totals.chunk_ids)


def _find_duplicates(what: str, names: Mapping[str, int]) -> Iterator[str]:
    for name, times in names.items():
        if times > 1:
            yield f"{what} {name!r} is there {times} times"


def _check_chunk(
    row: dict[str, Any], segment: int, document: dict[str, Any] | None
) -> Iterator[str]:
    name = row["chunk_id"]
    if row["key"] >> schema.LOCAL_BITS != segment:
        yield f"chunk {name!r} has a key of another segment"
    if document is None:
        yield f"chunk {name!r} belongs to no document"
    elif any(row[key] != document[key] for key in SHARED):
        yield f"chunk {name!r} says other things of its document than that does"
    if content_hash(row["text"]) != row["content_hash"]:
        yield f"chunk {name!r}: its text is not the one that was put"
    if row["labels"] != encode_facts(row["metadata"]):
        yield f"chunk {name!r} is filtered by other metadata than its own"


def _check_postings(now: Snapshot) -> Iterator[str]:
    """Places of live chunks are those of their texts; those of dead ones are never looked at."""
    for number in now.head.segments:
        table = _segment_table(
            now, number, "chunks", ["key", "chunk_id", "text", "metadata", "terms"]
        )
        if table is None or not table.num_rows:
            continue
        at = table.column("key").to_numpy() & postings.LOCAL_MASK
        texts: list[list[str]] = [[] for _ in range(int(at.max()) + 1)]
        lengths = table.column("terms").to_pylist()
        rows = table.select(["chunk_id", "text", "metadata"]).to_pylist()
        for place, row, length in zip(at.tolist(), rows, lengths, strict=True):
            texts[place] = terms_to_index(row)
            if len(texts[place]) != length:
                yield f"chunk {row['chunk_id']!r} has {len(texts[place])} terms, not {length}"
        expected = _places_by_term(postings.build_postings(0, number, texts))
        stored = _segment_table(now, number, "postings", schema.POSTING_COLUMNS)
        yield from _check_places(number, stored, expected, at)


def _check_places(number: int, stored: Any, expected: dict[str, Any], live: Any) -> Iterator[str]:
    if stored is None:
        if expected:
            yield f"segment {number} has no words"
        return
    terms = stored.column("term").to_pylist()
    if terms != sorted(set(terms)):
        yield f"segment {number}: its terms are not in order"
    if set(stored.column("segment").to_pylist()) - {number}:
        yield f"segment {number} has words of another one"
    found, nothing = _places_by_term(stored), np.zeros(0, np.int64)
    for term in sorted(found.keys() | expected.keys()):
        mine = found.get(term, nothing)
        mine = mine[np.isin(decode_places(mine)[0], live)]
        if not np.array_equal(mine, expected.get(term, nothing)):
            yield f"segment {number}: the places of {term!r} are not those of its texts"


def _places_by_term(table: Any) -> dict[str, Any]:
    if not table.num_rows:
        return {}
    lengths, places = postings.read_places(table.column("places"))
    of_terms = np.split(places, np.cumsum(lengths)[:-1])
    return dict(zip(table.column("term").to_pylist(), of_terms, strict=True))


def _check_vectors(now: Snapshot, dimensions: int) -> Iterator[str]:
    if not dimensions:
        return
    for number in now.head.segments:
        table = _segment_table(now, number, "chunks", ["chunk_id", "norm", "vector"])
        if table is None:
            continue
        vectors = vectors_from_column(table.column("vector"), dimensions)
        wrong = np.flatnonzero(squared_norms(vectors) != table.column("norm").to_numpy())
        for name in table.column("chunk_id").take(wrong).to_pylist():
            yield f"chunk {name!r}: its vector has not the length that is noted"


def _check_state(now: Snapshot, totals: _CheckTotals) -> Iterator[str]:
    noted = {audience.principals: audience for audience in now.head.audiences.values()}
    for principals in sorted(noted.keys() | totals.recount.totals.states.keys()):
        audience = noted.get(principals, Audience(principals=principals))
        figures = [audience.documents, audience.chunks]
        yield from totals.recount.state_findings(principals, principals, audience.state, figures)
