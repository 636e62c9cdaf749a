from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.errors import ExternalError
from foveate.stores.sqlite.check import check
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus, fill
from store_urls import opened

ENTRIES = corpus(count=10)
D02 = " WHERE document_id = 'd02'"

# What is done to the tables behind the store's back → the part and words of what is found.
TAMPERED = {
    "UPDATE chunks SET text = text || 'x' WHERE id = 3": [
        ("rows", "is not as it was written"),
        ("words", "are not those of the texts"),
        ("state", "is not that of the rows"),
    ],
    "UPDATE chunks SET page = 77 WHERE id = 3": [("words", '["page", 77]')],
    "DELETE FROM scan WHERE chunk = 3": [("rows", "its chunks are not where they were put")],
    "INSERT INTO scan SELECT 999, 0, terms, norm, vector FROM scan LIMIT 1": [
        ("rows", "rows of scan")
    ],
    "UPDATE scan SET audience = 99 WHERE chunk = 3": [("rows", "is not as it was written")],
    f"UPDATE documents SET audience = 99{D02}": [("rows", "is not as it was written")],
    f"UPDATE documents SET places = x''{D02}": [("rows", "are not where they were put")],
    "UPDATE chunks SET document = 999 WHERE id = 3": [
        ("rows", "are not where they were put"),
        ("rows", "rows of chunks"),
    ],
    "DELETE FROM members WHERE principal = 'red'": [("state", "the members of audience 1")],
    "INSERT INTO members VALUES ('x', 1, 999, 1)": [("state", "the members of audience 999")],
    f"UPDATE documents SET text = x'00'{D02}": [("rows", "not the one that was put")],
    f"UPDATE documents SET text_hash = 'x'{D02}": [("rows", "not the one that was put")],
    "DELETE FROM postings WHERE first = 3": [("words", "are not those of the texts")],
    "UPDATE postings SET first = 999 WHERE first = 3": [("words", "under 999 is out of order")],
    "UPDATE postings SET places = places || zeroblob(14) WHERE first = 3": [
        ("words", "under 3 is out of order"),
        ("words", "are not those of the texts"),
    ],
    (
        "UPDATE postings SET places = places || coalesce((SELECT places FROM postings AS p "
        "WHERE p.term = postings.term AND p.first > postings.first), x'') WHERE first < 5"
    ): [("words", "is out of order"), ("words", "are not those of the texts")],
    "UPDATE postings SET places = x'00' WHERE first = 3": [("words", "full-text index")],
    "UPDATE terms SET term = 'zzz' WHERE term = 'lamp'": [
        ("words", "the places of 'lamp' are not those of the texts"),
        ("words", "the places of 'zzz' are not those of the texts"),
    ],
    "DELETE FROM terms WHERE term = 'lamp'": [("words", "the places of 'lamp' are not")],
    "UPDATE scan SET terms = terms + 1 WHERE chunk = 3": [("rows", "is not as it was written")],
    "UPDATE scan SET vector = zeroblob(64) WHERE chunk = 3": [
        ("rows", "is not as it was written"),
        ("vectors", "the rows that a search scans are not as they were written"),
    ],
    "UPDATE audiences SET state = zeroblob(2048) WHERE id = 0": [("state", "is not that of")],
    "UPDATE audiences SET chunks = chunks + 1 WHERE id = 0": [("state", "is counted as")],
    f"UPDATE documents SET title = 'other'{D02}": [("state", "is not that of the rows")],
    "UPDATE counts SET tokens = tokens + 1": [("rows", "they are counted again")],
    "UPDATE meta SET writes = writes + 1": [("file", "its facts are not")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store that was written, searched, changed and searched again."""
    with closing(fill(opened(tmp_path), ENTRIES)) as store:
        store.search("granite", EMBEDDER.embed(["granite"])[0])
        change_entry(ENTRIES[-1]).put(store)
    return tmp_path


def tamper(folder: Path, statement: str) -> None:
    """Change the database by hand."""
    with closing(sqlite3.connect(folder / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0


@pytest.mark.parametrize("statement", TAMPERED)
def test_what_does_not_agree_is_found(folder: Path, statement: str):
    """T5: rows, words, vectors and state are compared, and what differs is named by its part."""
    tamper(folder, statement)
    findings = check(folder).findings
    for part, words in TAMPERED[statement]:
        assert [f for f in findings if f.part == part and words in f.what], findings


def test_a_damaged_vector_file_is_found(folder: Path):
    """T5: searches do not use it, and the check says so."""
    path = folder / "vectors.bin"
    data = path.read_bytes()
    path.write_bytes(data[:-3] + bytes([data[-3] ^ 255]) + data[-2:])
    (finding,) = check(folder).findings
    assert (finding.part, "is damaged; it is not used" in finding.what) == ("vectors", True)
    path.unlink()
    assert check(folder).findings == ()


def test_a_damaged_file_is_found(folder: Path):
    """T5: bytes that were lost on the disk are findings, whatever else still can be read."""
    path = folder / "store.db"
    data = bytearray(path.read_bytes())
    for page in range(4, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 64] = bytes(64)
    path.write_bytes(data)
    assert {finding.part for finding in check(folder).findings} & {"file", "rows"}
    path.write_bytes(bytes(data[:5000]) + b"x" * (len(data) - 5000))
    assert check(folder).findings


def test_a_check_that_cannot_go_on_is_no_damage(folder: Path, monkeypatch):
    """X1: a busy database is an error of the check, and no finding of the store."""

    def busy(*_):
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error
        yield

    monkeypatch.setattr("foveate.stores.sql.check._word_findings", busy)
    with pytest.raises(ExternalError, match="another process is writing"):
        check(folder)
