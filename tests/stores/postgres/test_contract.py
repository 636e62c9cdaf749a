from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foveate.ports import SearchResult
from foveate.stores import open_store
from foveate.stores.postgres import postings, search
from foveate.testing.store_corpus import EMBEDDER, PRINCIPALS, change_entry, corpus
from foveate.testing.stores import LAWS, QUERIES, Law

WHO = (*PRINCIPALS, ("nobody",))
WHERE: tuple[dict[str, Any], ...] = (
    *({"lang": "nl"}, {"tags": ["x", "y"]}, {"page": 2, "lang": ["en", "nl"]}),
    *({"source": "notes/x/0.md"}, {"document_id": ["d00", "d05"]}, {"row": 1}, {"line": "2"}),
)


def bits(found: SearchResult) -> list[str]:
    """The scores, zeros with their sign."""
    return [repr((c.score, c.semantic_score, c.lexical_score)) for c in found.candidates]


@pytest.fixture
def open_empty(new_schema: Callable[[], str]):
    """A new, empty server store at every call."""

    def opened():
        url = new_schema()
        return open_store(url, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)

    return opened


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_server_store_keeps_every_law(open_empty, law: Law):
    """T1, T4, D3, X5: the contract that every store keeps, isolation included."""
    entries = corpus(3, 12)
    assert len(entries) == 12
    law(open_empty, entries)


@pytest.mark.parametrize("seed", [0, 7])
def test_it_answers_as_the_embedded_store(open_empty, tmp_path: Path, seed: int):
    """T1, T4, D3: the same candidates, scores to the bit, badges, counts, roots, neighbours."""
    name, dimensions = EMBEDDER.name, EMBEDDER.dimensions
    entries = corpus(seed, 40)
    with (
        closing(open_empty()) as server,
        closing(open_store(tmp_path, embedder_name=name, dimensions=dimensions)) as folder,
    ):
        for store in (server, folder):
            for entry in entries:
                entry.put(store)
            for entry in entries[::5]:
                change_entry(entry).put(store)
            assert store.delete(entries[1].document.id)
        for who in WHO:
            for query in (*QUERIES, "猫 が好き", ""):
                for vector in (EMBEDDER.embed([query or "x"])[0], None, [0.0] * dimensions):
                    for where in (None, WHERE[len(query) % len(WHERE)]):
                        asked = {"limit": 30, "depth": 7, "principals": who, "where": where}
                        ours = server.search(query, vector, **asked)
                        theirs = folder.search(query, vector, **asked)
                        assert ours == theirs, (who, query, where)
                        assert bits(ours) == bits(theirs)
            for where in WHERE:
                asked = {"principals": who, "where": where}
                ours = server.search("cold lamp", EMBEDDER.embed(["cold"])[0], **asked)
                assert ours == folder.search("cold lamp", EMBEDDER.embed(["cold"])[0], **asked)
            places = [(e.document.id, s) for e in entries for s in (0, 3)]
            near = server.neighbours(places, 1, principals=who)
            assert near == folder.neighbours(places, 1, principals=who)
            assert server.state_root(principals=who) == folder.state_root(principals=who)
            figures = [store.stats(principals=who) for store in (server, folder)]
            assert figures[0] == replace(figures[1], schema=figures[0].schema)
        assert server.state_root() == folder.state_root()
        assert list(server.documents()) == list(folder.documents())
        assert server.check().findings == ()
        assert server.check().state_root == folder.state_root()


def test_words_of_a_question_are_read_once_in_a_state(new_schema, monkeypatch):
    """T4, X5: the second time they come from memory; for another reader, or after a write, not."""
    first, second, third = corpus(count=3)
    asked: list[list[str]] = []
    ask = search._postings_statement

    def noted(names, audiences, terms):
        asked.append(list(terms))
        return ask(names, audiences, terms)

    monkeypatch.setattr(search, "_postings_statement", noted)
    url, everyone = new_schema(), ("blue", "red")
    with closing(open_store(url)) as store, closing(open_store(url)) as other:
        store.put(first.document, first.chunks, None)
        store.put(second.document, second.chunks, None)
        found = [store.search("cold granite", None, principals=everyone) for _ in range(3)]
        assert found[0] == found[1] == found[2]
        assert asked == [["cold", "granite"], [], []]
        store.search("granite lamp", None, principals=everyone)
        store.search("granite", None, principals=())
        assert asked[3:] == [["lamp"], ["granite"]]
        other.put(third.document, third.chunks, None)
        other.delete(first.document.id)
        other.put(first.document, first.chunks, None)
        mine = store.search("cold granite", None, principals=everyone)
        assert mine == other.search("cold granite", None, principals=everyone)
        assert asked[5:] == [["cold", "granite"]] * 2


def test_words_that_were_not_asked_for_longest_are_forgotten(monkeypatch):
    """T4, X6: what is kept is bounded in bytes; what has no room at all pushes nothing out."""
    monkeypatch.setattr(postings, "_MAX_BYTES", 2000)
    kept = postings.PostingsCache()
    for term in "abcde":
        kept.put(b"s", {term: bytes(50)})
        kept.get(b"s", "a")
    assert set(kept.get(b"s", "abcde")) == {"a", "c", "d", "e"}
    assert kept.get(b"t", "abcde") == {}
    kept.put(b"s", {"huge": bytes(2000)})
    assert kept.get(b"s", ["a", "huge"]) == {"a": bytes(50)}
