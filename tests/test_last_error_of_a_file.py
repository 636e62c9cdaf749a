"""The last error of a log file, through an index and a search."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import foveate
from foveate.core.types import LAST_ERROR


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[foveate.DocumentStore]:
    """A log of some hundred chunks, with an error every hour, and one of another gate."""
    folder = tmp_path_factory.mktemp("logs")
    entries = [
        f"2024-05-{1 + n // 1440:02} {n // 60 % 24:02}:{n % 60:02}:00 "
        + (
            f"ERROR harbour: error {n} of crane {n % 7}"
            if n % 60 == 7 and n < 2_850
            else f"INFO boat {n} moored"
        )
        for n in range(2_880)
    ]
    entries[2_850] = "2024-05-02 23:30:00 ERROR gate: barrier 9 stuck half open"
    (folder / "harbour.log").write_text("\n".join(entries))
    (folder / "notes.md").write_text("# Notes\n\nThe harbour log is kept for 30 days.\n")
    with foveate.open_store(folder / "store") as opened:
        assert not opened.index(folder / "harbour.log").failed
        assert not opened.index(folder / "notes.md").failed
        yield opened


@pytest.mark.parametrize(
    "question", ["what is the last error in harbour.log", "the most recent failure", "latest error"]
)
def test_the_chunk_with_the_last_error_comes_with_a_hit(
    store: foveate.DocumentStore, question: str
) -> None:
    """U1, S5: though the search ranks a hundred other chunks with errors before it."""
    assert "barrier 9 stuck half open" in store.assemble(question, budget=120).text


def test_each_chunk_of_a_log_says_where_the_last_error_is(store: foveate.DocumentStore) -> None:
    """S5: those before that chunk and those behind it; no chunk of prose does."""
    chunks = store.store.neighbours([("harbour.log", n) for n in range(0, 700, 7)], 3)
    (last,) = {chunk.metadata[LAST_ERROR] for chunk in chunks}
    (notes,) = store.store.neighbours([("notes.md", 0)], 0)

    assert "barrier 9" in next(chunk.text for chunk in chunks if chunk.sequence == last)
    assert LAST_ERROR not in notes.metadata
