"""PostgreSQL answers to the bit as the embedded store does, and Lance but for scores of words."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from foveate.ports import SearchResult
from foveate.testing.store_corpus import EMBEDDER, PRINCIPALS, change_entry, corpus, fill
from foveate.testing.stores import QUERIES
from store_urls import opened

FILTERS = (
    *(None, {"lang": "nl"}, {"page": "2"}, {"row": True}, {"line": 2.0}, {"title": "Note 3"}),
    *({"tags": ["x", "y"], "sequence": [1, 2, 3]}, {"id": "'"}, {"page": "two"}, {"lang": []}),
    *({"no'\"\\ key": "x"}, {"page": 2**40}, {"section": 1, "lang": "en"}, {"row": 1}),
    *({"source": "notes/x/0.md"}, {"document_id": ["d00", "d05"]}, {"line": "2"}),
)


def filled(store, entries):
    """With documents, some of them changed and some gone, in several transactions."""
    fill(store, entries[: len(entries) // 2])
    with store.batch():
        for entry in entries[len(entries) // 2 :]:
            change_entry(entry).put(store)
    with store.batch():
        fill(store, entries[::3])
        for entry in entries[1::7]:
            store.delete(entry.document.id)
    return store


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("lance", marks=pytest.mark.slow),
        pytest.param("postgresql", marks=pytest.mark.server),
    ],
)
def both(request, tmp_path_factory):
    """The same writes in the embedded store and in another one."""
    folder = tmp_path_factory.mktemp("both")
    other = f"lance:{folder}/distributed"
    if request.param == "postgresql":
        other = f"{request.getfixturevalue('postgres')}&schema=both"
    stores = [filled(opened(url), corpus(3, 40)) for url in (folder / "embedded", other)]
    yield stores
    for store in stores:
        store.close()


LANCE = pytest.mark.parametrize(
    "both", [pytest.param("lance", marks=pytest.mark.slow)], indirect=True
)


def bits(found: SearchResult) -> list[str]:
    """The scores, zeros with their sign."""
    return [repr((c.score, c.semantic_score, c.lexical_score)) for c in found.candidates]


SERVER = pytest.mark.parametrize(
    "both", [pytest.param("postgresql", marks=pytest.mark.server)], indirect=True
)


@SERVER
@pytest.mark.parametrize("who", [*PRINCIPALS, ("nobody",)], ids=str)
def test_every_answer_is_that_of_the_embedded_store(both, who):
    """T1, T4, D3: candidates, scores and roots are equal to the bit, whoever asks for what."""
    compared = 0
    for query, where in product((*QUERIES, "猫 が好き", ""), FILTERS):
        for vector in (EMBEDDER.embed([query or "x"])[0], None, [0.0] * EMBEDDER.dimensions):
            options = {"limit": 40, "depth": 15, "principals": who, "where": where}
            expected, found = (store.search(query, vector, **options) for store in both)
            assert found == expected, (query, where)
            assert bits(found) == bits(expected)
            vectors = [[c.chunk.embedding for c in each.candidates] for each in (found, expected)]
            assert np.array_equal(*vectors)
            compared += len(found.candidates)
    assert compared > 300


@LANCE
@pytest.mark.parametrize("who", [*PRINCIPALS, ("nobody",)], ids=str)
def test_lance_finds_what_the_embedded_store_finds(both, who):
    """T1, T4, D3: the same chunks by the same cosines; scores of words alone are Lance's own."""
    compared = 0
    for query, where in product((*QUERIES, "猫 が好き", ""), FILTERS):
        vector = EMBEDDER.embed([query or "x"])[0]
        for asked, near in ((query, vector), (query, None), ("", vector)):
            options = {"limit": 999, "depth": 999, "principals": who, "where": where}
            expected, found = (
                sorted(
                    (c.id, c.text, c.semantic_score, bool(c.lexical_score))
                    for c in store.search(asked, near, **options).candidates
                )
                for store in both
            )
            assert found == expected, (asked, where)
            compared += len(found)
    assert compared > 300


def test_figures_documents_and_neighbours_are_those_of_the_embedded_store(both):
    """T1, D3: whatever else can be asked has the same answer too."""
    embedded, other = both
    assert other.state_root() == other.check().state_root == embedded.state_root()
    assert other.check().findings == ()
    assert list(other.documents()) == list(embedded.documents())
    places = [(name, at) for name, _ in embedded.documents() for at in range(0, 9, 4)]
    for who in PRINCIPALS:
        expected, found = (store.stats(principals=who) for store in both)
        assert found == replace(expected, schema=found.schema)
        near = [store.neighbours(places, 1, principals=who) for store in both]
        assert near[1] == near[0]
        for name, _ in embedded.documents():
            whole = embedded.document(name, principals=who)
            assert other.document(name, principals=who) == whole


@LANCE
@pytest.mark.parametrize("window", [0, 2, 10**9, 2**70])
def test_neighbours_in_any_window_are_those_of_the_embedded_store(both, window):
    """D3, X2: a wide window costs what it finds, and numbers beyond 64 bits are only far away."""
    for at in ([0, 1, 7], [-5, 3], [-(2**63), 2**63 - 1], [2**63 + 5, 2**80, -(2**64)]):
        places = [(name, one) for name in ("d00", "d03", "d04", "none") for one in at]
        found = both[1].neighbours(places, window, principals=("red",))
        every = both[0].neighbours(
            [(name, one) for name, _ in both[0].documents() for one in range(9)],
            0,
            principals=("red",),
        )
        assert found == [
            chunk
            for chunk in every
            if any(n == chunk.document_id and abs(a - chunk.sequence) <= window for n, a in places)
        ]
