"""One version of a Lance store: its head, and what is read of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3
from lance.query import MatchQuery

from foveate.core.state import combine_states, state_hash
from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores.base import Search
from foveate.stores.filters import iter_batches
from foveate.stores.int8 import cosine_similarities, quantise_query
from foveate.stores.lance.conditions import (
    IS_CHUNK,
    IS_DOCUMENT,
    all_of,
    in_condition,
    quote_literal,
    where_condition,
)
from foveate.stores.lance.tables import MEMBER_COLUMNS, Head, vector_index
from foveate.stores.places import is_near
from foveate.stores.rows import (
    DOCUMENT_FIELDS,
    HANDED_OUT,
    chunks_from_rows,
    document_from_row,
    duplicate_id_error,
    parse_principals,
    with_text,
)
from foveate.stores.scoring import best_positions, combine_legs
from foveate.stores.totals import CHUNKS

_OVERSAMPLING = 2
"""Times the depth that are asked of Lance, whose order of equals is its own."""
_INDEX_OVERSAMPLING, _PROBES = 10, 64
_MAX_WINDOW = 64
"""In a wider one all chunks of the documents are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """`exact`: chunks of a reader up to which all vectors are compared."""

    dataset: Any
    head: Head
    dimensions: int
    exact: int

    def copy(self) -> Any:
        """The table at this version, to be written to."""
        return self.dataset.checkout_version(self.dataset.version)

    def read(self, columns: Sequence[str], condition: str) -> Any:
        """Rows as an Arrow table."""
        return self.dataset.to_table(columns=list(columns), filter=condition)

    def read_members(self, names: Collection[str]) -> list[dict[str, Any]]:
        """All rows of these documents, with what the state root covers."""
        found: list[dict[str, Any]] = []
        for some in iter_batches(sorted(names)):
            found += self.read(MEMBER_COLUMNS, in_condition("document_id", some)).to_pylist()
        return found

    def check_free(self, ids: Sequence[str], leaving: Collection[str]) -> None:
        """Raise `BadInput` where a chunk's id is that of a document that is not `leaving`."""
        for some in iter_batches(ids):
            keys = in_condition("key", [f"c{name}" for name in some])
            for row in self.read(["chunk_id", "document_id"], keys).to_pylist():
                if row["document_id"] not in leaving:
                    raise duplicate_id_error("another document", row["chunk_id"])

    def has_document(self, name: str) -> bool:
        """Whether it is there."""
        return bool(self.dataset.count_rows(in_condition("key", [f"d{name}"])))

    def content_hashes(self) -> list[tuple[str, str]]:
        """(document id, content hash) of every document, by id."""
        found = self.read(["document_id", "content_hash"], IS_DOCUMENT)
        return sorted(zip(*(found.column(n).to_pylist() for n in (0, 1)), strict=True))

    def readers(self, principals: Iterable[str] | None) -> list[str]:
        """The sets of principals that these belong to, the empty one included; None for all."""
        mine = None if principals is None else set(principals)
        return sorted(
            one
            for one in self.head.states
            if mine is None or one == "[]" or mine & set(parse_principals(one))
        )

    def state_root(self, readers: Iterable[str], embedder: str) -> str:
        """Of what these sets of principals may read."""
        states = combine_states(self.head.states[one] for one in readers)
        return state_hash(states, embedder=embedder)

    def document(self, name: str, readers: Sequence[str]) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        named, mine = in_condition("document_id", [name]), in_condition("principals", readers)
        if self.dataset.count_rows(all_of(named, f"NOT ({mine})")):
            return None
        found = self.read([*DOCUMENT_FIELDS, "packed"], all_of(named, IS_DOCUMENT)).to_pylist()
        return with_text(found[0], found[0]["packed"]) if found else None

    def documents_after(self, after: str, limit: int, readers: Sequence[str]) -> list[Document]:
        """Documents behind `after` by id, without their texts; those alone that may be read."""
        mine, later = in_condition("principals", readers), f"document_id > {quote_literal(after)}"
        open_, closed = (
            set(self.read(["document_id"], all_of(later, some)).column(0).to_pylist())
            for some in (all_of(mine, IS_DOCUMENT), f"NOT ({mine})")
        )
        named = in_condition("document_id", sorted(open_ - closed)[:limit])
        rows = self.read(DOCUMENT_FIELDS, all_of(named, IS_DOCUMENT)).to_pylist()
        return sorted(map(document_from_row, rows), key=attrgetter("id"))

    def search(self, asked: Search, *, embedder: str) -> SearchResult:
        """Lance's BM25 and cosines side by side; `embedder`: its name, for the state root."""
        readers = self.readers(asked.principals)
        conditions = [in_condition("principals", readers)]
        if asked.where:
            conditions.append(where_condition(asked.where))
        condition = all_of(*conditions)
        aim = quantise_query(asked.vector, self.dimensions)
        words = " ".join(query_terms(asked.query))
        close, index = self._nearest(aim, condition, readers, asked.depth)
        hits = self._matching(words, condition, _OVERSAMPLING * asked.depth)
        others = [key for key in close if key not in hits]
        both = hits | self._matching(words, all_of(condition, in_condition("key", others)), 0)
        keys = sorted({*close, *hits})
        chunks, vectors = self._load(keys)
        scores = np.array([both.get(key, 0.0) for key in keys])
        in_words = np.flatnonzero([key in hits for key in keys])
        in_close = np.flatnonzero([key in close for key in keys])
        if len(in_close):
            exact = cosine_similarities(vectors[in_close], aim)
            in_close = in_close[best_positions(exact, asked.depth)]
        return combine_legs(
            in_close,
            in_words,
            bm25=scores.take if words else None,
            cosines=None if aim is None else lambda rows: cosine_similarities(rows, aim),
            load=lambda rows: ([chunks[row] for row in rows.tolist()], vectors[rows]),
            depth=asked.depth,
            limit=asked.limit,
            index=index,
            state_root=self.state_root(readers, embedder),
        )

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, readers: Sequence[str]
    ) -> list[Chunk]:
        """Chunks within `window` of the places, in one request, in no order."""
        wanted: dict[str, list[int]] = {}
        for name, at in sorted(places):
            wanted.setdefault(name, []).append(at)
        conditions = [in_condition("document_id", wanted), in_condition("principals", readers)]
        if window <= _MAX_WINDOW:
            reach = {at + n for _, at in places for n in range(-window, window + 1)}
            conditions.append(in_condition("`sequence`", (n for n in reach if abs(n) < 2**63)))
        made, _ = self._build(self.read(self._columns(), all_of(IS_CHUNK, *conditions)))
        return [one for one in made if is_near(wanted[one.document_id], one.sequence, window)]

    def _columns(self) -> list[str]:
        return ["key", *HANDED_OUT, *(["vector"] if self.dimensions else [])]

    def _matching(self, words: str, condition: str, most: int) -> dict[str, float]:
        """Key → score by Lance's BM25 of the best `most` rows, of all for 0."""
        if not words or condition.endswith("(false)"):
            return {}
        rows = self.dataset.to_table(
            columns=["key", "_score"],
            full_text_query=MatchQuery(words, "words"),
            filter=condition,
            prefilter=True,
            limit=most or None,
        )
        return dict(zip(*(rows.column(n).to_pylist() for n in ("key", "_score")), strict=True))

    def _nearest(
        self, aim: Any, condition: str, readers: Sequence[str], depth: int
    ) -> tuple[list[str], str]:
        """Keys of the rows that are near, and the index that named them, if one did."""
        if aim is None:
            return [], ""
        chunks = sum(self.head.figures[one][CHUNKS] for one in readers)
        parts = vector_index(self.dataset) if chunks > self.exact else ""
        more = _INDEX_OVERSAMPLING if parts else _OVERSAMPLING
        rows = self.dataset.to_table(
            columns=["key", "_distance"],
            nearest={
                "column": "vector",
                "q": aim.astype(np.float32),
                "k": depth * more,
                "nprobes": _PROBES,
                "metric": "cosine",
                "use_index": bool(parts),
            },
            filter=condition,
            prefilter=True,
        )
        # The name is made of the index's parts: the version would tell of hidden writes.
        name = f"lance ivf_rq {blake3(parts.encode()).hexdigest()[:16]}" if parts else ""
        return rows.column("key").to_pylist(), name

    def _load(self, keys: Sequence[str]) -> tuple[list[Chunk], Any]:
        """The chunks with these keys, by key, and their vectors as int8 rows."""
        tables = [
            self.read(self._columns(), in_condition("key", some)) for some in iter_batches(keys)
        ]
        found = pa.concat_tables(tables or [self.read(self._columns(), "false")])
        return self._build(found.sort_by("key"))

    def _build(self, found: Any) -> tuple[list[Chunk], Any]:
        columns = [found.column(name).to_pylist() for name in HANDED_OUT]
        vectors = np.zeros((found.num_rows, self.dimensions), dtype=np.int8)
        if self.dimensions:
            column = found.column("vector").combine_chunks()
            there = column.is_valid().to_numpy(zero_copy_only=False)
            numbers = column.drop_null().flatten().to_numpy(zero_copy_only=False)
            vectors[there] = numbers.astype(np.int8).reshape(-1, self.dimensions)
        packed = [row.tobytes() for row in vectors]
        rows = zip(range(found.num_rows), *columns, packed, strict=True)
        return list(chunks_from_rows(rows).values()), vectors
