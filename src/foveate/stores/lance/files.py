"""One version of a Lance store: the table, its head, and whether its files are those written.

A process reads each local file once to compare digests; an object store has checksums of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from foveate.stores.atomic_write import atomic_write
from foveate.stores.checksums import damage
from foveate.stores.lance.location import Location
from foveate.stores.lance.schema import Head, StoredFile, head_from_table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """`files`: name of a data file → its fragment; `number`: of the fragment that is the head."""

    dataset: Any
    head: Head
    number: int
    files: Mapping[str, Any]

    @property
    def version(self) -> int:
        """Lance's number of this version."""
        return int(self.dataset.version)

    def fragment(self, segment: int, kind: str) -> Any:
        """The fragment with a segment's rows of one kind, or None."""
        file = self.head.segments[segment].files.get(kind)
        return self.files.get(file.name) if file is not None else None

    def fragments(self, kind: str, segments: Iterable[int] | None = None) -> list[Any]:
        """The fragments of one kind, in the order of their segments, or of these."""
        wanted = sorted(self.head.segments) if segments is None else segments
        found = (self.fragment(number, kind) for number in wanted)
        return [one for one in found if one is not None]

    def read_rows(
        self,
        kind: str,
        columns: Sequence[str],
        condition: str | None = None,
        *,
        segments: Iterable[int] | None = None,
        **options: Any,
    ) -> Any:
        """Rows of a kind as an Arrow table, by an index where there is one; None for no files."""
        fragments = self.fragments(kind, segments)
        if not fragments:
            return None
        found = self.dataset.scanner(
            columns=list(columns), filter=condition, fragments=fragments, **options
        )
        return found.to_table()


def load_snapshot(dataset: Any) -> Snapshot:
    """The version that a dataset is at."""
    files = {one.data_files()[0].path: one for one in dataset.get_fragments()}
    heads = [one for one in files.values() if list(one.data_files()[0].fields) == [0]]
    if len(heads) != 1:
        raise damage("its table has no head, or more than one")
    head = head_from_table(heads[0].to_table(columns=["head"]))
    return Snapshot(dataset=dataset, head=head, number=heads[0].fragment_id, files=files)


_TABLE = "store.lance"
INDEXES = "checksums.json"
"""Beside an index's files: their digests."""


def digest_of(place: Location, fragment: Any) -> str:
    """The digest of a data file and of Lance's metadata `fragment`; empty on an object store."""
    (file,) = fragment.files
    facts = (file.path, file.fields, file.column_indices, file.file_major_version)
    described = json.dumps((*facts, file.file_minor_version, fragment.physical_rows))
    return _digest_of_path(place, f"data/{file.path}", described)


def with_deletions(place: Location, file: StoredFile, path: str) -> StoredFile:
    """The file with this list of the rows that are gone."""
    return file._replace(deletions=path, deletions_digest=_digest_of_path(place, path))


def _digest_of_path(place: Location, path: str, described: str = "") -> str:
    folder = place.local_path()
    return "" if folder is None else _digest(folder / _TABLE / path, described)


def verify(place: Location, now: Snapshot, known: Mapping[str, str]) -> dict[str, str]:
    """File → digest of all files of this version; raises for a changed one."""
    found: dict[str, str] = {}
    for what in wrong(place, now, known, found):
        raise damage(what)
    return found


def wrong(
    place: Location, now: Snapshot, known: Mapping[str, str], found: dict[str, str]
) -> Iterator[str]:
    """Findings for changed files; the digests of all files are put into `found`."""
    if place.local_path() is None:
        return
    noted = [file for segment in now.head.segments.values() for file in segment.files.values()]
    expected = {file.name: file.digest for file in noted}
    expected |= {file.deletions: file.deletions_digest for file in noted if file.deletions}
    there: dict[str, str] = {}
    for name, fragment in now.files.items():
        if fragment.fragment_id == now.number:
            continue
        metadata, gone = fragment.metadata, fragment.deletion_file()
        key = f"{name} {metadata.to_json()['files']} {metadata.physical_rows}"
        there[name] = found[key] = known.get(key) or digest_of(place, metadata)
        if gone is not None:
            there[gone] = found[gone] = known.get(gone) or _digest_of_path(place, gone)
    for name in sorted(there.keys() | expected.keys()):
        if there.get(name) != expected.get(name):
            yield f"its file {name} is not as it was written"
    yield from _wrong_indexes(place, now, known, found)


def seal_indexes(place: Location) -> None:
    """Write the digests of indexes that were made or changed beside their files."""
    for folder in _indexes(place):
        if not (folder / INDEXES).exists():
            with atomic_write(folder / INDEXES) as file:
                file.write(json.dumps(_inside(folder)).encode())


def _wrong_indexes(
    place: Location, now: Snapshot, known: Mapping[str, str], found: dict[str, str]
) -> Iterator[str]:
    used = {str(s.uuid) for one in now.dataset.describe_indices() for s in one.segments}
    for folder in _indexes(place):
        noted = folder / INDEXES
        if folder.name not in used or not noted.exists():
            continue
        found[folder.name] = known.get(folder.name) or json.dumps(_inside(folder))
        if found[folder.name] != noted.read_text(errors="replace"):
            yield "an index is not as it was written"


def _indexes(place: Location) -> list[Path]:
    local = place.local_path()
    found = local / _TABLE / "_indices" if local is not None else None
    return sorted(found.iterdir()) if found is not None and found.is_dir() else []


def _inside(folder: Path) -> dict[str, str]:
    return {
        path.name: _digest(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and INDEXES not in path.name
    }


def _digest(path: Path, described: str = "") -> str:
    try:
        return blake3(described.encode()).update_mmap(path).hexdigest(16)
    except FileNotFoundError:
        raise damage("a file of it is not there") from None
