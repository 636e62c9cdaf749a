from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import pytest

from foveate.core.errors import BadInput
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores.checksums import StoreDamaged
from foveate.stores.scoring import group_terms
from foveate.stores.sql import postings, write
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import EMBEDDER, corpus, fill
from store_urls import opened

ENTRIES = corpus(count=30)
QUERY = "cold granite lamp"


def rows(store: SqliteStore) -> int:
    """How many rows the inverted index has."""
    return store._connection.execute("SELECT count(*) FROM postings").fetchone()[0]


def answers(store: SqliteStore) -> object:
    """What a search finds, in the order in which it finds it."""
    return store.search(QUERY, EMBEDDER.embed([QUERY])[0], principals=("red", "blue"))


@pytest.fixture
def plain(tmp_path: Path):
    """A store of all the documents, put one by one."""
    with closing(fill(opened(tmp_path / "plain"), ENTRIES)) as store:
        yield store


def test_documents_of_a_batch_share_rows(tmp_path: Path, plain: SqliteStore):
    """T4, T5: fewer rows, the same answers; and each document goes out of them again."""
    with closing(opened(tmp_path / "store")) as store:
        with store.batch():
            fill(store, ENTRIES)
        assert rows(store) < rows(plain) / 3
        assert answers(store) == answers(plain)
        for entry in ENTRIES:
            store.delete(entry.document.id)
        assert rows(store) == 0


def test_a_search_inside_a_batch_sees_what_was_put(tmp_path: Path, plain: SqliteStore):
    """T5: what waits in memory is written before anybody reads it."""
    with closing(opened(tmp_path / "store")) as store:
        with store.batch():
            for entry in ENTRIES:
                entry.put(store)
                store.search(entry.chunks[0].text, None)
            assert answers(store) == answers(plain)
        assert answers(store) == answers(plain)
        assert check(store.folder).findings == ()


def test_a_large_batch_is_written_in_parts(tmp_path: Path, plain: SqliteStore, monkeypatch):
    """T5, X2: memory is bounded; an error at the end still undoes all of it."""
    monkeypatch.setattr("foveate.stores.sql.postings.MAX_PENDING_TERMS", 50)
    with closing(opened(tmp_path / "store")) as store:
        with suppress(KeyError), store.batch():
            fill(store, ENTRIES)
            assert rows(store) > 0
            raise KeyError
        assert rows(store) == 0
        with store.batch():
            fill(store, ENTRIES)
        assert answers(store) == answers(plain)
        assert check(store.folder).findings == ()


def test_places_ascend_and_saturate():
    """T4: terms and texts in order, occurrences up to what 16 bits hold."""
    terms, *places = group_terms([["b", *["c"] * 70_000], [], ["a", "b", "a"]])
    assert terms == ["a", "b", "c"]
    found = list(zip(*(column.tolist() for column in places), strict=True))
    assert found == [(0, 2, 2), (1, 0, 1), (1, 2, 1), (2, 0, 65_535)]
    assert group_terms([[]])[0] == group_terms([])[0] == []


def test_half_a_place_is_damage():
    """X6: a row of places has fourteen bytes for each."""
    with pytest.raises(StoreDamaged, match="full-text index is not as it was written"):
        postings.decode_places(b"x")


FEELS = ("warm", "cold", *["dry"] * 7)
LONG = [f"Lamp {n} burns, granite {n % 7} is {FEELS[n % 9]}." for n in range(500)]


def put_short(store: SqliteStore, name: str) -> None:
    """A document of one chunk, with words that the long one has too."""
    text = "A cold lamp is warm when it burns."
    chunk = Chunk(text=text, id=f"{name}#0", document_id=name, source=name)
    store.put(Document(id=name, source=name, text=text), [chunk], EMBEDDER.embed([text]))


def put_long(store: SqliteStore, *ids: str) -> None:
    """A document of five hundred chunks; `ids`: of the last of them, instead of their own."""
    text = "\n".join(LONG)
    names = [f"long#{number}" for number in range(len(LONG) - len(ids))] + list(ids)
    chunks, at = [], 0
    for number, said in enumerate(LONG):
        chunks.append(
            Chunk(
                text=said, id=names[number], document_id="long", source="long",
                sequence=number, start=at, end=at + len(said),
            )
        )  # fmt: skip
        at += len(said) + 1
    document = Document(id="long", source="long", text=text)
    store.put(document, chunks, EMBEDDER.embed(LONG))


@pytest.fixture
def sliced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A store that makes rows of fifty chunks at a time, and lets few words wait in memory."""
    monkeypatch.setattr(write, "SLICE", 50)
    monkeypatch.setattr(postings, "MAX_PENDING_TERMS", 1_000)
    with closing(opened(tmp_path / "sliced")) as store:
        yield store


def test_a_long_document_is_written_in_slices_and_comes_out_the_same(
    sliced: SqliteStore, plain: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """X6, T5: between others of its batch too; found, checked and deleted like any other."""
    with sliced.batch():
        fill(sliced, ENTRIES[:15])
        put_short(sliced, "before")
        put_long(sliced)
        put_long(sliced)
        put_short(sliced, "after")
        fill(sliced, ENTRIES[15:])
    monkeypatch.undo()
    put_long(plain)
    put_short(plain, "before")
    put_short(plain, "after")
    assert check(sliced.folder).findings == ()
    assert sliced.state_root() == plain.state_root()
    assert answers(sliced) == answers(plain)
    for store in (sliced, plain):
        store.delete("long")
    assert check(sliced.folder).findings == ()
    assert answers(sliced) == answers(plain)


def test_what_waits_of_a_long_document_goes_in_after_another_one_failed(sliced: SqliteStore):
    """X6, T5: its last words were written along with the other's, which were undone."""
    with sliced.batch():
        put_short(sliced, "before")
        put_long(sliced)
        for entry in ENTRIES:
            entry.put(sliced)
            with pytest.raises(BadInput, match="ids are unique"):
                put_long(sliced, entry.chunks[0].id)
    assert check(sliced.folder).findings == ()


@pytest.mark.parametrize("taken", ["long#3", ENTRIES[0].chunks[0].id])
def test_a_document_that_fails_in_its_last_slice_leaves_nothing(sliced: SqliteStore, taken: str):
    """X6, T5: what was written of it before goes, and the version before it is there as it was."""
    ENTRIES[0].put(sliced)
    put_long(sliced)
    before, found = sliced.state_root(), answers(sliced)
    with pytest.raises(BadInput, match="ids are unique"):
        put_long(sliced, taken)
    with sliced.batch(), suppress(BadInput):
        put_long(sliced, taken)
    assert sliced.state_root() == before
    assert answers(sliced) == found
    assert check(sliced.folder).findings == ()
