"""`POST /v1/replay` and `/v1/check-answer`, from outside."""

from __future__ import annotations

import copy

import pytest

from command_line import CHUNKS, QUERY
from foveate import assemble
from foveate.answer.check import check_answer
from foveate.answer.wire import check_to_json
from foveate.core.context_json import context_to_json
from foveate.core.replay import REQUIRED_PARTS
from service_server import problem

ANSWER = "Keep it between one and two bar [1]. It is of steel [7]."


@pytest.fixture(scope="module")
def bundle(service):
    """A bundle that the service made."""
    asked = {"query": QUERY, "candidates": CHUNKS[:4], "bundle": True}
    return service.post("/v1/assemble", json=asked).json()["bundle"]


def test_a_bundle_of_the_store_replays_without_it(service):
    """D4: neighbours and counts are in it, so that no store is needed."""
    made = service.post("/v1/assemble", json={"query": QUERY, "bundle": True, "budget": 120}).json()

    answer = service.post("/v1/replay", json={"bundle": made["bundle"]})

    assert answer.json()["identical"] is True
    assert made["bundle"]["text"] == made["text"]


def test_what_changed_is_named(service, bundle):
    """D4: an input that differs diverges, and the answer says which."""
    other = copy.deepcopy(bundle)
    other["candidates"][0]["text"] += " Twice."

    alone = service.post("/v1/replay", json={"bundle": other}).json()
    both = service.post("/v1/replay", json={"a": bundle, "b": bundle}).json()

    assert alone["identical"] is False
    assert any("input" in cause for cause in alone["causes"])
    assert alone["lines"][0].startswith("diverged at")
    assert both["identical"] is True


def test_an_answer_is_checked_as_the_library_does(service, bundle):
    """C3, F3: against the context, and against the bundle it came with."""
    context = assemble(QUERY, CHUNKS[:4])
    expected = check_to_json(check_answer(ANSWER, context))

    by_context = service.post(
        "/v1/check-answer",
        json={"answer": ANSWER, "context": context_to_json(context), "query": QUERY},
    )
    by_bundle = service.post("/v1/check-answer", json={"answer": ANSWER, "bundle": bundle})

    assert by_context.json() == expected
    assert by_bundle.json()["dangling"] == expected["dangling"]
    assert [one["name"] for one in expected["dangling"]] == ["7"]


def test_a_spoken_answer_is_checked_without_markers(service):
    """C3, F3: `channel` says that no marker is asked for; sources are found by what is said."""
    context = assemble(QUERY, CHUNKS[:4])
    said = context.blocks[0].text.splitlines()[-1]
    body = {"answer": said, "context": context_to_json(context), "query": QUERY}

    spoken = service.post("/v1/check-answer", json={**body, "channel": "voice"}).json()
    written = service.post("/v1/check-answer", json=body).json()

    assert (spoken["claims"][0]["faults"], spoken["cited"]) == ([], [1])
    assert "uncited" in written["claims"][0]["faults"]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("text",), "another", "context.text"),
        (("text",), None, "context.text"),
        (("blocks",), None, "context.blocks"),
        (("blocks", 0, "marker"), "1", "context.blocks[0].marker"),
        (("blocks", 0, "span"), [0, 10**9], "context.blocks"),
        (("blocks", 0, "span"), [-5, 3], "context.blocks[0].span[0]"),
        (("blocks", 0, "span"), [3], "context.blocks[0].span"),
        (("citations", 0, "chunk_ids"), 7, "context.citations[0].chunk_ids"),
        (("trace", 0, "decisions"), [1], "context.trace[0].decisions[0]"),
        (("manifest", "output_hash"), 1, "context.manifest.output_hash"),
    ],
)
def test_a_context_that_was_changed_is_refused(service, path, value, field):
    """X2, C3: what is not what was given is bad input by the name of its part."""
    record = context_to_json(assemble(QUERY, CHUNKS[:2]))
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value

    answer = service.post("/v1/check-answer", json={"answer": ANSWER, "context": record})

    assert answer.status_code == 400
    assert problem(answer)["field"] == field


def test_blocks_that_lie_over_one_another_are_refused(service):
    """X2: a pile of blocks over one text would be read many times over."""
    record = context_to_json(assemble(QUERY, CHUNKS[:1]))
    record["blocks"] *= 1_000

    answer = service.post("/v1/check-answer", json={"answer": ANSWER, "context": record})

    assert answer.status_code == 400


DAMAGE = [None, -1, "x", [], {}, [None], {"x": None}, [[]]]


@pytest.mark.parametrize("part", ["recipe", "budget", "candidates", "neighbours", "supplements",
    "principals", "messages", "intent", "query_embedding", "instant", "language", "state_root",
    "exact", "index", "notes", "offers", "parts", "recipe_spelled", "manifest", "trace", "text",
    "query", "kind"])  # fmt: skip
def test_a_damaged_bundle_is_bad_input(service, bundle, part):
    """X2, D4: whatever stands in a part, the answer is a verdict or a problem, never a fault."""
    for value in DAMAGE:
        other = {**bundle, part: value}
        pair = {"a": bundle, "b": other}
        for body in ({"bundle": other}, pair) if part in REQUIRED_PARTS else ({"bundle": other},):
            answer = service.post("/v1/replay", json=body)

            assert answer.status_code in {200, 400}, (part, value, answer.text)
