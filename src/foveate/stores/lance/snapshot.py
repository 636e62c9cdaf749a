"""One version of the store, which never changes: the table, its head, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.stores.checksums import damage
from foveate.stores.lance.schema import Head, head_from_rows


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
    heads = [one for one in files.values() if list(one.data_files()[0].fields) == [0, 1]]
    if len(heads) != 1:
        raise damage("its table has no head, or more than one")
    rows = heads[0].to_table(columns=["head_key", "head_value"])
    pairs = zip(rows.column(0).to_pylist(), rows.column(1).to_pylist(), strict=True)
    return Snapshot(
        dataset=dataset, head=head_from_rows(pairs), number=heads[0].fragment_id, files=files
    )
