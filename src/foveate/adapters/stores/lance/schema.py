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
from functools import lru_cache
from typing import Any

from foveate.adapters.stores.lance.guard import engine
from foveate.adapters.stores.lance.head import Head, head_table
from foveate.adapters.stores.lance.place import Place
from foveate.adapters.stores.later import NoStore
from foveate.core.errors import BadInput, BadOption

VERSION = 1
LOCAL_BITS = 23
MOST_ROWS = 1 << LOCAL_BITS
"""So many chunks in a segment."""

STORE, KNOWN = "store", "known"

_DOCUMENT = ("document_id", "source", "title", "summary", "modified_at", "principals", "metadata")
SHARED = ("source", "title", "summary", "modified_at")
"""What every chunk says of its document."""
DOCUMENT = (*_DOCUMENT, "content_hash", "text_hash", "audience", "packed")
PLACED = ("sequence", "start", "end", "byte_offset", "page", "row", "line")
CHUNK = (
    *("key", "chunk_id", *_DOCUMENT, "content_hash", "audience", *PLACED, "section", "text"),
    *("terms", "norm", "labels"),
)
POSTING = ("term", "segment", "places")


@lru_cache(maxsize=64)
def columns(dimensions: int) -> dict[str, Any]:
    """Column → Arrow type. A vector's numbers are whole, -127 to 127: half floats hold them."""
    import pyarrow as pa

    text, number, data = pa.string(), pa.int64(), pa.binary()
    names = {"head_key": text, "head_value": data}
    names |= dict.fromkeys(("chunk_id", *_DOCUMENT, "content_hash", "text_hash"), text)
    names |= {"audience": number, "packed": data, "key": number}
    names |= dict.fromkeys(PLACED, number)
    names |= {"section": text, "text": text, "terms": pa.int32(), "norm": pa.int32()}
    names |= {"labels": pa.list_(text)}
    names |= {"term": text, "segment": number, "places": data}
    if dimensions:
        names["vector"] = pa.list_(pa.float16(), dimensions)
    return names


def table(names: dict[str, Any], given: dict[str, Any]) -> Any:
    """Columns as an Arrow table with the types of the store's."""
    import pyarrow as pa

    arrays = [
        value if isinstance(value, pa.Array) else pa.array(value, names[name])
        for name, value in given.items()
    ]
    return pa.table(arrays, schema=pa.schema([(name, names[name]) for name in given]))


def connect(
    place: Place, *, embedder: str, dimensions: int, create: bool
) -> tuple[Any, dict[str, Any]]:
    """The store's table and its facts, made first where `create` says so; raises `BadInput`."""
    found = opened(place, STORE)
    if found is None:
        if not create:
            raise NoStore(f"no store in {place.name!r}; index documents into it first")
        found = _made(place, embedder, dimensions)
    metadata = {k.decode(): v.decode() for k, v in (found.schema.metadata or {}).items()}
    if "foveate" not in metadata:
        raise BadInput(f"{place.name!r} holds a table that is no foveate store; name another place")
    if int(metadata["foveate"]) != VERSION:
        raise BadInput(
            f"the store in {place.name!r} has schema {metadata['foveate']}, this version knows "
            f"{VERSION}; update foveate, or index the documents into a new place"
        )
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


def opened(place: Place, name: str) -> Any:
    """One of the store's tables, or None where it is not there."""
    lance = engine()
    try:
        return lance.dataset(place.table(name), storage_options=place.storage())
    except (ValueError, OSError) as error:
        if "was not found" in str(error):
            return None
        raise


def made(place: Place, name: str, schema: Any, first: Any) -> Any:
    """A new table with the rows `first`; whoever comes second uses the first."""
    lance = engine()
    uri, storage = place.table(name), place.storage()
    local = place.local()
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
        found = opened(place, name)
        if found is None:
            raise
        return found


def _made(place: Place, embedder: str, dimensions: int) -> Any:
    import pyarrow as pa

    facts = {"foveate": str(VERSION), "embedder": embedder, "dimensions": str(dimensions)}
    facts["store"] = secrets.token_hex(16)
    schema = pa.schema(list(columns(dimensions).items()), metadata=facts)
    return made(place, STORE, schema, head_table(Head()))
