from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import foveate
from foveate.core.errors import BadInput, BadOption
from foveate.core.fuse import rrf
from foveate.core.types import Chunk, rank
from foveate.ports import Document
from foveate.stores import open_store
from foveate.stores.scoring import SLICE, combine_legs
from foveate.testing.store_corpus import EMBEDDER, corpus, fill
from store_urls import opened

EVERYONE = ("blue", "red")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory):
    """A store of forty documents, read only."""
    folder = tmp_path_factory.mktemp("stores") / "store"
    with closing(fill(opened(folder), corpus(count=40))) as filled:
        yield filled


def test_more_ties_than_are_read_at_once_are_told_apart_by_their_keys():
    """D1: of rows with one score, those of the first ids are shown, each with its own chunk."""
    rows = np.arange(2 * SLICE + 7)

    def load(some: Any) -> tuple[list[Chunk], None]:
        return [
            Chunk(id=f"c{9_999 - n}", document_id="d", source="s", text=f"t{n}")
            for n in some.tolist()
        ], None

    found = combine_legs(
        rows[:0],
        rows,
        bm25=np.ones(len(rows)).take,
        cosines=None,
        load=load,
        depth=len(rows),
        limit=SLICE + 3,
        index="",
        state_root="",
    )

    last = len(rows) - 1
    assert [c.chunk.text for c in found.candidates] == [f"t{last - n}" for n in range(SLICE + 3)]


def key(candidate) -> tuple:
    """The content key that decides ties."""
    return rank(candidate)[1:]


@given(
    st.lists(
        st.sampled_from(["amber", "cold", "river", "stone", "lamp", "quarry", "the"]), min_size=1
    ),
    st.integers(1, 30),
    st.integers(1, 40),
)
def test_search_is_rrf_over_two_complete_legs(store, words, depth, limit):
    """T4: with every score at hand, the two legs cut at depth and fused give the same list."""
    query = " ".join(words)
    vector = EMBEDDER.embed([query])[0]
    everything = store.search(query, vector, depth=10_000, limit=10_000, principals=EVERYONE)
    by_cosine = sorted(everything.candidates, key=lambda c: (-c.semantic_score, key(c)))
    hits = [c for c in everything.candidates if c.lexical_score]
    by_bm25 = sorted(hits, key=lambda c: (-c.lexical_score, key(c)))
    legs = [[key(c) for c in leg[:depth]] for leg in (by_cosine, by_bm25)]
    expected = rrf(legs)[:limit]
    found = store.search(query, vector, depth=depth, limit=limit, principals=EVERYONE)
    assert [(key(c), c.score) for c in found.candidates] == expected
    assert found.lexical_matches == min(depth, len(hits))
    assert found.badge == ("hybrid" if hits else "vector_only")
    assert found.exact


@pytest.mark.parametrize("vector", [None, np.zeros(64)])
def test_without_a_direction_the_words_decide(store, vector):
    """T4: no vector, or one of zeros, leaves the lexical leg alone."""
    found = store.search("granite", vector, principals=EVERYONE)
    assert found.candidates
    assert all("ranite" in c.text for c in found.candidates)
    assert all(c.semantic_score is None for c in found.candidates)


def test_equal_texts_are_ordered_by_content_at_the_edge_of_a_leg(tmp_path: Path):
    """D1: of thirty equal chunks the first ten by source and sequence are found, as written."""
    numbers = [17, 3, 29, *range(30)]
    with closing(open_store(tmp_path, embedder_name="e", dimensions=2)) as store:
        for number in numbers:
            name = f"d{number:02}"
            chunk = Chunk(text="same words", document_id=name, source=name)
            document = Document(id=name, source=name, text="same words")
            store.put(document, [chunk], np.array([[1.0, 0.0]]))
        found = store.search("words", [1.0, 0.0], depth=10)
    assert [c.document_id for c in found.candidates] == [f"d{n:02}" for n in range(10)]


def test_a_chunk_may_be_narrower_than_its_document(tmp_path: Path):
    """I4: a chunk's own principals count; wider than its document's they are refused."""
    document = Document(id="d", source="d", text="cold lamp", principals=("red", "blue"))
    chunks = [
        Chunk(text="cold", document_id="d", sequence=0, principals=("red",)),
        Chunk(text="lamp", document_id="d", sequence=1),
    ]
    with closing(open_store(tmp_path)) as store:
        store.put(document, chunks, None)
        seen = store.neighbours([("d", 0)], 1, principals=["blue"])
        assert [(c.text, c.principals) for c in seen] == [("lamp", ("blue", "red"))]
        assert store.search("cold", None, principals=["blue"]).candidates == ()
        wider = [Chunk(text="cold", document_id="d", principals=("green",))]
        with pytest.raises(BadInput, match="more than its document"):
            store.put(document, wider, None)


def test_offsets_are_checked_against_the_text(tmp_path: Path):
    """T2: `document[start:end] == text` holds for whatever is in the store."""
    document = Document(id="d", source="d", text="cold lamp")
    with closing(open_store(tmp_path)) as store:
        with pytest.raises(BadInput, match="from 1 to 5 is not the chunk's"):
            store.put(document, [Chunk(text="cold", document_id="d", start=1, end=5)], None)
        store.put(document, [Chunk(text="lamp", document_id="d", start=5, end=9)], None)
        kept = store.document("d")
        (chunk,) = store.neighbours([("d", 0)], 0)
    assert kept is not None
    assert kept.text[chunk.start : chunk.end] == chunk.text == "lamp"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"document_id": "d04"}, {"d04"}),
        ({"document_id": ["d04", "d08", "none"]}, {"d04", "d08"}),
        ({"title": "Note 4"}, {"d04"}),
        ({"title": "note 4"}, set()),
        ({"document_id": "d04", "title": "Note 8"}, set()),
        ({"document_id": "d04' OR 1 --"}, set()),
        ({"nothing": 1}, set()),
        ({"document_id": []}, set()),
        ({"document_id": "d01"}, set()),
    ],
)
def test_filters_are_equality(store, where, expected):
    """T4: exact values, all keys together; what may not be read stays unread."""
    found = store.search("x", EMBEDDER.embed(["cold"])[0], where=where, depth=100)
    assert {c.document_id for c in found.candidates} == expected


def test_a_zero_character_in_metadata_is_a_character(tmp_path: Path):
    """T4, X2: a filter never takes the text before it for the whole."""
    with closing(open_store(tmp_path)) as store:
        metadata = {"tenant": "acme\0evil", "key\0": "x"}
        part = Chunk(text="x", document_id="d", source="d")
        store.put(Document(id="d", source="d", text="x", metadata=metadata), [part], None)
        for where, found in (
            ({"tenant": "acme"}, 0),
            ({"tenant": "acme\0evil"}, 1),
            ({"key": "x"}, 0),
            ({"key\0": "x"}, 1),
        ):
            assert len(store.search("x", None, where=where).candidates) == found


@pytest.mark.parametrize("value", [None, {"a": 1}, [None], b"x"])
def test_a_filter_on_what_is_no_value_is_refused(store, value):
    """X1: the message names the key."""
    with pytest.raises(BadOption, match="'page'"):
        store.search("x", None, where={"page": value})


@pytest.mark.parametrize("vector", [[1.0] * 63, [float("nan")] * 64])
def test_a_query_vector_that_does_not_fit_is_refused(store, vector):
    """I3: another model's vector is named by its shape."""
    with pytest.raises(BadInput, match="embedding"):
        store.search("x", vector)


def test_an_empty_store_answers_with_nothing(tmp_path: Path):
    """X2: no rows is no error."""
    with closing(open_store(tmp_path, embedder_name="e", dimensions=4)) as store:
        found = store.search("cold", [1, 0, 0, 0], where={"page": 1})
        assert (found.candidates, found.badge, found.lexical_matches) == ((), "vector_only", 0)
        assert store.neighbours([("d", 1)], 1) == []
        document = Document(id="d", source="d", text="")
        store.put(document, [], np.zeros((0, 4)))
        assert store.search("cold", [1, 0, 0, 0]).candidates == ()
        assert len(list(store.documents())) == 1


SEARCH = """
import sys
from foveate.stores import open_store
from foveate.testing.store_corpus import EMBEDDER, corpus, fill
store = open_store(sys.argv[1], embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
fill(store, corpus(count=10))
for query in ("cold harbour", "river stone turn", "where is it"):
    vector = EMBEDDER.embed([query])[0]
    found = store.search(query, vector, principals=["red"], where={"lang": ["en", "nl"]})
    print(found.candidates, found.badge, found.lexical_matches, found.state_root)
print(store.state_root())
"""


def test_answers_do_not_depend_on_the_hash_seed_or_the_threads(tmp_path: Path):
    """D1: three processes with other seeds and thread counts print the same bytes."""
    source = str(Path(foveate.__file__).parent.parent)
    outputs = set()
    for seed in ("0", "1", "77"):
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": source,
            "PYTHONHASHSEED": seed,
            "OPENBLAS_NUM_THREADS": "1" if seed == "0" else "2",
        }
        command = [sys.executable, "-c", SEARCH, str(tmp_path / seed)]
        outputs.add(
            subprocess.run(command, env=environment, check=True, capture_output=True).stdout
        )
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 4


def test_a_name_in_camel_case_is_found_by_its_parts(tmp_path: Path):
    """T4: as one in snake_case is, by words alone."""
    texts = {"user": "getUserById(id)", "order": "list_open_orders(day)", "mail": "sendMailTo(who)"}
    with closing(opened(tmp_path)) as store:
        for name, text in texts.items():
            document = Document(id=name, source=name, text=f"function {text} {{ }}")
            chunk = Chunk(id=name, document_id=name, source=name, text=document.text)
            store.put(document, [chunk], np.zeros((1, EMBEDDER.dimensions)))
        for query, name in (("user by id", "user"), ("open orders", "order"), ("mail", "mail")):
            assert store.search(query, None).candidates[0].chunk.id == name
