"""Rows that a question cannot tell apart leave places to other documents, in every store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest

from foveate.core.types import Candidate, Chunk
from foveate.ports import Document, Store
from foveate.stores.row_limit import is_rows, split_rows
from foveate.testing.store_corpus import EMBEDDER
from store_urls import opened

QUESTION = "Who pays for the berth at the quay in winter?"
MINUTES = "The council met in June. Winter guests are charged by the harbour office alone."


def put(store: Store, name: str, texts: Sequence[str], *, rows: bool = False) -> None:
    """A document of these chunks."""
    chunks = [
        Chunk(
            text=text,
            id=f"{name}#{n}",
            document_id=name,
            source=name,
            sequence=n,
            row=n + 2 if rows else None,
        )
        for n, text in enumerate(texts)
    ]
    store.put(Document(id=name, source=name, text=""), chunks, EMBEDDER.embed(texts))


def berths(count: int) -> list[str]:
    """Rows of which each holds the same three words of the question."""
    return [
        f"berth: {n}; quay: quay {n % 7}; season: winter; metres: {n % 31}" for n in range(count)
    ]


def results(store: Store, limit: int = 20) -> list[Candidate]:
    """What the question finds."""
    found = store.search(QUESTION, EMBEDDER.embed([QUESTION])[0], limit=limit)
    assert len(found.candidates) == limit
    assert found.lexical_matches <= 50
    return [*found.candidates]


def documents_found(store: Store) -> list[str]:
    """The documents of the results, one a result."""
    return [candidate.chunk.document_id for candidate in results(store)]


def fill_with_berths(store: Store) -> Store:
    """A table of 600 rows, the minutes with the answer, and thirty pages about other things."""
    put(store, "berths.csv", berths(600), rows=True)
    put(store, "minutes.md", [MINUTES])
    for n in range(30):
        put(store, f"page{n}.md", [f"Page {n} is about nets, ropes and paint number {n * n}."])
    return store


def test_a_table_leaves_half_of_the_places_to_other_documents(new_url, tmp_path):
    """T4: of 600 rows with the same words of the question ten are found, in every store alike."""
    with closing(fill_with_berths(opened(new_url()))) as store:
        found = documents_found(store)
        assert found.count("berths.csv") == 10
        assert "minutes.md" in found
        with closing(fill_with_berths(opened(tmp_path / "folder"))) as embedded:
            for limit in (1, 5, 20, 40):
                assert results(store, limit) == results(embedded, limit)


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-09 06:00:{0:02} INFO berth {1} at quay {0}: winter rate read",
        "INSERT INTO b VALUES ('berth {1}', 'quay {0}', 'winter');",
    ],
)
def test_a_log_and_a_dump_leave_places_too(tmp_path, line: str):
    """T4: chunks of entries or of statements are rows, also without a row's number."""
    rows = ["\n".join(line.format(1 + k, 9 * n + k) for k in range(9)) for n in range(200)]
    with closing(opened(tmp_path)) as store:
        put(store, "rows", rows)
        put(store, "minutes.md", [MINUTES])
        for n in range(10):
            put(store, f"page{n}.md", [f"Page {n} is about nets, ropes and paint."])
        found = documents_found(store)
    assert found.count("rows") == 10
    assert "minutes.md" in found


def test_a_store_with_little_else_shows_its_rows(tmp_path):
    """T4: places that nothing else takes stay with the rows."""
    with closing(opened(tmp_path)) as store:
        put(store, "berths.csv", berths(100), rows=True)
        put(store, "minutes.md", [MINUTES])
        found = documents_found(store)
    assert found.count("berths.csv") == 19
    assert found.count("minutes.md") == 1


def candidates(texts: Sequence[str], **fields) -> list[Candidate]:
    """Chunks of one document, best first."""
    return [
        Candidate(chunk=Chunk(text=text, id=f"c{n}", document_id="d", **fields), score=1 / (1 + n))
        for n, text in enumerate(texts)
    ]


def kept(texts: Sequence[str], query: str = QUESTION, **fields) -> list[str]:
    """What stays of twenty results."""
    stays, over = split_rows(candidates(texts, **fields), query, 20)
    assert {c.id for c in stays} | {c.id for c in over} == {f"c{n}" for n in range(len(texts))}
    return [c.text for c in stays]


def test_a_list_that_may_be_the_answer_stays_whole(tmp_path):
    """T4: forty rows with the same words are found as without a limit; of 41, ten stay."""
    assert kept(berths(40), row=1) == berths(40)
    assert kept(berths(41), row=1) == berths(41)[:10]
    with closing(opened(tmp_path)) as store:
        put(store, "berths.csv", berths(40), rows=True)
        for n in range(30):
            put(store, f"page{n}.md", [f"Page {n} is about nets, ropes and paint."])
        assert documents_found(store) == ["berths.csv"] * 20


def test_rows_with_another_word_of_the_question_stay():
    """T4: a row stays that holds what the rows before it do not, and one with fewer words goes."""
    other = "berth: 99; quay: quay 1; paid by: the guild pays"
    fewer = "berth: 98; quay: quay 2; season: summer"
    assert kept([*berths(50), other, fewer], row=1) == [*berths(50)[:10], other]


def test_rows_with_an_identifier_of_the_question_stay():
    """T4: what holds the identifier that is asked for is never one too many."""
    rows = [f"{text}; order: ORD-2041" for text in berths(50)]
    assert kept(rows, "Which berth at the quay has ORD-2041?", row=1) == rows


def test_prose_and_rows_without_a_word_of_the_question_stay():
    """T4: pages of one book, and rows that are found by their vectors alone, are told apart."""
    pages = [f"A berth at the quay in winter is told of on page {n}." for n in range(50)]
    assert kept(pages) == pages
    assert kept(berths(50), "Combien de bateaux?", row=1) == berths(50)


def test_what_counts_as_rows():
    """T4: a numbered row, a log, a dump and a table do; prose with a small table does not."""
    table = "| berth | quay |\n|---|---|\n" + "\n".join(f"| {n} | {n % 3} |" for n in range(9))
    assert is_rows(Chunk(text="berth: 1", row=2))
    assert is_rows(Chunk(text=table))
    assert not is_rows(Chunk(text="The harbour has many stories to tell. " * 20 + "\n\n" + table))
    assert not is_rows(Chunk(text=MINUTES))
