"""`POST /v1/search`, from outside."""

from __future__ import annotations

from foveate.pipeline.assembler import Assembler
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from service_server import SECRET


def test_a_search_finds_what_the_store_finds(service, filled_store):
    """F3, T4: the same candidates with the same scores, badge and matches, without vectors."""
    with open_store_with_embedder(str(filled_store)) as (store, embedder):
        expected = Assembler(store=store, embedder=embedder).search("which pressure", limit=3)

    found = service.post(
        "/v1/search", json={"query": "which pressure", "limit": 3, "principals": []}
    )

    record = found.json()
    assert [c["id"] for c in record["candidates"]] == [c.id for c in expected.candidates]
    assert [c["score"] for c in record["candidates"]] == [c.score for c in expected.candidates]
    assert record["badge"] == expected.badge
    assert record["lexical_matches"] == expected.lexical_matches
    assert "embedding" not in found.text


def test_filters_and_principals_narrow(service):
    """T4, X5: a filter wants, and a reader may have, no more than that."""
    by_source = service.post(
        "/v1/search", json={"query": "water pressure", "where": {"source": ["manual/pump.md"]}}
    ).json()
    nobody = service.post("/v1/search", json={"query": SECRET, "principals": []})
    staff = service.post("/v1/search", json={"query": SECRET})

    assert {c["source"] for c in by_source["candidates"]} == {"manual/pump.md"}
    assert "vault" not in nobody.text.replace(SECRET, "")
    assert staff.json()["candidates"][0]["id"] == "vault#0"
