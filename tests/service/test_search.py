"""`POST /v1/search`, from outside."""

from __future__ import annotations

import pytest

from foveate.pipeline.assembler import Assembler
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.service.settings import Settings
from foveate.service.wire import requests as cursor
from service_server import SECRET, problem, serving


def pages(service, asked):
    """All pages of a search."""
    found, following = [], None
    while True:
        answer = service.post(
            "/v1/search", json={**asked, **({"cursor": following} if following else {})}
        )
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        following = found[-1]["next"]
        if following is None:
            return found


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


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_are_the_whole_cut_up(service, limit):
    """F3: page after page gives each candidate once, in the order of the whole."""
    asked = {"query": "pump water slate pressure"}
    whole = service.post("/v1/search", json={**asked, "limit": 100}).json()

    found = pages(service, {**asked, "limit": limit})

    assert whole["next"] is None
    assert [c for page in found for c in page["candidates"]] == whole["candidates"]
    assert all(len(page["candidates"]) == limit for page in found[:-1])


@pytest.mark.parametrize(
    "other", [{"query": "pumps"}, {"where": {"source": "x"}}, {"principals": []}, {"depth": 7}]
)
def test_a_cursor_is_of_one_search(service, other):
    """F3, X5: with another question, filter or reader it is refused."""
    asked = {"query": "pump water slate pressure", "limit": 1}
    following = service.post("/v1/search", json=asked).json()["next"]

    answer = service.post("/v1/search", json={**asked, **other, "cursor": following})

    assert answer.status_code == 400
    assert problem(answer)["field"] == "cursor"


@pytest.mark.parametrize(
    "forged",
    ["", "x", "é", "W10", "W10=", "bnVsbA", cursor.encode_cursor([1]),
     cursor.encode_cursor([-1, "", ""]),
     cursor.encode_cursor([True, "", ""]), cursor.encode_cursor([10**9, "", ""]), "A" * 4_096],
)  # fmt: skip
def test_a_forged_cursor_is_refused(service, forged):
    """X2: what is no cursor of ours is bad input, and nothing else."""
    answer = service.post("/v1/search", json={"query": "pump", "cursor": forged})

    assert answer.status_code == 400
    assert problem(answer)["field"] == "cursor"


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


def test_pages_of_two_states_are_not_put_together(tmp_path):
    """T4, F3: the next page says that the store was written to; what may not be read counts not."""
    settings = Settings(store=str(tmp_path / "own"), embedder="hashing", principals=("staff",))
    with serving(settings) as client:

        def put(name: str, text: str, *readers: str) -> None:
            asked = {"text": text, "principals": list(readers)}
            assert client.put(f"/v1/documents/{name}", json=asked).status_code == 200

        for number in range(4):
            put(f"d{number}", f"The well number {number} is deep.")
        asked = {"query": "the well", "limit": 2}
        first = client.post("/v1/search", json=asked).json()
        on = {**asked, "cursor": first["next"]}
        put("d0", "The well number 0 is deep.")
        put("hidden", "The well of the board is deep.", "board")
        same = client.post("/v1/search", json=on)
        put("d4", "The well number 4 is dry.")
        other = client.post("/v1/search", json=on)

    assert same.status_code == 200
    assert len(same.json()["candidates"]) == 2
    assert other.status_code == 409
    assert problem(other)["type"] == "urn:foveate:problem:changed"
