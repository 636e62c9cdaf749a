"""Compaction: small segments become one, indexes are updated, and old versions are deleted.

A merge copies stored rows and is a commit like any other; it gives way to a concurrent one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa

from foveate.stores.lance import part as parts
from foveate.stores.lance import schema
from foveate.stores.lance.commit import CommitPlan, write_commit
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.location import CommitConflict, Location
from foveate.stores.lance.postings import merge_postings
from foveate.stores.lance.schema import Head, Segment
from foveate.stores.lance.search import VECTOR_INDEX

DEFAULT_RETENTION = timedelta(days=1)
"""Versions younger than this stay, unless `compact` says otherwise."""

FULL_SEGMENT_CHUNKS = 131_072
"""A segment of so many chunks is not merged any more."""
MERGE_COUNT = 16
_VECTORS_PER_PARTITION = 4_096
"""So many vectors to a partition of the index: what a search reads of each that it probes."""
MIN_INDEXED_CHUNKS = 5_000
"""From so many chunks on there are indexes; below, reading all of a column is as fast."""
_SCALAR_INDEXES = (
    ("term", "BTREE"),
    ("document_id", "BTREE"),
    ("chunk_id", "BTREE"),
    ("audience", "BITMAP"),
    ("labels", "LABEL_LIST"),
)


def find_small_segments(head: Head) -> list[int]:
    """Sixteen segments of about one size to merge now, the smallest first; or none.

    Sizes are powers of eight, so that a chunk is written again some six times.
    """
    tiers: dict[int, list[int]] = {}
    for number, segment in sorted(head.segments.items()):
        if segment.rows < FULL_SEGMENT_CHUNKS:
            tiers.setdefault((max(segment.rows, 1).bit_length() - 1) // 3, []).append(number)
    for _, numbers in sorted(tiers.items()):
        if len(numbers) >= MERGE_COUNT:
            return _group_segments(head, numbers)[0]
    return []


def find_mergeable_groups(snapshot: Snapshot) -> list[list[int]]:
    """Groups of segments that are small, or of which a fifth is gone."""
    head, numbers = snapshot.head, []
    for number, segment in sorted(head.segments.items()):
        chunks = snapshot.fragment(number, "chunks")
        live = chunks.count_rows() if chunks is not None else 0
        if segment.rows < FULL_SEGMENT_CHUNKS or live < 0.8 * segment.rows:
            numbers.append((live == segment.rows, number))
    found = _group_segments(head, [number for _, number in numbers])
    whole = {number for is_whole, number in numbers if is_whole}
    return [group for group in found if len(group) > 1 or group[0] not in whole]


def _group_segments(head: Head, numbers: Sequence[int]) -> list[list[int]]:
    """In groups that one machine can hold."""
    groups: list[list[int]] = [[]]
    rows = 0
    for number in numbers:
        if groups[-1] and rows + head.segments[number].rows > 2 * FULL_SEGMENT_CHUNKS:
            groups.append([])
            rows = 0
        groups[-1].append(number)
        rows += head.segments[number].rows
    return [group for group in groups if group]


def merge_all(current: Callable[[], Snapshot], place: Location, dimensions: int) -> None:
    """All that is small or worn; what another writer changes meanwhile is left as it is."""
    for group in find_mergeable_groups(current()):
        now = current()
        if all(number in now.head.segments for number in group):
            try:
                merge_segments(now, place, dimensions, group)
            except CommitConflict:
                continue


def merge_segments(now: Snapshot, place: Location, dimensions: int, numbers: Sequence[int]) -> None:
    """Write these segments as one; raises `CommitConflict`."""
    old = {number: now.head.segments[number] for number in numbers}
    documents = now.read_rows("documents", schema.DOCUMENT_COLUMNS, segments=numbers)
    columns = [*schema.CHUNK_COLUMNS, *(["vector"] if dimensions else [])]
    chunks = now.read_rows("chunks", columns, segments=numbers)
    segment = parts.new_segment()
    tables = {"documents": documents} if documents is not None and documents.num_rows else {}
    if chunks is not None and chunks.num_rows:
        keys = chunks.column("key").to_numpy()
        at = chunks.schema.get_field_index("key")
        tables["chunks"] = chunks.set_column(
            at, pa.field("key", pa.int64()), parts.chunk_keys(segment, chunks.num_rows)
        )
        postings = now.read_rows("postings", schema.POSTING_COLUMNS, segments=numbers)
        sizes = {number: one.rows for number, one in old.items()}
        tables["postings"] = merge_postings(dimensions, segment, postings, keys, sizes)
    files, fragments = parts.write_fragments(place, tables)
    segments = {n: s for n, s in now.head.segments.items() if n not in old}
    if files:
        rows = 0 if "chunks" not in tables else tables["chunks"].num_rows
        segments[segment] = Segment(files=files, rows=rows)
    gone = [now.files[file.name].fragment_id for one in old.values() for file in one.files.values()]
    head = replace(now.head, segments=segments)
    write_commit(place, now, CommitPlan(head=head, removed=gone, added=fragments))


def update_indexes(now: Snapshot, dimensions: int, exact: int) -> None:
    """Make the indexes that the store is large enough for, and bring those there up to date."""
    dataset = now.dataset.checkout_version(now.version)
    chunks = sum(audience.chunks for audience in now.head.audiences.values())
    there = {one.name for one in dataset.describe_indices()}
    if there:
        dataset.optimize.optimize_indices()
    if chunks >= MIN_INDEXED_CHUNKS:
        for column, kind in _SCALAR_INDEXES:
            if f"{column}_idx" not in there:
                dataset.create_scalar_index(column, kind, replace=False)
    if dimensions and chunks > exact and VECTOR_INDEX not in there:
        dataset.create_index(
            "vector",
            "IVF_RQ",
            metric="cosine",
            num_partitions=max(1, chunks // _VECTORS_PER_PARTITION),
            replace=False,
        )
