"""One version of a Lance store: the table, its head, and whether its files are those written.

A process reads each local file once to compare digests; an object store has checksums of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from foveate.stores.atomic_write import atomic_write
from foveate.stores.checksums import damage
from foveate.stores.lance.location import Location
from foveate.stores.lance.schema import Head, head_from_table


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

    def fragments(self, kind: str) -> list[Any]:
        """The fragments of one kind that have rows, in the order of their segments."""
        names = [s.files.get(kind) for _, s in sorted(self.head.segments.items())]
        return [self.files[name] for name in names if name is not None and name in self.files]

    def read_rows(
        self, kind: str, columns: Sequence[str], condition: str | None = None, **options: Any
    ) -> Any:
        """Rows of a kind as an Arrow table, by an index where there is one; None for no files."""
        fragments = self.fragments(kind)
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
    folder = place.local_path()
    if folder is None:
        return ""
    (file,) = fragment.files
    facts = (file.path, file.fields, file.column_indices, file.file_major_version)
    described = json.dumps((*facts, file.file_minor_version, fragment.physical_rows))
    return _digest(folder / _TABLE / "data" / file.path, described)


def digest_of_deletions(place: Location, path: str | None) -> str:
    """Of the file that says which rows are gone; empty without one, and on an object store."""
    folder = place.local_path()
    return "" if folder is None or path is None else _digest(folder / _TABLE / path)


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
    there: dict[str, str] = {}
    for name, fragment in now.files.items():
        if fragment.fragment_id == now.number:
            continue
        metadata, gone = fragment.metadata, fragment.deletion_file()
        key = f"{name} {metadata.to_json()['files']} {metadata.physical_rows}"
        there[name] = found[key] = known.get(key) or digest_of(place, metadata)
        if gone is not None:
            there[gone] = found[gone] = known.get(gone) or digest_of_deletions(place, gone)
    for name in sorted(there.keys() | now.head.digests.keys()):
        if there.get(name) != now.head.digests.get(name):
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
