"""`POST /v1/assemble`, from outside."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from command_line import CHUNKS, QUERY
from foveate import assemble
from foveate.core.context_json import context_to_json
from foveate.models import registry
from service_server import problem


def test_candidates_become_the_context_that_the_library_makes(service):
    """F3, D1: the answer is, to the byte, what the library makes of the same candidates."""
    asked = {"query": QUERY, "candidates": CHUNKS, "principals": []}

    answer = service.post("/v1/assemble", json=asked)

    assert answer.status_code == 200
    found = answer.json()
    when = datetime.fromisoformat(found["manifest"].pop("when"))
    assert found == context_to_json(assemble(QUERY, CHUNKS))
    assert abs((datetime.now(UTC) - when).total_seconds()) < 600


def test_neighbours_supplements_intent_and_vector_come_with_the_request(service):
    """F3, S5, S11: what the library takes beside the candidates, the service takes too."""
    chunks = [
        {"id": f"d{n}", "document_id": "d", "source": "d.md", "sequence": n, "text": f"Part {n}."}
        for n in range(3)
    ]
    recipe = service.get("/v1/recipes/document-first").json()["recipe"]
    recipe["stages"].insert(0, {"use": "supplement_gate", "intents": ["visit"]})
    asked = {
        "query": QUERY,
        "candidates": [{**chunks[1], "score": 0.8, "semantic_score": 0.2}],
        "neighbours": [chunks[0], chunks[2]],
        "supplements": [
            {"id": "s", "title": "Rooms", "text": "Room 3 is upstairs.", "similarity": 0.9},
            {"id": "x", "text": "Secret rooms.", "similarity": 0.9, "principals": ["board"]},
        ],
        "intent": "visit",
        "query_embedding": [0.5, 0.5],
        "recipe": recipe,
        "language": "nl",
    }
    found = service.post("/v1/assemble", json=asked)

    assert found.status_code == 200, found.text
    assert found.json()["text"].startswith("[Supplement: Rooms]\n")
    assert "\n\n[End of supplements]\n\n" in found.json()["text"]
    assert found.json()["blocks"][-1]["text"] == "Part 0.\n\nPart 1.\n\nPart 2."
    assert "Room 3 is upstairs." in found.json()["text"]
    assert "Secret" not in found.text


def test_a_request_settles_what_shares_the_window(service):
    """F3, B2, T4: what the answer, instructions and template take is not there for documents."""
    named = {"model": "gpt-4", "prompt": "grounded"}
    asked = {"query": QUERY, "candidates": CHUNKS, "principals": [], **named}
    options = {
        "max_output": 2_000,
        "extra_instructions": "Answer in one sentence. " * 20,
        "template": "Context: {context}\nQuestion: {question}",
        "keep": 2,
    }

    found = service.post("/v1/assemble", json={**asked, **options}).json()
    library = assemble(QUERY, CHUNKS, **named, **options)
    found["manifest"].pop("when")

    assert found == context_to_json(library)
    assert len({name for block in found["blocks"] for name in block["chunk_ids"]}) <= 2
    assert found != context_to_json(assemble(QUERY, CHUNKS, **named))


def test_every_model_of_the_registry_is_taken(service):
    """F3, B4: by name and by alias, whatever margin its tokenizer has, on both routes."""
    refused = {}
    for name in registry():
        asked = {"query": QUERY, "candidates": CHUNKS[:1], "model": name}
        listed = {"messages": [{"role": "user", "content": "x?"}], "model": name}
        for answer in (
            service.post("/v1/assemble", json=asked),
            service.post("/v1/compact", json=listed),
        ):
            if answer.status_code != 200:
                refused[name] = answer.text
    assert refused == {}


def test_a_wrong_neighbour_or_supplement_is_said(service):
    """X1: by its field."""
    good = {"query": QUERY, "candidates": CHUNKS}
    wrong = service.post("/v1/assemble", json={**good, "neighbours": [{"id": "a"}]})
    bare = service.post("/v1/assemble", json={**good, "supplements": [{"id": "a"}]})

    assert (wrong.status_code, bare.status_code) == (400, 422)
    assert "neighbours" in problem(wrong)["detail"]
    assert "supplements" in problem(bare)["detail"]


def test_images_come_with_their_candidates(service):
    """F3, U1: an image is a part of the text; a wrong one is said by line and field."""
    image = {
        "url": "https://mill.example/plan.png",
        "media_type": "image/png",
        "width": 640,
        "height": 480,
        "caption": "The plan.",
    }
    chunk = {**CHUNKS[0], "images": [image]}
    asked = {"query": QUERY, "candidates": [chunk], "budget": 2_000, "format": "openai-parts"}
    answer = service.post("/v1/assemble", json=asked)
    chunk["images"] = [{**image, "url": "https://mill.example/p.png?token=53c"}]
    refused = service.post("/v1/assemble", json=asked)

    assert answer.json()["blocks"][0]["images"] == [image]
    assert json.loads(answer.json()["text"])[1]["type"] == "image_url"
    assert (refused.status_code, problem(refused)["line"]) == (400, 1)
    assert "images[0].url" in refused.text
    assert "53c" not in refused.text
