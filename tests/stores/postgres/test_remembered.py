from __future__ import annotations

from contextlib import closing

from foveate.stores import open_store
from foveate.stores.postgres import postings, search
from foveate.testing.store_corpus import corpus


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
