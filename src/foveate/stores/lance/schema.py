"""The tables of a store on Lance, and how a place becomes a store. No rows are read here.

    PLACE/store.lance    documents, chunks, words and states: one table, so that one commit of
                         Lance is one transaction
    PLACE/known.lance    token counts and readings of texts: a memory, not part of the content

A file of `store.lance` (Lance says fragment) holds rows of one kind and has only its columns:
`head` (audiences and segments), documents, chunks, postings. Rules: exactly one head at any time,
and every write replaces it, so that of two writers that began from one version one must begin
again; a chunk's key is its segment's number and its place in the segment's file, and is never used
again; whatever changes a column or `terms.py` raises VERSION.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from foveate.core.errors import BadInput, BadOption
from foveate.stores.checksums import checksum, damage
from foveate.stores.lance.engine_errors import import_lance
from foveate.stores.lance.head import Head, table_from_head
from foveate.stores.lance.location import Location
from foveate.stores.lazy import StoreNotFound

VERSION = 2
LOCAL_BITS = 23
MAX_SEGMENT_ROWS = 1 << LOCAL_BITS
"""So many chunks in a segment."""

STORE_TABLE, TEXT_MEMORY_TABLE = "store", "known"

_SHARED_COLUMNS = (
    "document_id",
    "source",
    "title",
    "summary",
    "modified_at",
    "principals",
    "metadata",
)
COPIED_COLUMNS = ("source", "title", "summary", "modified_at")
"""What every chunk says of its document."""
DOCUMENT_COLUMNS = (*_SHARED_COLUMNS, "content_hash", "text_hash", "audience", "packed")
POSITION_COLUMNS = ("sequence", "start", "end", "byte_offset", "page", "row", "line")
CHUNK_COLUMNS = (
    *(
        "key",
        "chunk_id",
        *_SHARED_COLUMNS,
        "content_hash",
        "audience",
        *POSITION_COLUMNS,
        "section",
        "text",
    ),
    *("terms", "norm", "labels"),
)
POSTING_COLUMNS = ("term", "segment", "places")


@lru_cache(maxsize=64)
def column_types(dimensions: int) -> dict[str, Any]:
    """Column → Arrow type. A vector's numbers are whole, -127 to 127: half floats hold them."""
    import pyarrow as pa

    text, number, data = pa.string(), pa.int64(), pa.binary()
    names = {"head_key": text, "head_value": data}
    names |= dict.fromkeys(("chunk_id", *_SHARED_COLUMNS, "content_hash", "text_hash"), text)
    names |= {"audience": number, "packed": data, "key": number}
    names |= dict.fromkeys(POSITION_COLUMNS, number)
    names |= {"section": text, "text": text, "terms": pa.int32(), "norm": pa.int32()}
    names |= {"labels": pa.list_(text)}
    names |= {"term": text, "segment": number, "places": data}
    if dimensions:
        names["vector"] = pa.list_(pa.float16(), dimensions)
    return names


def build_table(names: dict[str, Any], given: dict[str, Any]) -> Any:
    """Columns as an Arrow table with the types of the store's."""
    import pyarrow as pa

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
            f"{VERSION}; update foveate, or index the documents into a new place"
        )
    if metadata.pop("checksum", None) != sum_of(metadata) or not _ordered(found, metadata):
        raise damage("its facts are not as they were written")
    facts = {
        "embedder": metadata["embedder"],
        "dimensions": int(metadata["dimensions"]),
        "store": metadata.get("store", ""),
    }
    if embedder and (embedder, dimensions) != (facts["embedder"], facts["dimensions"]):
        raise BadOption(
            f"the store in {place.name!r} holds vectors of {facts['embedder']!r} "
            f"({facts['dimensions']} dimensions), not of {embedder!r} ({dimensions}); "
            f"open it with that embedder, or index into a new place"
        )
    return found, facts


def open_table(place: Location, name: str) -> Any:
    """One of the store's tables, or None where it is not there."""
    lance = import_lance()
    try:
        return lance.dataset(place.table_uri(name), storage_options=place.storage_options())
    except (ValueError, OSError) as error:
        if "was not found" in str(error):
            return None
        raise


def create_table(place: Location, name: str, schema: Any, first: Any) -> Any:
    """A new table with the rows `first`; whoever comes second uses the first."""
    lance = import_lance()
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


def sum_of(facts: Mapping[str, str]) -> str:
    """The checksum of a table's facts."""
    return str(checksum([part for fact in sorted(facts.items()) for part in fact]))


def _ordered(found: Any, facts: Mapping[str, str]) -> bool:
    """Whether the table has its columns in the order, and under the numbers, of its making."""
    there = [(one.name(), one.id()) for one in found.lance_schema.fields()]
    names = column_types(int(facts["dimensions"]))
    return [name for name, _ in there] == list(names) and there == sorted(there, key=itemgetter(1))


def _create_store(place: Location, embedder: str, dimensions: int) -> Any:
    import pyarrow as pa

    facts = {"foveate": str(VERSION), "embedder": embedder, "dimensions": str(dimensions)}
    facts["store"] = secrets.token_hex(16)
    facts["checksum"] = sum_of(facts)
    schema = pa.schema(list(column_types(dimensions).items()), metadata=facts)
    return create_table(place, STORE_TABLE, schema, table_from_head(Head()))
