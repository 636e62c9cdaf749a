"""One transaction: parts come in, replaced and deleted documents go out, in one commit of Lance.

The commit replaces the head, so Lance refuses it after another writer's; it is then planned again
from the newer version.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import lance

from foveate.core.errors import BadInput, ExternalError
from foveate.stores.filters import iter_batches
from foveate.stores.lance import files
from foveate.stores.lance import part as parts_
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.labels import in_condition
from foveate.stores.lance.location import (
    CommitConflict,
    Location,
    convert_engine_errors,
    is_conflict,
)
from foveate.stores.lance.part import Part
from foveate.stores.lance.scan import Versions
from foveate.stores.lance.schema import (
    Head,
    Segment,
    apply_change,
    record_transaction,
    table_from_head,
)
from foveate.stores.rows import CHUNK_FIELDS, DOCUMENT_FIELDS, duplicate_id_error


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedRows:
    """Stored documents that leave, as rows, and the addresses of all rows that leave with them."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    addresses: dict[int, list[int]] = field(default_factory=dict)
    """Fragment → rows of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """Parts and deletions of one transaction, its random number; `sent`: parts from outside."""

    number: int = field(default_factory=lambda: secrets.randbits(63))
    parts: Sequence[Part] = ()
    deleted: Collection[str] = ()
    sent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPlan:
    """An order worked out from one version; `removed_count`: how many documents go out."""

    head: Head
    removed_count: int = 0
    removed: Sequence[int] = ()
    updated: Sequence[Any] = ()
    added: Sequence[str] = ()


def find_removed_rows(snapshot: Snapshot, names: Collection[str]) -> RemovedRows:
    """What the store holds of these documents."""
    found = RemovedRows()
    for some in iter_batches(sorted(names)):
        condition = in_condition("document_id", some)
        fields = ["audience", *DOCUMENT_FIELDS]
        documents = snapshot.read_rows("documents", fields, condition, with_row_address=True)
        fields = ["audience", "document_id", *CHUNK_FIELDS]
        chunks = snapshot.read_rows("chunks", fields, condition, with_row_address=True)
        for table, rows in ((documents, found.documents), (chunks, found.chunks)):
            for row in table.to_pylist() if table is not None else ():
                address = row.pop("_rowaddr")
                found.addresses.setdefault(address >> 32, []).append(address)
                rows.append(row)
    return found


def find_existing(
    snapshot: Snapshot,
    names: Collection[str],
    chunks: Sequence[str] = (),
    leaving: Collection[str] = (),
) -> set[str]:
    """Which of these documents the store has.

    Raises `BadInput` if a chunk id belongs to a document that is neither among them nor `leaving`.
    """
    fragments = [*snapshot.fragments("documents"), *snapshot.fragments("chunks")]
    found: set[str] = set()
    if not fragments:
        return found
    slices = zip_longest(iter_batches(sorted(names)), iter_batches(chunks), fillvalue=())
    for some, ids in slices:
        condition = f"{in_condition('document_id', some)} OR {in_condition('chunk_id', ids)}"
        rows = snapshot.dataset.scanner(
            columns=["document_id", "chunk_id"], filter=condition, fragments=fragments
        ).to_table()
        for document, chunk in zip(*(rows.column(n).to_pylist() for n in (0, 1)), strict=True):
            if document not in names and document not in leaving:
                raise duplicate_id_error("another document", chunk)
            found.add(document)
    return found


def check_disjoint(parts: Sequence[Part], head: Head) -> None:
    """Raise `BadInput` where two parts have one document, or a part was committed before."""
    names: set[str] = set()
    chunks: set[str] = set()
    for one in parts:
        if one.segment in head.committed or one.segment in head.segments:
            raise BadInput(
                "this part is in the store already; a part is committed once: to bring its "
                "documents back, write them again"
            )
        if not names.isdisjoint(one.documents):
            raise BadInput(
                f"document {min(names & set(one.documents))!r} stands in two parts; give it once",
                field="document_id",
            )
        if not chunks.isdisjoint(one.chunks):
            raise duplicate_id_error("another document", min(chunks & set(one.chunks)))
        names.update(one.documents)
        chunks.update(one.chunks)


def plan_commit(place: Location, snapshot: Snapshot, order: CommitRequest) -> CommitPlan | None:
    """The changes of one transaction in this version, None for no changes; raises `BadInput`."""
    parts = order.parts
    check_disjoint(parts, snapshot.head)
    leaving = set(order.deleted).union(*(one.documents for one in parts))
    present = find_existing(snapshot, leaving, [chunk for one in parts for chunk in one.chunks])
    went = find_removed_rows(snapshot, present)
    if not parts and not went.documents:
        return None
    segments, removed, updated = _take_rows_out(place, snapshot, went.addresses)
    segments |= {one.segment: Segment(files=one.files, rows=one.rows) for one in parts}
    head = replace(_update_audiences(snapshot.head, parts, went), segments=segments)
    sent = {one.segment: one.written for one in parts} if order.sent else {}
    since = int(time.time()) - 2 * parts_.LIFETIME_SECONDS
    return CommitPlan(
        removed_count=len(went.documents),
        head=record_transaction(head, order.number, sent, since=since),
        removed=removed,
        updated=updated,
        added=[text for one in parts for text in one.fragments],
    )


def write_commit(
    place: Location,
    snapshot: Snapshot,
    plan: CommitPlan,
) -> Any:
    """The one commit: the plan's head in place of the snapshot's, its files in and out."""
    _, own = parts_.write_fragments(place, {"head": table_from_head(plan.head)})
    operation = lance.LanceOperation.Update(
        removed_fragment_ids=[snapshot.number, *plan.removed],
        updated_fragments=list(plan.updated),
        new_fragments=[lance.FragmentMetadata.from_json(text) for text in (*own, *plan.added)],
        fields_modified=[],
    )
    try:
        return lance.LanceDataset.commit(
            snapshot.dataset,
            operation,
            read_version=snapshot.version,
            storage_options=place.storage_options(),
        )
    except OSError as error:
        if is_conflict(error):
            raise CommitConflict(
                f"store {place.name}: another writer was faster; try again"
            ) from None
        raise


def _update_audiences(head: Head, parts: Sequence[Part], went: RemovedRows) -> Head:
    for change in parts_.sum_by_principals(went.documents, went.chunks):
        head = apply_change(head, change, sign=-1)
    for one in parts:
        for change in one.audiences:
            head = apply_change(head, change, sign=1)
    return head


def _take_rows_out(
    place: Location, snapshot: Snapshot, addresses: Mapping[int, Sequence[int]]
) -> tuple[dict[int, Segment], list[int], list[Any]]:
    """The segments without these rows, the fragments that are empty now, and those that are less.

    Words of which no chunk is left go too.
    """
    segments, removed, updated = dict(snapshot.head.segments), list[int](), list[Any]()
    for number, segment in snapshot.head.segments.items():
        left = dict(segment.files)
        for kind in ("documents", "chunks"):
            fragment = snapshot.fragment(number, kind)
            rows = addresses.get(fragment.fragment_id) if fragment is not None else None
            if not rows:
                continue
            less = fragment.delete(in_condition("_rowaddr", sorted(rows)))
            if less is not None:
                updated.append(less)
                path = less.deletion_file.path(fragment.fragment_id)
                left[kind] = files.with_deletions(place, left[kind], path)
                continue
            for emptied in (kind,) if kind == "documents" else (kind, "postings"):
                removed.append(snapshot.files[left.pop(emptied).name].fragment_id)
        segments[number] = replace(segment, files=left)
        if not left:
            del segments[number]
    return segments, removed, updated


_ATTEMPTS = 200
_MAX_WAIT = 1.0


def commit_with_retry(place: Location, versions: Versions, order: CommitRequest) -> int:
    """One transaction, planned again for each newer version; how many documents it removed."""
    for attempt in range(_ATTEMPTS):
        now = versions.current()
        with convert_engine_errors(place):
            plan = plan_commit(place, now, order)
        if plan is None:
            return 0
        try:
            with convert_engine_errors(place):
                write_commit(place, now, plan)
        except ExternalError as error:
            # The answer may have been lost, and not the commit: a request that is sent again can
            # meet what it has done itself.
            if order.number in versions.current().head.recent:
                return plan.removed_count
            if not isinstance(error, CommitConflict):
                raise
            wait = min(_MAX_WAIT, 0.01 * 1.5 ** min(attempt, 12))
            time.sleep(random.uniform(0, wait))  # noqa: S311 (so that two do not keep step)
        else:
            return plan.removed_count
    raise ExternalError(
        f"store {place.name}: others write without a pause; nothing was changed, try again"
    )
