"""The tables of a Lance store, its head, and how a place becomes a store.

    PLACE/store.lance    documents, chunks, postings and states: one table, one commit a transaction
    PLACE/known.lance    token counts of texts, which are not part of the content

A fragment of `store.lance` holds rows of one kind: `head`, documents, chunks or postings. Every
write replaces the one head, so that of two writers from one version one must start again. A
chunk's key is its segment's number and its place in the file, and is never used again.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import lance
import numpy as np
import pyarrow as pa
from blake3 import blake3

from foveate.core.errors import BadInput
from foveate.core.state import EMPTY_STATE, combine_states
from foveate.stores.checksums import damage, sum_of_facts
from foveate.stores.lance.location import Location
from foveate.stores.lazy import StoreNotFound, check_same_embedder
from foveate.stores.rows import DOCUMENT_FIELDS, parse_principals

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read."""

_MAX_RECENT = 256
"""So many transactions are remembered, for writers to whom the answer was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """One set of principals (sorted JSON), its lattice hash, and how much it may read.

    Of a part or of what leaves: how much of it these principals may read.
    """

    principals: str
    state: bytes = EMPTY_STATE
    documents: int = 0
    chunks: int = 0


class StoredFile(NamedTuple):
    """A data file and its digest; where rows of it are gone, the list of these and its digest."""

    name: str
    digest: str = ""
    deletions: str = ""
    deletions_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Rows that were written together. `files`: kind → its data file; `rows`: its chunks."""

    files: Mapping[str, StoredFile]
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Audiences and segments by number, committed parts from outside, and recent transactions."""

    audiences: Mapping[int, Audience] = field(default_factory=dict)
    segments: Mapping[int, Segment] = field(default_factory=dict)
    committed: Mapping[int, int] = field(default_factory=dict)
    recent: tuple[int, ...] = ()

    def audiences_for(self, principals: Iterable[str]) -> list[int]:
        """The audiences that these principals belong to, the public one included; sorted."""
        mine = set(principals)
        return sorted(
            number
            for number, audience in self.audiences.items()
            if number == PUBLIC_AUDIENCE or mine & set(parse_principals(audience.principals))
        )

    def state(self, audiences: Iterable[int] | None = None) -> bytes:
        """The lattice hash of what these audiences read; None is everything."""
        wanted = self.audiences if audiences is None else audiences
        return combine_states(self.audiences[number].state for number in wanted)


def audience_number(principals: str) -> int:
    """The number of a set of principals (sorted JSON): its hash."""
    if principals == "[]":
        return PUBLIC_AUDIENCE
    return int.from_bytes(blake3(principals.encode()).digest(8), "little") >> 1


def apply_change(head: Head, change: Audience, *, sign: int) -> Head:
    """The head after an audience gained (`sign` 1) or lost (-1) members."""
    principals, number = change.principals, audience_number(change.principals)
    before = head.audiences.get(number, Audience(principals=principals))
    if before.principals != principals:
        raise BadInput(
            f"the principals {principals} have the hash of {before.principals}; rename one",
            field="principals",
        )
    after = Audience(
        principals=principals,
        state=combine_states([before.state, change.state if sign > 0 else _negate(change.state)]),
        documents=before.documents + sign * change.documents,
        chunks=before.chunks + sign * change.chunks,
    )
    audiences = {**head.audiences, number: after}
    if not after.documents and not after.chunks:
        del audiences[number]
    return replace(head, audiences=audiences)


def record_transaction(head: Head, number: int, sent: Mapping[int, int], *, since: int) -> Head:
    """The head after this transaction; of the parts that were `sent`, those since then stay."""
    known = {**head.committed, **sent}
    return replace(
        head,
        committed={segment: written for segment, written in known.items() if written >= since},
        recent=(*head.recent, number)[-_MAX_RECENT:],
    )


def _negate(state: bytes) -> bytes:
    return (-np.frombuffer(state, dtype="<u2")).astype("<u2").tobytes()


def table_from_head(head: Head) -> Any:
    """The head as one row: the digest of its JSON, and the JSON."""
    record = {
        "audiences": {
            number: (a.principals, b64encode(a.state).decode(), a.documents, a.chunks)
            for number, a in head.audiences.items()
        },
        "segments": {number: (dict(s.files), s.rows) for number, s in head.segments.items()},
        "committed": dict(head.committed),
        "recent": head.recent,
    }
    data = json.dumps(record).encode()
    return pa.table({"head": pa.array([blake3(data).digest() + data], pa.binary())})


def head_from_table(rows: Any) -> Head:
    """The head of this row; raises `ExternalError` for damage."""
    (value,) = rows.column("head").to_pylist() if rows.num_rows == 1 else (b"",)
    digest, data = value[:_DIGEST_SIZE], value[_DIGEST_SIZE:]
    if blake3(data).digest() != digest:
        raise damage("its head is not as it was written")
    record = json.loads(data)
    return Head(
        audiences={
            int(number): Audience(
                principals=principals, state=b64decode(state), documents=documents, chunks=chunks
            )
            for number, (principals, state, documents, chunks) in record["audiences"].items()
        },
        segments={
            int(number): Segment(
                files={kind: StoredFile(*file) for kind, file in files.items()}, rows=rows
            )
            for number, (files, rows) in record["segments"].items()
        },
        committed={int(number): written for number, written in record["committed"].items()},
        recent=tuple(record["recent"]),
    )


_DIGEST_SIZE = 32
VERSION = 4
LOCAL_BITS = 23
MAX_SEGMENT_ROWS = 1 << LOCAL_BITS
"""So many chunks in a segment."""

STORE_TABLE, COUNTS_TABLE = "store", "known"

_SHARED_COLUMNS = DOCUMENT_FIELDS[:7]
DOCUMENT_COLUMNS = (*_SHARED_COLUMNS, "content_hash", "text_hash", "audience", "packed")
POSITION_COLUMNS = ("sequence", "start", "end", "byte_offset", "page", "row", "line")
CHUNK_COLUMNS = (
    *("key", "chunk_id", *_SHARED_COLUMNS, "content_hash", "audience", *POSITION_COLUMNS),
    *("section", "text", "terms", "norm", "labels"),
)
POSTING_COLUMNS = ("term", "segment", "places")


@lru_cache(maxsize=64)
def column_types(dimensions: int) -> dict[str, Any]:
    """Column → Arrow type. A vector's numbers are whole, -127 to 127: half floats hold them."""
    text, number, data = pa.string(), pa.int64(), pa.binary()
    names = {"head": data}
    names |= dict.fromkeys(("chunk_id", *_SHARED_COLUMNS, "content_hash", "text_hash"), text)
    names |= {"audience": number, "packed": data, "key": number}
    names |= dict.fromkeys(POSITION_COLUMNS, number)
    names |= {"section": text, "text": text, "terms": pa.int32(), "norm": pa.int32()}
    names |= {"labels": pa.list_(text)}
    names |= {"term": text, "segment": number, "places": pa.list_(number)}
    if dimensions:
        names["vector"] = pa.list_(pa.float16(), dimensions)
    return names


def build_table(names: dict[str, Any], given: dict[str, Any]) -> Any:
    """Columns as an Arrow table with the types of the store's."""
    arrays = [
        value if isinstance(value, pa.Array) else pa.array(value, names[name])
        for name, value in given.items()
    ]
    return pa.table(arrays, schema=pa.schema([(name, names[name]) for name in given]))


def connect(
    place: Location, *, embedder: str, dimensions: int, create: bool
) -> tuple[Any, dict[str, Any]]:
    """The store's table and its facts, made first where `create` says so; raises `BadInput`."""
    found = open_table(place, STORE_TABLE)
    if found is None:
        if not create:
            raise StoreNotFound(f"no store in {place.name!r}; index documents into it first")
        found = _create_store(place, embedder, dimensions)
    metadata = {k.decode(): v.decode() for k, v in (found.schema.metadata or {}).items()}
    if "foveate" not in metadata:
        raise BadInput(f"{place.name!r} holds a table that is no foveate store; name another place")
    if int(metadata["foveate"]) != VERSION:
        raise BadInput(
            f"the store in {place.name!r} has schema {metadata['foveate']}, this version knows "
            f"{VERSION}; update foveate if it is older, or make the store again in a new place: "
            "foveate index FOLDER --store lance:PATH"
        )
    if metadata.pop("checksum", None) != str(sum_of_facts(metadata)) or not _ordered(
        found, metadata
    ):
        raise damage("its facts are not as they were written")
    facts = {
        "embedder": metadata["embedder"],
        "dimensions": int(metadata["dimensions"]),
        "store": metadata.get("store", ""),
    }
    kept = (metadata["embedder"], int(metadata["dimensions"]))
    name = f"the store in {place.name!r}"
    check_same_embedder(name, kept, (embedder, dimensions), new="place")
    return found, facts


def open_table(place: Location, name: str) -> Any:
    """One of the store's tables, or None where it is not there."""
    try:
        return lance.dataset(place.table_uri(name), storage_options=place.storage_options())
    except (ValueError, OSError) as error:
        if "was not found" in str(error):
            return None
        raise


def create_table(place: Location, name: str, schema: Any, first: Any) -> Any:
    """A new table with the rows `first`, or the one that another writer has just created."""
    uri, storage = place.table_uri(name), place.storage_options()
    local = place.local_path()
    if local is not None:
        local.mkdir(parents=True, exist_ok=True)
    try:
        # Refuses where somebody has made the table since it was looked for.
        fragments = lance.fragment.write_fragments(
            first, uri, schema=first.schema, mode="create", storage_options=storage
        )
        # With no retry an overwrite of nothing is a claim: of two, one fails.
        operation = lance.LanceOperation.Overwrite(schema, fragments)
        return lance.LanceDataset.commit(uri, operation, storage_options=storage, max_retries=0)
    except OSError:
        found = open_table(place, name)
        if found is None:
            raise
        return found


def _ordered(found: Any, facts: Mapping[str, str]) -> bool:
    """Whether the table has its columns in the order, and under the numbers, of its making."""
    there = [(one.name(), one.id()) for one in found.lance_schema.fields()]
    names = column_types(int(facts["dimensions"]))
    return [name for name, _ in there] == list(names) and there == sorted(there, key=itemgetter(1))


def _create_store(place: Location, embedder: str, dimensions: int) -> Any:
    facts = {"foveate": str(VERSION), "embedder": embedder, "dimensions": str(dimensions)}
    facts["store"] = secrets.token_hex(16)
    facts["checksum"] = str(sum_of_facts(facts))
    schema = pa.schema(list(column_types(dimensions).items()), metadata=facts)
    return create_table(place, STORE_TABLE, schema, table_from_head(Head()))
