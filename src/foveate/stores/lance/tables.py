"""The table of a Lance store, its head, and how a place becomes a store.

    PLACE/store.lance    documents, chunks and the head: one row each, one commit a transaction

Every write replaces the one row of the head, so that of two writers from one version one must
start again. The head says what each set of principals may read: its state and how much it is.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, TypeAlias

import lance
import pyarrow as pa
from blake3 import blake3

from foveate.core.errors import BadInput
from foveate.stores.checksums import damage
from foveate.stores.lance.location import Location
from foveate.stores.lazy import StoreNotFound, check_same_embedder, check_version
from foveate.stores.rows import DOCUMENT_FIELDS
from foveate.stores.totals import Totals

VERSION = 7
POSITION_COLUMNS = ("sequence", "start", "end", "byte_offset", "page", "row", "line")
MEMBER_COLUMNS = (*DOCUMENT_FIELDS, "chunk_id", "section", "text", *POSITION_COLUMNS)
"""What the state root covers of documents and chunks."""

Head: TypeAlias = Totals[str]
"""By sets of principals, as sorted JSON."""

_DIGEST_SIZE = 32
_INDEXES = (("key", "BTREE"), ("document_id", "BTREE"), ("principals", "BITMAP"))
_WORDS = {
    "base_tokenizer": "whitespace",
    **dict.fromkeys(("lower_case", "stem", "remove_stop_words", "ascii_folding"), False),
    "max_token_length": None,
}
"""The column holds the terms of foveate, of which Lance changes nothing."""
_VECTORS_PER_PARTITION = 4096
_FILES_TO_MERGE = 32
_TIERS = (1 << 5, 1 << 10, 1 << 15, 1 << 20)
"""Files of so many rows are of one size. When there are many of a size they are joined to the
next, so a row is written again a few times on its way, however many come."""


def store_schema(dimensions: int) -> Any:
    """A vector's numbers are whole, -127 to 127: half floats hold them. Without direction: null."""
    text, data = pa.string(), pa.binary()
    columns: dict[str, Any] = {"key": text, "chunk_id": text}
    columns |= dict.fromkeys((*DOCUMENT_FIELDS, "section", "text", "words"), text)
    columns |= dict.fromkeys(POSITION_COLUMNS, pa.int64())
    columns |= {"packed": data, "labels": pa.list_(text), "head": data}
    if dimensions:
        columns["vector"] = pa.list_(pa.float16(), dimensions)
    return pa.schema(list(columns.items()))


def connect(
    place: Location, *, embedder: str, dimensions: int, create: bool
) -> tuple[Any, Mapping[str, str]]:
    """The store's table and its facts, made first where `create` says so; raises `BadInput`."""
    found = open_table(place)
    if found is None:
        if not create:
            raise StoreNotFound(f"no store in {place.name!r}; index documents into it first")
        facts = {"foveate": str(VERSION), "embedder": embedder, "dimensions": str(dimensions)}
        schema = store_schema(dimensions).with_metadata(facts)
        found = _create_table(place, head_row(schema, Totals()))
    facts = {k.decode(): v.decode() for k, v in (found.schema.metadata or {}).items()}
    if "foveate" not in facts:
        raise BadInput(f"{place.name!r} holds a table that is no foveate store; name another place")
    kept = (facts["embedder"], int(facts["dimensions"]))
    name = f"the store in {place.name!r}"
    check_version(name, int(facts["foveate"]), VERSION, new="place")
    check_same_embedder(name, kept, (embedder, dimensions), new="place")
    _make_indexes(found)
    return found, facts


def open_table(place: Location) -> Any:
    """The store's table, or None where it is not there."""
    try:
        return lance.dataset(place.table_uri(), storage_options=place.storage_options())
    except (ValueError, OSError) as error:
        if "was not found" in str(error):
            return None
        raise


def _create_table(place: Location, rows: Any) -> Any:
    """A new table with these rows, or the one that another writer has just created."""
    uri, options = place.table_uri(), place.storage_options()
    try:
        return lance.write_dataset(rows, uri, mode="create", storage_options=options)
    except OSError:
        found = open_table(place)
        if found is None:
            raise
        return found


def head_row(schema: Any, head: Head) -> Any:
    """The head as a table of one row: the digest of its JSON, and the JSON."""
    record = {
        principals: (b64encode(state).decode(), *head.figures[principals])
        for principals, state in head.states.items()
        if any(head.figures[principals])
    }
    data = json.dumps(record).encode()
    row = {"key": "head", "document_id": "", "head": blake3(data).digest() + data}
    return pa.Table.from_pylist([row], schema=schema)


def read_head(dataset: Any) -> Head:
    """The head of this version; raises `ExternalError` for damage."""
    rows = dataset.to_table(columns=["head"], filter="key = 'head'").column(0).to_pylist()
    value = rows[0] if len(rows) == 1 else b""
    digest, data = value[:_DIGEST_SIZE], value[_DIGEST_SIZE:]
    if blake3(data).digest() != digest:
        raise damage("its head is not as it was written")
    head = Head()
    for principals, (state, *figures) in json.loads(data).items():
        head.states[principals], head.figures[principals] = b64decode(state), figures
    return head


def _make_indexes(dataset: Any) -> None:
    """The indexes of words and of columns, where they are not there yet."""
    there = {one.name for one in dataset.describe_indices()}
    with suppress(OSError):  # another process has just made it
        if "words_idx" not in there:
            dataset.create_scalar_index("words", "INVERTED", replace=False, **_WORDS)
        for column, kind in _INDEXES:
            if f"{column}_idx" not in there:
                dataset.create_scalar_index(column, kind, replace=False)


def update_indexes(dataset: Any, *, vectors: int) -> None:
    """Bring all indexes up to date, and make one of so many vectors; none for 0."""
    dataset.optimize.optimize_indices()
    if vectors and not vector_index(dataset):
        partitions = max(1, vectors // _VECTORS_PER_PARTITION)
        dataset.create_index("vector", "IVF_RQ", metric="cosine", num_partitions=partitions)


def vector_index(dataset: Any) -> str:
    """The parts of the index of vectors; empty without one."""
    for index in dataset.describe_indices():
        if index.name == "vector_idx":
            return " ".join(sorted(str(one.uuid) for one in index.segments))
    return ""


def join_small_files(dataset: Any) -> None:
    """Join the files of a size of which there are many."""
    rows = [one.physical_rows for one in dataset.get_fragments()]
    for least, most in pairwise((0, *_TIERS)):
        if sum(least <= number < most for number in rows) >= _FILES_TO_MERGE:
            dataset.optimize.compact_files(target_rows_per_fragment=most)
            dataset.optimize.optimize_indices()
            return


def sizes(dataset: Any) -> dict[str, int]:
    """Bytes of this version's rows and indexes; older versions are not in it."""
    files = (one for fragment in dataset.get_fragments() for one in fragment.data_files())
    return {
        "rows": sum(one.file_size_bytes or 0 for one in files),
        "indexes": sum(one.total_size_bytes or 0 for one in dataset.describe_indices()),
    }
