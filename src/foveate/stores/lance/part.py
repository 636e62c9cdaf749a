"""Documents written as files that no version of the table names yet, with their postings.

A part is a plain value that travels between processes. For six days it may be committed once, to
the store that it was written for; `compact` removes the files of one that never was.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import lance
import numpy as np
import pyarrow as pa

from foveate.core.errors import BadInput
from foveate.stores.base import PutRequest
from foveate.stores.filters import encode_facts
from foveate.stores.int8 import squared_norms
from foveate.stores.lance import schema
from foveate.stores.lance.files import digest_of
from foveate.stores.lance.location import Location
from foveate.stores.lance.postings import build_postings
from foveate.stores.lance.schema import Audience, StoredFile, audience_number
from foveate.stores.rows import (
    PreparedDocument,
    chunk_members,
    document_member,
    duplicate_id_error,
    prepare_document,
)
from foveate.stores.totals import CHUNKS, DOCUMENTS, Totals

_KEY_BITS = 63
LIFETIME_SECONDS = 6 * 24 * 3600
"""Seconds for which a part may be committed: a day less than its files stay, for clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that is written and not committed.

    `files`, `fragments`: its files by kind, and Lance's descriptions of them as JSON. `store`,
    `dimensions`: the store it was written for; `written`: seconds since 1970.
    """

    segment: int
    store: str
    dimensions: int
    written: int
    rows: int
    documents: tuple[str, ...]
    chunks: tuple[str, ...]
    files: Mapping[str, StoredFile]
    fragments: tuple[str, ...]
    audiences: tuple[Audience, ...]
    known: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def new_segment() -> int:
    """A number that no other writer draws: 40 bits of chance, and `commit` refuses one twice."""
    return secrets.randbits(_KEY_BITS - schema.LOCAL_BITS)


def prepare_rows(given: PutRequest, dimensions: int) -> PreparedDocument:
    """The document as rows with audiences; raises `BadInput` where no part could hold them."""
    chunks = len(given.chunks)
    if chunks >= schema.MAX_SEGMENT_ROWS:
        raise BadInput(f"{given.document.id!r} has {chunks} chunks; divide it", field="chunks")
    made = prepare_document(given, dimensions)
    made.row["packed"] = made.packed
    for row in (made.row, *made.chunks):
        row["audience"] = audience_number(row["principals"])
    return made


def write_part(
    place: Location, dimensions: int, documents: Sequence[PreparedDocument], *, store: str = ""
) -> Part:
    """Write the files; raises `BadInput` where two documents or chunks have one id."""
    written = int(time.time())
    rows = [one.row for one in documents]
    chunks = [{**one.row, **chunk} for one in documents for chunk in one.chunks]
    names = tuple(row["document_id"] for row in rows)
    ids = tuple(chunk["chunk_id"] for chunk in chunks)
    _check_unique(names, ids)
    segment = new_segment()
    given = {name: [row[name] for row in rows] for name in schema.DOCUMENT_COLUMNS}
    tables = {"documents": schema.build_table(schema.column_types(dimensions), given)}
    if chunks:
        tables["chunks"] = _chunk_table(dimensions, segment, chunks, documents)
        terms = [terms for one in documents for terms in one.terms]
        tables["postings"] = build_postings(dimensions, segment, terms)
    files, fragments = write_fragments(place, tables)
    known: dict[str, dict[str, int]] = {}
    for one in documents:
        known.setdefault(one.fingerprint, {}).update(one.counts)
    return Part(
        segment=segment,
        store=store,
        dimensions=dimensions,
        written=written,
        rows=len(chunks),
        documents=names,
        chunks=ids,
        files=files,
        fragments=fragments,
        audiences=sum_by_principals(rows, chunks),
        known={name: counts for name, counts in known.items() if counts},
    )


def check_parts(place: Location, parts: Iterable[Part], *, store: str, dimensions: int) -> None:
    """Raise `BadInput` for a part of another store, one that is too old, or without its files."""
    there = lance.file.LanceFileSession(
        f"{place.table_uri(schema.STORE_TABLE)}/data", storage_options=place.storage_options()
    )
    for one in parts:
        if (one.store, one.dimensions) != (store, dimensions):
            raise BadInput(
                f"this part was written for another store than {place.name}, or for one that "
                f"stood there before; write it again with this one"
            )
        if time.time() - one.written > LIFETIME_SECONDS:
            raise BadInput(
                "this part is older than six days, and its files may be cleaned away; "
                "write its documents again"
            )
        for file in one.files.values():
            if not there.contains(file.name):
                raise BadInput(
                    f"this part's file {file.name} is not in the store any more; "
                    f"write its documents again"
                )


def _check_unique(names: Sequence[str], ids: Sequence[str]) -> None:
    if len(ids) > schema.MAX_SEGMENT_ROWS:
        raise BadInput(f"a part holds up to {schema.MAX_SEGMENT_ROWS} chunks, not {len(ids)}")
    if len(set(names)) != len(names):
        raise BadInput("a document stands twice in this part; give each once", field="document_id")
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise duplicate_id_error("another document", name)
        seen.add(name)


def sum_by_principals(
    documents: Sequence[dict[str, Any]], chunks: Iterable[dict[str, Any]]
) -> tuple[Audience, ...]:
    """What each set of principals may read of these rows; chunks name their documents."""
    totals = Totals[str]()
    totals.apply(((row["principals"], document_member(row)[1]) for row in documents), DOCUMENTS)
    members = (
        (chunk["principals"], encoded)
        for chunk in chunks
        for _, encoded in chunk_members(chunk, [chunk])
    )
    totals.apply(members, CHUNKS)
    return tuple(
        Audience(
            principals=principals,
            state=state,
            documents=totals.figures[principals][DOCUMENTS],
            chunks=totals.figures[principals][CHUNKS],
        )
        for principals, state in totals.states.items()
    )


def write_fragments(
    place: Location, tables: Mapping[str, Any]
) -> tuple[dict[str, StoredFile], tuple[str, ...]]:
    """Write each table as one file: the files by kind, and their descriptions as JSON."""
    files, fragments = {}, []
    for kind, rows in tables.items():
        made = lance.fragment.write_fragments(
            rows,
            place.table_uri(schema.STORE_TABLE),
            schema=rows.schema,
            mode="append",
            max_rows_per_file=schema.MAX_SEGMENT_ROWS,
            storage_options=place.storage_options(),
        )
        if len(made) != 1:
            raise BadInput(f"a part of {rows.num_rows} rows is too large; make it smaller")
        files[kind] = StoredFile(made[0].files[0].path, digest_of(place, made[0]))
        fragments.append(json.dumps(made[0].to_json()))
    return files, tuple(fragments)


def _chunk_table(
    dimensions: int,
    segment: int,
    rows: Sequence[dict[str, Any]],
    documents: Sequence[PreparedDocument],
) -> Any:
    vectors = np.concatenate([one.vectors for one in documents])
    given: dict[str, Any] = {name: [row.get(name) for row in rows] for name in schema.CHUNK_COLUMNS}
    given["key"] = chunk_keys(segment, len(rows))
    given["terms"] = [len(terms) for one in documents for terms in one.terms]
    given["norm"] = pa.array(squared_norms(vectors))
    given["labels"] = [encode_facts(row["metadata"]) for row in rows]
    if dimensions:
        halves = pa.array(vectors.astype(np.float16).ravel())
        given["vector"] = pa.FixedSizeListArray.from_arrays(halves, dimensions)
    return schema.build_table(schema.column_types(dimensions), given)


def chunk_keys(segment: int, rows: int) -> Any:
    """The keys of a segment's chunks, in their order."""
    return pa.array((segment << schema.LOCAL_BITS) + np.arange(rows, dtype=np.int64))
