"""The contents of a Lance store: figures, documents and remembered token counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from operator import itemgetter
from threading import RLock
from typing import Any

import lance
import numpy as np
import pyarrow as pa

from foveate.core.checks import is_encodable
from foveate.ports import Document
from foveate.stores.base import Stats
from foveate.stores.checksums import checksum
from foveate.stores.filters import iter_batches
from foveate.stores.lance import schema
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.labels import in_condition, quote_literal
from foveate.stores.lance.location import Location
from foveate.stores.lance.scan import Scan
from foveate.stores.lance.schema import DOCUMENT_COLUMNS, VERSION
from foveate.stores.rows import DOCUMENT_FIELDS, textless_document_from_row, with_text

_MAX_LISTED_HASHES = 1_000
"""Beyond so many hashes all rows of their space are read, which is cheaper than a long list."""
_COLUMNS = pa.schema(
    [
        ("fingerprint", pa.string()),
        ("hash", pa.string()),
        ("tokens", pa.int64()),
        ("checksum", pa.int64()),
    ]
)
_FILES_TO_MERGE = 32
"""Small files are joined when there are so many."""
_TIERS = (1 << 5, 1 << 10, 1 << 15, 1 << 20)
"""Files between two of these are of one size, and joined they are of the next: so a row is written
again a few times on its way, however many come."""


class TokenCounts:
    """Token counts by fingerprint and content hash, in a table of their own, with checksums."""

    def __init__(self, place: Location) -> None:
        self._place = place
        self._dataset: Any = None
        self._lock = RLock()

    def get(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """The tokens of these texts, as far as they are known and intact."""
        if not hashes:
            return {}
        with self._lock:
            dataset = self._current_dataset(make=False)
        if dataset is None:
            return {}
        wanted = set(hashes)
        found: dict[str, int] = {}
        for some in (
            iter_batches(sorted(wanted), _MAX_LISTED_HASHES)
            if len(wanted) <= 4 * _MAX_LISTED_HASHES
            else [()]
        ):
            condition = f"fingerprint = {quote_literal(fingerprint)}"
            if some:
                condition += f" AND {in_condition('hash', some)}"
            columns = ["hash", "tokens", "checksum"]
            rows = dataset.scanner(columns=columns, filter=condition).to_table()
            each = zip(*(rows.column(c).to_pylist() for c in columns), strict=True)
            found |= {
                name: tokens
                for name, tokens, noted in each
                if name in wanted and noted == checksum((fingerprint, name, tokens))
            }
        return found

    def add(self, counts: Iterable[tuple[str, Mapping[str, int]]]) -> None:
        """Keep these, by fingerprint; one commit, which cannot meet another's."""
        rows = [
            (*row, checksum(row))
            for fingerprint, many in counts
            for name, count in many.items()
            if is_encodable(fingerprint + name)
            for row in ((fingerprint, name, int(count)),)
        ]
        if not rows:
            return
        table = _build_table(rows)
        with self._lock:
            self._dataset = lance.write_dataset(
                table,
                self._current_dataset(make=True),
                mode="append",
                storage_options=self._place.storage_options(),
            )
            self._join_small()

    def bytes(self) -> int:
        """Of the files of its latest version."""
        with self._lock:
            dataset = self._current_dataset(make=False)
        files = (one for f in dataset.get_fragments() for one in f.data_files()) if dataset else ()
        return sum(one.file_size_bytes or 0 for one in files)

    def _join_small(self) -> None:
        rows = [one.physical_rows for one in self._dataset.get_fragments()]
        for least, most in pairwise((0, *_TIERS)):
            if sum(least <= number < most for number in rows) >= _FILES_TO_MERGE:
                self._dataset.optimize.compact_files(target_rows_per_fragment=most)
                return

    def compact(self, keep: timedelta) -> None:
        """Join small files; versions younger than `keep` stay."""
        with self._lock:
            dataset = self._current_dataset(make=False)
            if dataset is not None:
                dataset.optimize.compact_files()
                dataset.cleanup_old_versions(older_than=keep)

    def _current_dataset(self, *, make: bool) -> Any:
        if self._dataset is None:
            self._dataset = schema.open_table(self._place, schema.COUNTS_TABLE)
        else:
            # Another object, since a reader may be at work with the one before.
            latest = self._dataset.latest_version
            if latest != self._dataset.version:
                self._dataset = self._dataset.checkout_version(latest)
        if self._dataset is None and make:
            first = _build_table([])
            self._dataset = schema.create_table(
                self._place, schema.COUNTS_TABLE, first.schema, first
            )
        return self._dataset


def _build_table(rows: Sequence[tuple[str, str, int, int]]) -> Any:
    columns = list(zip(*rows, strict=True)) or [()] * len(_COLUMNS)
    return pa.table(
        [pa.array(c, one.type) for c, one in zip(columns, _COLUMNS, strict=True)], _COLUMNS
    )


def compute_stats(
    snapshot: Snapshot,
    scan: Scan,
    readers: Sequence[int] | None,
    made_with: tuple[str, int],
    state_root: str,
    *,
    known: int = 0,
) -> Stats:
    """The store in figures, of what `readers` may read or, for None, of everything."""
    head = snapshot.head
    audiences = [*head.audiences] if readers is None else readers
    mine = [head.audiences[number] for number in audiences if number in head.audiences]
    mask = scan.view(audiences).mask
    return Stats(
        documents=sum(audience.documents for audience in mine),
        chunks=sum(audience.chunks for audience in mine),
        # Those whose vector has a direction.
        vectors=int(np.count_nonzero(scan.norms if mask is None else scan.norms[mask])),
        embedder=made_with[0],
        dimensions=made_with[1],
        schema=VERSION,
        state_root=state_root,
        bytes={**bytes_by_kind(snapshot), "known": known} if readers is None else {},
    )


def bytes_by_kind(snapshot: Snapshot) -> dict[str, int]:
    """Bytes of this version's files by kind, and of its indexes; older versions are not in it."""
    kinds = {
        file.name: kind
        for segment in snapshot.head.segments.values()
        for kind, file in segment.files.items()
    }
    found = dict.fromkeys(("documents", "chunks", "postings", "head"), 0)
    for name, fragment in snapshot.files.items():
        found[kinds.get(name, "head")] += fragment.data_files()[0].file_size_bytes or 0
    found["indexes"] = sum(one.total_size_bytes or 0 for one in snapshot.dataset.describe_indices())
    return found


def load_document(snapshot: Snapshot, name: str, audiences: Sequence[int]) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    named, mine = in_condition("document_id", [name]), in_condition("audience", audiences)
    found = snapshot.read_rows("documents", DOCUMENT_COLUMNS, f"{named} AND {mine}")
    if found is None or not found.num_rows:
        return None
    hidden = snapshot.read_rows("chunks", ["key"], f"{named} AND NOT ({mine})")
    if hidden is not None and hidden.num_rows:
        return None
    row = found.to_pylist()[0]
    return with_text(row, row["packed"])


def list_documents(
    snapshot: Snapshot, after: str, limit: int, audiences: Sequence[int]
) -> list[Document]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    mine = in_condition("audience", audiences)
    ids = snapshot.read_rows(
        "documents", ["document_id"], f"{mine} AND document_id > {quote_literal(after)}"
    )
    waiting = sorted(ids.column(0).to_pylist()) if ids is not None else []
    found: list[Document] = []
    while waiting and len(found) < limit:
        some, waiting = waiting[:limit], waiting[limit:]
        named = in_condition("document_id", some)
        hidden = snapshot.read_rows("chunks", ["document_id"], f"{named} AND NOT ({mine})")
        closed = set(hidden.column(0).to_pylist()) if hidden is not None else set()
        rows = snapshot.read_rows("documents", DOCUMENT_FIELDS, f"{named} AND {mine}")
        readable = (row for row in rows.to_pylist() if row["document_id"] not in closed)
        found += [
            textless_document_from_row(row)
            for row in sorted(readable, key=itemgetter("document_id"))
        ]
    return found[:limit]


def list_content_hashes(snapshot: Snapshot) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id."""
    found = snapshot.read_rows("documents", ["document_id", "content_hash"])
    if found is None:
        return []
    return sorted(zip(*(found.column(n).to_pylist() for n in (0, 1)), strict=True))
