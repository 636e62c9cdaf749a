"""The inverted index in plain tables: which chunks hold a term or a fact, and how often.

A row holds up to 120 of a term's places in one audience, ascending, under the chunk of the first;
no row reaches behind the first place of the next. A place has the chunk's length too, so that a
search by words reads nothing else. Places wait in memory until a read or the end of a transaction,
so that a hundred documents write a term once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from typing import Any
from zlib import crc32

import numpy as np
from blake3 import blake3

from foveate.stores.checksums import MASK, damage
from foveate.stores.filters import iter_batches
from foveate.stores.scoring import bm25, damping, group_terms, saturation
from foveate.stores.sql.database import Database, Rows, Statement, upsert

PLACE = np.dtype([("chunk", "<i8"), ("terms", "<i4"), ("count", "<u2")])
"""One place: 14 bytes, little-endian on any machine."""
PLACES_PER_ROW = 120
TERMS_WEIGHT, NORM_WEIGHT = 1_009, 65_537
"""What figures are multiplied with in a sum, beside the chunk's row id."""
MAX_PENDING_TERMS = 300_000
"""Terms that may wait in memory, of some 60 bytes each."""
_MAX_DENSE_SPAN = 1 << 22
"""Chunk ids that lie no further apart than this are looked up by their distance."""
_KEYS = ("term", "audience", "first")
_WHAT = "its full-text index is not as it was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Chunks of a document, ascending, with their terms and facts. `lengths`: in terms alone."""

    document: int
    chunks: Sequence[int]
    audiences: Sequence[int]
    lengths: Sequence[int]
    texts: Sequence[Sequence[str]]


@dataclass(slots=True)
class PendingPostings:
    """Documents of a transaction whose terms are not in the tables yet."""

    entries: list[Entry] = field(default_factory=list)
    _since: int = 0
    """Terms since they were counted: never less than have come since."""

    def add(self, entry: Entry) -> None:
        """Chunks of a document, behind all others."""
        self.entries.append(entry)
        self._since += sum(entry.lengths)

    def is_full(self) -> bool:
        """Whether it should be written before more is added."""
        if self._since <= MAX_PENDING_TERMS // 4:
            return False
        self._since = 0
        return sum(sum(entry.lengths) for entry in self.entries) > MAX_PENDING_TERMS

    def drop(self, document: int) -> None:
        """A document that goes again before it was written."""
        self.entries = [entry for entry in self.entries if entry.document != document]

    def flush(self, database: Database) -> None:
        """Write it all, or nothing and it goes on waiting."""
        if self.entries:
            rows, sums = encode_postings(self.entries)
            database.run(database.insert("postings", rows), add_sums(database, sums))
            self.entries = []


def encode_postings(entries: Sequence[Entry]) -> tuple[Rows, dict[tuple[str, int], int]]:
    """Rows of `postings`, and by term and audience the sum over their places."""
    names, term, text, counts = group_terms([one for each in entries for one in each.texts])
    ids, audiences, lengths = (
        np.fromiter(chain.from_iterable(getattr(one, name) for one in entries), dtype=np.int64)
        for name in ("chunks", "audiences", "lengths")
    )
    whose = audiences[text]
    order = np.lexsort((whose, term))  # which leaves those of a term in an audience as they were
    term, text, whose = term[order], text[order], whose[order]
    places = np.empty(len(order), dtype=PLACE)
    places["chunk"], places["terms"], places["count"] = ids[text], lengths[text], counts[order]
    starts = np.flatnonzero(np.diff(term, prepend=-1) | np.diff(whose, prepend=-1))
    keys = list(
        zip(map(names.__getitem__, term[starts].tolist()), whose[starts].tolist(), strict=True)
    )
    totals = np.add.reduceat(_weights(places), starts).tolist() if len(starts) else []
    bounds = list(pairwise([*starts.tolist(), len(places)]))
    rows: Rows = []
    for key, (start, end) in zip(keys, bounds, strict=True):
        rows += _split_rows(key, places[start:end])
    sums = {
        key: total + (end - start) * crc32(key[0].encode()) & MASK
        for key, total, (start, end) in zip(keys, totals, bounds, strict=True)
    }
    return rows, sums


def _split_rows(key: tuple[str, int], places: Any) -> Rows:
    """A term's places as rows."""
    return [
        (*key, int(some["chunk"][0]), some.tobytes())
        for some in (
            places[at : at + PLACES_PER_ROW] for at in range(0, len(places), PLACES_PER_ROW)
        )
    ]


def _weights(places: Any) -> Any:
    """What each place adds to its term's sum."""
    parts = (("chunk", 1), ("terms", TERMS_WEIGHT), ("count", NORM_WEIGHT))
    return sum(places[name].astype(np.uint64) * np.uint64(weight) for name, weight in parts)


def sum_of(term: str, places: Any) -> int:
    """The sum over a term's places, whatever rows they stand in."""
    total = int(_weights(places).sum(dtype=np.uint64))
    return total + len(places) * crc32(term.encode()) & MASK


def decode_places(data: bytes) -> Any:
    """The places of a row; raises for damage."""
    if len(data) % PLACE.itemsize:
        raise damage(_WHAT)
    return np.frombuffer(data, dtype=PLACE)


def add_sums(database: Database, sums: Mapping[tuple[str, int], int]) -> Statement:
    """Add to the sums of terms."""
    rows = [(*key, added & MASK) for key, added in sorted(sums.items())]
    change = f"checksum = (t.checksum + excluded.checksum) & {MASK}"
    return database.insert("terms", rows, f" ON CONFLICT (term, audience) DO UPDATE SET {change}")


def removals(
    database: Database, first: int, last: int, audiences: Iterable[int], terms: Iterable[str]
) -> list[Statement]:
    """What takes the chunks from `first` to `last`, all of one document, out of the index."""
    query = (
        "SELECT p.term, p.audience, p.first, {places} FROM {s}.terms AS t JOIN {s}.postings AS p "
        "ON p.term = t.term AND p.audience = t.audience AND p.first <= %s AND p.first >= coalesce("
        "(SELECT max(q.first) FROM {s}.postings AS q WHERE q.term = t.term "
        "AND q.audience = t.audience AND q.first <= %s), %s) "
        "WHERE t.term {named} AND t.audience {mine}"
    )
    mine, ids = database.ids_among(sorted(set(audiences)))
    changed: Rows = []
    gone: Rows = []
    less: dict[tuple[str, int], int] = {}
    for some in iter_batches(sorted(terms)):
        named, bound = database.texts_among(some)
        bound = [last, first, first, *bound, *ids]
        for term, audience, at, data in database.rows(query, bound, named=named, mine=mine):
            places = decode_places(data)
            leaving = (first <= places["chunk"]) & (places["chunk"] <= last)
            kept, key = places[~leaving], (term, audience)
            less[key] = less.get(key, 0) - sum_of(term, places[leaving])
            if not len(kept):
                gone.append((*key, at))
            elif len(kept) < len(places):
                changed.append((*key, at, kept.tobytes()))
    return [
        database.insert("postings", changed, upsert(", ".join(_KEYS), "places")),
        database.delete("postings", _KEYS, gone),
        add_sums(database, less),
    ]


_TERMS_PER_PAGE = 500


def merge(database: Database) -> int:
    """Write places again with as many to a row as fit, where many rows become few; how many."""
    size = PLACES_PER_ROW * PLACE.itemsize
    loose = database.rows(
        "SELECT term, audience FROM {s}.postings GROUP BY term, audience "
        f"HAVING count(*) > 1 + 2 * sum(length(places)) / {size} ORDER BY audience, term"
    )
    query = (
        "SELECT p.term, p.first, {places} FROM {s}.postings AS p "
        "WHERE p.term {named} AND p.audience = %s ORDER BY p.term, p.first"
    )
    for audience, group in groupby(loose, key=lambda row: row[1]):
        terms = [term for term, _ in group]
        for at in range(0, len(terms), _TERMS_PER_PAGE):
            named, bound = database.texts_among(terms[at : at + _TERMS_PER_PAGE])
            rows = database.rows(query, [*bound, audience], named=named)
            gone = [(term, audience, first) for term, first, _ in rows]
            made: Rows = []
            for term, some in groupby(rows, key=lambda row: row[0]):
                places = decode_places(b"".join(data for *_, data in some))
                made += _split_rows((term, audience), places)
            database.run(
                database.delete("postings", _KEYS, gone), database.insert("postings", made)
            )
    return len(loose)


def scope_key(audiences: Iterable[Sequence[Any]]) -> bytes:
    """A name for these audiences as they are; rows of `AUDIENCE_COLUMNS`."""
    name = blake3()
    for number, _, state, *_, writes, _ in audiences:
        name.update(number.to_bytes(8, "little") + writes.to_bytes(8, "little") + state)
    return name.digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """What a search may read: audiences as rows of `AUDIENCE_COLUMNS`, chunks and words of all."""

    audiences: Rows
    scope: bytes
    chunks: int
    words: int

    @classmethod
    def of(cls, audiences: Rows) -> Readable:
        """Of these audiences."""
        chunks, words = (sum(row[at] for row in audiences) for at in (4, 5))
        return cls(audiences=audiences, scope=scope_key(audiences), chunks=chunks, words=words)

    @property
    def ids(self) -> list[int]:
        """The audiences' row ids."""
        return [row[0] for row in self.audiences]


def load_postings(
    database: Database, readable: Readable, terms: Iterable[str]
) -> dict[str, tuple[Any, Any]]:
    """Term → its readable chunks and the saturation of each; in memory after the first time."""
    found: dict[str, tuple[Any, Any]] = {}
    missing: list[str] = []
    for term in sorted(terms):
        known = database.cache.get((readable.scope, term))
        if known is None:
            missing.append(term)
        else:
            found[term] = known
    for some in iter_batches(missing):
        for term, places in _read(database, readable.ids, some).items():
            about = damping(places["terms"], total=readable.chunks, words=max(readable.words, 1))
            made = places["chunk"].astype(np.int64), saturation(places["count"], about)
            found[term] = made
            database.cache.put((readable.scope, term), made)
    return found


def _read(database: Database, audiences: Sequence[int], terms: Sequence[str]) -> dict[str, Any]:
    """Term → its places; raises where they do not give the sum that is noted."""
    named, bound = database.texts_among(terms)
    mine, ids = database.ids_among(audiences)
    condition = f"p.term {named} AND p.audience {mine}"
    places, sums = database.run(
        database.statement(
            "SELECT p.term, {joined} FROM {s}.postings AS p WHERE {condition}{grouped}",
            [*bound, *ids],
            condition=condition,
        ),
        database.statement(
            "SELECT p.term, p.checksum FROM {s}.terms AS p WHERE {condition}",
            [*bound, *ids],
            condition=condition,
        ),
    )
    noted = dict.fromkeys(terms, 0)
    parts: dict[str, list[bytes]] = {term: [] for term in terms}
    for term, total in sums:
        noted[term] = noted.get(term, 0) + total & MASK
    for term, data in places:
        parts.setdefault(term, []).append(data)
    found = {term: decode_places(b"".join(some)) for term, some in parts.items()}
    if any(sum_of(term, some) != noted.get(term) for term, some in found.items()):
        raise damage(_WHAT)
    return found


def score_postings(
    found: Mapping[str, tuple[Any, Any]], terms: Sequence[str], total: int
) -> tuple[Any, Any]:
    """Chunk row ids, ascending, and the BM25 of each."""
    chosen = [found[term] for term in terms]
    everything = np.concatenate([np.zeros(0, dtype=np.int64), *(ids for ids, _ in chosen)])
    if len(everything) and int(everything.max() - everything.min()) < _MAX_DENSE_SPAN:
        ids = np.arange(int(everything.min()), int(everything.max()) + 1)
        at = [one - ids[0] for one, _ in chosen]
    else:
        ids = np.unique(everything)
        at = [np.searchsorted(ids, one) for one, _ in chosen]
    rows = [(where, part) for where, (_, part) in zip(at, chosen, strict=True)]
    return ids, bm25(rows, rows=len(ids), total=total)


def matching_rows(found: Mapping[str, tuple[Any, Any]], filters: Sequence[Sequence[str]]) -> Any:
    """Row ids, ascending, of the chunks that have one fact of each filter; None without any."""
    matching = None
    for facts in filters:
        some = [found[fact][0] for fact in facts]
        rows = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *some]))
        matching = rows if matching is None else np.intersect1d(matching, rows)
    return matching
