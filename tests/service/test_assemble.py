"""`POST /v1/assemble`, from outside."""

from __future__ import annotations

from command_line import CHUNKS, QUERY
from foveate import assemble
from foveate.core.context_json import context_to_json
from service_server import SECRET, problem


def test_candidates_become_the_context_that_the_library_makes(service):
    """F3, D1: the answer is, to the byte, what the library makes of the same candidates."""
    asked = {"query": QUERY, "candidates": CHUNKS, "principals": []}

    answer = service.post("/v1/assemble", json=asked)

    assert answer.status_code == 200
    assert answer.json() == context_to_json(assemble(QUERY, CHUNKS))


def test_without_candidates_the_store_is_searched(service):
    """F3, T4: the context comes from the store, and says how its candidates were found."""
    answer = service.post("/v1/assemble", json={"query": QUERY, "budget": 200})

    found = answer.json()
    assert answer.status_code == 200
    assert "between one and two bar" in found["text"]
    assert found["found"]["badge"] == "hybrid"
    assert found["found"]["exact"] is True
    assert found["manifest"]["state_root"]


def test_principals_only_narrow(service):
    """X5, I4: as nobody the secret is not there; as somebody else is refused."""
    asked = {"query": "Where is the spare key of the tank room?"}

    all_of_them = service.post("/v1/assemble", json=asked)
    nobody = service.post("/v1/assemble", json={**asked, "principals": []})
    other = service.post("/v1/assemble", json={**asked, "principals": ["staff", "board"]})

    assert SECRET in all_of_them.json()["text"]
    assert "spare key" not in nobody.text
    assert other.status_code == 403
    assert "board" not in problem(other)["detail"]


def test_a_budget_that_is_too_small_says_what_would_do(service):
    """B1: 422 with the smallest budget, which does."""
    asked = {"query": QUERY, "candidates": CHUNKS[:1]}

    refused = service.post("/v1/assemble", json={**asked, "budget": 2})
    needed = problem(refused)["needed"]
    made = service.post("/v1/assemble", json={**asked, "budget": needed})

    assert refused.status_code == 422
    assert made.status_code == 200
