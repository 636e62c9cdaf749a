"""The law suite for stores: hand a way to open an empty one to `check_store`.

Needs no test framework: a law that is broken raises `AssertionError`. The documents are of our
own making, the same for the same seed; answers are compared with brute force or with another
store that holds only what may be read, never with a recorded output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from random import Random
from typing import Any

from foveate.core.types import Chunk
from foveate.ports import QUESTIONS, Document, ListableStore, SearchResult, Store
from foveate.testing import isolation
from foveate.testing.store_corpus import (
    EMBEDDER,
    PRINCIPALS,
    CorpusEntry,
    Entries,
    change_entry,
    corpus,
    entry_variants,
    fill,
)

QUERIES = (
    "cold harbour lamp",
    "where does the river turn",
    "granite",
    "the of and",
    'lamp -cold AND "river" NEAR(a, b) col:x* ^ {y} (',
    "zzz",
)
OpenStore = Callable[[], Store]
Law = Callable[[OpenStore, Entries], None]


def check_store(open_empty: OpenStore, entries: Entries | None = None) -> None:
    """Raise `AssertionError` with the law that the store breaks."""
    for law in LAWS:
        law(open_empty, corpus() if entries is None else entries)


def history_does_not_matter(open_empty: OpenStore, entries: Entries) -> None:
    """The same documents, however they came there, give the same answers and the same root."""
    random = Random(1)  # noqa: S311
    with closing(fill(open_empty(), entries)) as plain, closing(open_empty()) as winding:
        shuffled = random.sample(entries, len(entries))
        for entry in shuffled:
            entry.put(winding)
            _search(winding, "cold")
        for entry in shuffled[::3]:
            assert winding.delete(entry.document.id), "delete does not find what was put"
        for entry in shuffled[1::3]:
            change_entry(entry).put(winding)
        for entry in [*shuffled[::3], *shuffled[1::3]]:
            entry.put(winding)
        assert winding.state_root() == plain.state_root(), "the state root knows the history"
        for query in QUERIES:
            assert _search(winding, query) == _search(plain, query), f"history shows: {query!r}"


def what_one_may_not_read_is_not_there(open_empty: OpenStore, entries: Entries) -> None:
    """Answers, scores, badges, counts, neighbours and root are those of a store without it."""
    with closing(fill(open_empty(), entries)) as full:
        for who in PRINCIPALS:
            mine = [entry for entry in entries if _is_readable(entry.document.principals, who)]
            with closing(fill(open_empty(), mine)) as alone:
                for query in QUERIES:
                    seen, expected = _search(full, query, who), _search(alone, query, who)
                    assert seen == expected, f"{who} learns of others by {query!r}"
                places = [(e.document.id, c.sequence) for e in entries for c in e.chunks]
                near = [full.neighbours(places, 1, principals=who) for _ in range(2)]
                assert near[0] == near[1] == alone.neighbours(places, 1, principals=who)
                roots = [store.state_root(principals=who) for store in (full, alone)]
                assert roots[0] == roots[1], f"the root tells {who} about others"


def neighbours_are_those_in_reach(open_empty: OpenStore, entries: Entries) -> None:
    """All chunks within the window of a place, each once, by document and sequence."""
    everyone = ("blue", "red")
    chunks = sorted(_all_chunks(entries), key=lambda c: (c.document_id, c.sequence, c.id))
    places = [(c.document_id, c.sequence) for c in chunks[::4]] + [("nowhere", 1)]
    with closing(fill(open_empty(), entries)) as store:
        for window in range(4):
            expected = [
                c.id
                for c in chunks
                if any(c.document_id == d and abs(c.sequence - s) <= window for d, s in places)
            ]
            found = store.neighbours(places, window, principals=everyone)
            assert [c.id for c in found] == expected, f"window {window}"
        assert store.neighbours([], 1, principals=everyone) == []


def chunks_come_back_as_they_went(open_empty: OpenStore, entries: Entries) -> None:
    """Every field of a chunk survives, what the document says about it included."""
    with closing(fill(open_empty(), entries)) as store:
        for entry in entries:
            places = [(c.document_id, c.sequence) for c in entry.chunks]
            found = store.neighbours(places, 0, principals=("blue", "red"))
            expected = [_with_document_fields(entry.document, chunk) for chunk in entry.chunks]
            assert found == expected, f"{entry.document.id} came back changed"


def filters_do_not_thin_out(open_empty: OpenStore, entries: Entries) -> None:
    """A filtered search is as full as the matching chunks allow, and all of it matches."""
    everyone = ("blue", "red")
    with closing(fill(open_empty(), entries)) as store:
        for where in ({"lang": "nl"}, {"tags": "x"}, {"lang": ["nl", "en"], "page": 2}):
            matching = {c.id for c in _all_chunks(entries) if _is_match(c, where)}
            for limit in (1, 5, 1000):
                found = store.search(
                    "cold lamp",
                    EMBEDDER.embed(["cold lamp"])[0],
                    limit=limit,
                    depth=1000,
                    principals=everyone,
                    where=where,
                )
                ids = [candidate.id for candidate in found.candidates]
                assert len(ids) == min(limit, len(matching)), f"{where}: {len(ids)} of {limit}"
                assert set(ids) <= matching, f"{where} lets others through"


def cosines_are_cosines(open_empty: OpenStore, entries: Entries) -> None:
    """The semantic score is the cosine to within what 8 bits hold, and it orders its leg."""
    query = "granite"
    vector = EMBEDDER.embed([query])[0]
    with closing(fill(open_empty(), entries)) as store:
        found = store.search("", vector, limit=1000, depth=1000, principals=("blue", "red"))
    scores = [_require_score(candidate.semantic_score) for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True), "not by cosine"
    assert (found.badge, found.lexical_matches) == ("vector_only", 0)
    texts = [candidate.text for candidate in found.candidates]
    for score, row in zip(scores, EMBEDDER.embed(texts), strict=True):
        exact = float(sum(a * b for a, b in zip(row.tolist(), vector.tolist(), strict=True)))
        assert abs(score - exact) < 0.02, f"cosine {exact} came back as {score}"


def a_query_is_text(open_empty: OpenStore, entries: Entries) -> None:
    """Nothing in a query is syntax: with and without punctuation it finds the same."""
    with closing(fill(open_empty(), entries)) as store:
        plain = _search(store, "cold river and lamp near")
        assert _search(store, '-cold "river" AND (lamp NEAR) * : ^ {}') == plain


def documents_are_listed_by_id(open_empty: OpenStore, entries: Entries) -> None:
    """Ids in order with the caller's hash; deleting says whether something was there."""
    with closing(fill(open_empty(), entries)) as store:
        expected = sorted((e.document.id, e.document.content_hash) for e in entries)
        assert list(store.documents()) == expected
        assert store.delete(expected[0][0])
        assert not store.delete(expected[0][0])
        assert list(store.documents()) == expected[1:]


def what_is_listed_may_be_read(open_empty: OpenStore, entries: Entries) -> None:
    """Stores that list documents to a reader: those it may read whole, page by page, by id."""
    with closing(fill(open_empty(), entries)) as store:
        if not isinstance(store, ListableStore):
            return
        shelf: ListableStore = store
        ids = sorted(entry.document.id for entry in entries)
        for who in PRINCIPALS:
            whole = [shelf.document(name, principals=who) for name in ids]
            expected = [replace(one, text="") for one in whole if one is not None]
            for limit in (1, 3, len(ids) + 1):
                found: list[Document] = []
                after = ""
                while page := shelf.listed(after=after, limit=limit, principals=who):
                    found += page
                    after = page[-1].id
                assert found == expected, f"{who} is listed other documents, {limit} a page"
        assert shelf.listed(after="\udcff", principals=PRINCIPALS[-1]) == []


def counts_are_remembered(open_empty: OpenStore, entries: Entries) -> None:
    """By fingerprint and content hash, and never for another tokenizer."""
    with closing(fill(open_empty(), entries)) as store:
        hashes = [chunk.content_hash for chunk in entries[0].chunks]
        assert store.counts("f1", [*hashes, "unknown"]) == dict.fromkeys(hashes, 7)
        assert store.counts("f2", hashes) == {}
        store.remember("f2", {hashes[0]: 3})
        assert store.counts("f2", hashes) == {hashes[0]: 3}


def what_no_row_can_hold_is_not_found(open_empty: OpenStore, entries: Entries) -> None:
    """Half of a surrogate pair, wherever it is asked for, is as any name that is not there."""
    half = "\udcff"
    vector = EMBEDDER.embed(["cold"])[0]
    hash_ = entries[0].chunks[0].content_hash
    filters: list[dict[str, Any]] = [{half: "nl"}, {"lang": half}, {"id": [half]}, {"line": half}]
    with closing(fill(open_empty(), entries)) as store:
        for where in filters:
            found = store.search("cold", vector, where=where, principals=("blue", "red"))
            assert not found.candidates, f"{where} lets others through"
        seen, expected = (
            store.search("cold", vector, where={"lang": langs}, principals=who)
            for langs, who in ((["nl", half], ("red", half)), (["nl"], ("red",)))
        )
        assert seen == expected, "beside what is there, it changes what is found"
        plain = store.search("cold", vector)
        assert store.search(f"cold {half}", vector).candidates == plain.candidates
        root = store.state_root()
        assert store.state_root(principals=(half,)) == store.state_root(principals=())
        assert store.neighbours([(half, 0)], 1, principals=(half,)) == []
        assert not store.delete(half)
        assert store.counts(half, [hash_]) == store.counts("f1", [half]) == {}
        store.remember(half, {hash_: 1})
        store.remember("f3", {half: 1, hash_: 2})
        assert store.counts("f3", [half, hash_]) == {hash_: 2}
        assert store.state_root() == root


def the_root_covers_the_content(open_empty: OpenStore, entries: Entries) -> None:
    """Any field that a reader can see changes the root; putting the same again does not."""
    entry = entries[0]
    with closing(fill(open_empty(), entries)) as store:
        roots = [store.state_root()]
        entry.put(store)
        assert store.state_root() == roots[0], "the same document again is another state"
        for other in entry_variants(entry):
            other.put(store)
            roots.append(store.state_root())
        assert len(set(roots)) == len(roots), "a change left the root as it was"


def questions_lead_to_their_chunk(open_empty: OpenStore, entries: Entries) -> None:
    """A chunk is found by the words of its questions, for whoever may read it, until it is put."""
    with closing(fill(open_empty(), entries)) as store:
        before = store.state_root()
        bare = next(entry for entry in entries if entry.document.principals == ("red",))
        first, *rest = bare.chunks
        questions = ["Who wound the zeppelin?", "And whose sextant is it?"]
        asked = replace(first, metadata={**first.metadata, QUESTIONS: questions})
        replace(bare, chunks=(asked, *rest)).put(store)
        assert store.state_root() != before, "the state root does not cover questions"
        for word in ("zeppelin", "sextants"):
            found = store.search(word, None, principals=("red",))
            ids = [each.chunk.id for each in found.candidates]
            assert ids == [first.id], f"a question's word leads to {ids}"
            assert found.candidates[0].chunk.metadata[QUESTIONS] == questions, "questions are lost"
            hidden = store.search(word, None, principals=("blue",))
            assert not hidden.candidates, "a question leads to what one may not read"
            assert hidden.lexical_matches == 0, "a question is counted that one may not read"
        bare.put(store)
        assert store.state_root() == before, "questions leave something behind"
        assert not store.search("zeppelin", None, principals=("red",)).candidates, "found still"


LAWS: tuple[Law, ...] = (
    history_does_not_matter,
    what_one_may_not_read_is_not_there,
    neighbours_are_those_in_reach,
    chunks_come_back_as_they_went,
    filters_do_not_thin_out,
    cosines_are_cosines,
    a_query_is_text,
    documents_are_listed_by_id,
    what_is_listed_may_be_read,
    counts_are_remembered,
    questions_lead_to_their_chunk,
    what_no_row_can_hold_is_not_found,
    the_root_covers_the_content,
    *isolation.LAWS,
)


def _search(store: Store, query: str, who: tuple[str, ...] = ("blue", "red")) -> SearchResult:
    return store.search(query, EMBEDDER.embed([query])[0], limit=30, depth=10, principals=who)


def _is_readable(principals: tuple[str, ...], who: tuple[str, ...]) -> bool:
    return not principals or bool(set(principals) & set(who))


def _all_chunks(entries: Iterable[CorpusEntry]) -> list[Chunk]:
    return [chunk for entry in entries for chunk in entry.chunks]


def _is_match(chunk: Chunk, where: dict[str, Any]) -> bool:
    for key, wanted in where.items():
        value = chunk.page if key == "page" else chunk.metadata.get(key)
        values = value if isinstance(value, list) else [value]
        if not set(values) & set(wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _with_document_fields(document: Document, chunk: Chunk) -> Chunk:
    return replace(
        chunk,
        title=document.title,
        summary=document.summary,
        modified_at=document.modified_at,
        principals=document.principals,
    )


def _require_score(score: float | None) -> float:
    assert score is not None, "a candidate has no semantic score"
    return score
