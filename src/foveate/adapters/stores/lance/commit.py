"""One transaction: parts come in, the documents that they replace and those deleted go out.

It is one commit of Lance that names every file it adds, every file from which rows go, and the new
head in place of the old one. Whoever committed since the version it was worked out from has
replaced the head too, so Lance refuses it, and it is worked out again from the newer version.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, TypeVar

from foveate.adapters.stores.lance import part as parts_
from foveate.adapters.stores.lance.guard import Faster, conflict, engine
from foveate.adapters.stores.lance.head import (
    Head,
    Segment,
    head_table,
    with_change,
    with_transaction,
)
from foveate.adapters.stores.lance.labels import among
from foveate.adapters.stores.lance.part import Part
from foveate.adapters.stores.lance.place import Place
from foveate.adapters.stores.lance.snapshot import Snapshot
from foveate.adapters.stores.rows import CHUNK_FIELDS, DOCUMENT_FIELDS
from foveate.core.errors import BadInput

T = TypeVar("T")

MOST_NAMES = 10_000
"""So many values in one condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Stored documents that leave, as rows, and the addresses of all rows that leave with them."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    chunks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    addresses: dict[int, list[int]] = field(default_factory=dict)
    """Fragment → rows of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one transaction is to do: parts come, documents go. `number`: drawn by chance.

    `sent`: the parts came from outside, so that they could come a second time.
    """

    number: int = field(default_factory=lambda: secrets.randbits(63))
    parts: Sequence[Part] = ()
    deleted: Collection[str] = ()
    sent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An order worked out from one version; `went`: how many documents go out."""

    went: int
    head: Head
    removed: Sequence[int] = ()
    updated: Sequence[Any] = ()
    added: Sequence[str] = ()


def sliced(values: Sequence[T], most: int = MOST_NAMES) -> Iterator[Sequence[T]]:
    """So many values at a time as a condition holds."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def gone(snapshot: Snapshot, names: Collection[str]) -> Gone:
    """What the store holds of these documents."""
    found = Gone()
    for some in sliced(sorted(names)):
        condition = among("document_id", some)
        fields = ["audience", *DOCUMENT_FIELDS]
        documents = snapshot.rows("documents", fields, condition, with_row_address=True)
        fields = ["audience", "document_id", *CHUNK_FIELDS]
        chunks = snapshot.rows("chunks", fields, condition, with_row_address=True)
        for table, is_document in ((documents, True), (chunks, False)):
            for row in table.to_pylist() if table is not None else ():
                address = row.pop("_rowaddr")
                found.addresses.setdefault(address >> 32, []).append(address)
                if is_document:
                    found.documents.append(row)
                else:
                    found.chunks.setdefault(row["document_id"], []).append(row)
    return found


def there(
    snapshot: Snapshot,
    names: Collection[str],
    chunks: Sequence[str] = (),
    leaving: Collection[str] = (),
) -> set[str]:
    """Which of these documents the store has, in one request unless they are very many.

    Raises `BadInput` where one of these chunks' ids is that of a document which is neither among
    them nor `leaving`.
    """
    fragments = [*snapshot.of("documents"), *snapshot.of("chunks")]
    found: set[str] = set()
    if not fragments:
        return found
    slices = zip_longest(sliced(sorted(names)), sliced(chunks), fillvalue=())
    for some, ids in slices:
        condition = f"{among('document_id', some)} OR {among('chunk_id', ids)}"
        rows = snapshot.dataset.scanner(
            columns=["document_id", "chunk_id"], filter=condition, fragments=fragments
        ).to_table()
        for document, chunk in zip(*(rows.column(n).to_pylist() for n in (0, 1)), strict=True):
            if document not in names and document not in leaving:
                raise parts_.taken("another document", chunk)
            found.add(document)
    return found


def refuse_meeting(parts: Sequence[Part], head: Head) -> None:
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
            raise parts_.taken("another document", min(chunks & set(one.chunks)))
        names.update(one.documents)
        chunks.update(one.chunks)


def planned(snapshot: Snapshot, order: Order) -> Plan | None:
    """What the order comes to in this version, None where there is nothing to do.

    Raises `BadInput`.
    """
    parts = order.parts
    refuse_meeting(parts, snapshot.head)
    leaving = set(order.deleted).union(*(one.documents for one in parts))
    present = there(snapshot, leaving, [chunk for one in parts for chunk in one.chunks])
    went = gone(snapshot, present)
    if not parts and not went.documents:
        return None
    head = _accounted(snapshot.head, parts, went)
    updated, emptied = _without(snapshot, went.addresses)
    head, orphans = _forgotten(snapshot, head, emptied)
    sent = {one.segment: one.written for one in parts} if order.sent else {}
    since = int(time.time()) - 2 * parts_.LIFE
    return Plan(
        went=len(went.documents),
        head=with_transaction(head, order.number, sent, since=since),
        removed=[*emptied, *orphans],
        updated=[one for number, one in updated.items() if number not in orphans],
        added=[text for one in parts for text in one.fragments.values()],
    )


def write(
    place: Place,
    snapshot: Snapshot,
    head: Head,
    *,
    removed: Sequence[int] = (),
    updated: Sequence[Any] = (),
    added: Sequence[str] = (),
) -> Any:
    """The one commit: this head in place of the snapshot's, these files in and out."""
    lance = engine()
    own = parts_.fragments(place, {"head": head_table(head)})["head"]
    operation = lance.LanceOperation.Update(
        removed_fragment_ids=[snapshot.number, *removed],
        updated_fragments=list(updated),
        new_fragments=[lance.FragmentMetadata.from_json(text) for text in (own, *added)],
        fields_modified=[],
    )
    try:
        return lance.LanceDataset.commit(
            snapshot.dataset,
            operation,
            read_version=snapshot.version,
            storage_options=place.storage(),
        )
    except OSError as error:
        if conflict(error):
            raise Faster(f"store {place.name}: another writer was faster; try again") from None
        raise


def _accounted(head: Head, parts: Sequence[Part], went: Gone) -> Head:
    pairs = ((row, went.chunks.get(row["document_id"], [])) for row in went.documents)
    for principals, change in parts_.audiences_of(pairs).items():
        head = with_change(head, principals, change, sign=-1)
    for one in parts:
        for principals, change in one.audiences.items():
            head = with_change(head, principals, change, sign=1)
    return replace(
        head,
        segments={
            **head.segments,
            **{one.segment: parts_.segment_of(one.fragments, one.rows) for one in parts},
        },
    )


def _without(
    snapshot: Snapshot, addresses: Mapping[int, Sequence[int]]
) -> tuple[dict[int, Any], set[int]]:
    """Fragments with those rows marked as deleted; and those that have no row left."""
    updated: dict[int, Any] = {}
    emptied: set[int] = set()
    for number, rows in addresses.items():
        left = snapshot.dataset.get_fragment(number).delete(among("_rowaddr", sorted(rows)))
        if left is None:
            emptied.add(number)
        else:
            updated[number] = left
    return updated, emptied


def _forgotten(snapshot: Snapshot, head: Head, emptied: Collection[int]) -> tuple[Head, list[int]]:
    """The head without files that are empty now; words of which no chunk is left go too."""
    orphans: list[int] = []
    segments: dict[int, Segment] = {}
    for number, segment in head.segments.items():
        files = {
            kind: name
            for kind, name in segment.files.items()
            if name not in snapshot.files or snapshot.files[name].fragment_id not in emptied
        }
        if "postings" in files and "chunks" not in files:
            orphans.append(snapshot.files[files.pop("postings")].fragment_id)
        if files:
            segments[number] = replace(segment, files=files)
    return replace(head, segments=segments), orphans
