"""What is wrong with a request is said by its place, with what to do; nothing of ours is said."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from command_line import CHUNKS, QUERY
from foveate.plugins import embedder
from foveate.service.settings import Settings
from foveate.stores import open_store
from service_server import problem, serving, without_time

GOOD = {"query": QUERY, "candidates": CHUNKS[:3]}


def sent(client, body: bytes | str, at: str = "/v1/assemble", **headers: str):
    """The answer to a body as it stands."""
    data = body if isinstance(body, bytes) else body.encode()
    return client.post(at, content=data, headers={"Content-Type": "application/json", **headers})


def with_candidate(**fields: Any) -> str:
    """A good body whose second candidate has these fields."""
    candidates = [CHUNKS[0], {**CHUNKS[1], **fields}]
    return json.dumps({"query": QUERY, "candidates": candidates})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("", None), ("{", None), ("nope", None), ("[1,]", None), ("{'query': 1}", None),
        ('{"query": "a"} {}', None), (b"\xff\xfe{}", None), (b'{"query": "\xe9"}', None),
        ('{"query": "a", "query": "b"}', None), ('{"query": NaN}', "query"),
        ('{"query": "a", "where": {"x": 1e999}}', "where.x"),
        ('{"query": "a", "where": {"\\ud800": 1}}', "where"),
        ('{"query": "a\\ud800b"}', "query"), ("[" * 100_000, None), ('{"a":' * 200, None),
        ("[" * 40_000 + "]" * 40_000, None), ("1" * 5_000, None),
        ('{"query": "é"}'.encode("latin-1"), None), (json.dumps(GOOD).encode("utf-32-be"), None),
        (b'{"query": "\xe2\x82"}', None), (b'{"query": "\xed\xa0\x80"}', None),
        ('{"query": "a\nb"}', None), (f'{{"query": "a", "budget": {"9" * 5_000}}}', None),
    ],
)  # fmt: skip
def test_what_is_no_json_is_said(service, body, field):
    """X2: 400 with where it stops being JSON; an empty body is missing fields."""
    answer = sent(service, body)

    assert answer.status_code == (400 if body else 422), answer.text
    assert problem(answer).get("field") == (field if body else "")


@pytest.mark.parametrize("body", ["null", "7", '"text"', "[]", "[[]]", "true"])
def test_a_body_is_an_object(service, body):
    """X2: other JSON is no request."""
    answer = sent(service, body)

    assert answer.status_code == 422
    assert problem(answer)["detail"] == "the body: must be an object"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/xml", "", "x", "a/b;"]
)
def test_other_content_types_are_refused(service, kind):
    """X2: 415, whatever the body is."""
    answer = sent(service, json.dumps(GOOD), **{"Content-Type": kind})

    assert answer.status_code == 415
    assert "application/json" in problem(answer)["detail"]


@pytest.mark.parametrize("charset", ["utf-16", '"UTF-16LE"', "latin-1", "utf-7", "'utf-8'"])
def test_another_character_set_is_refused(service, charset):
    """X2: JSON is read as UTF-8, so a body that says it is something else is not read."""
    answer = sent(
        service, json.dumps(GOOD), **{"Content-Type": f"application/json; charset={charset}"}
    )

    assert answer.status_code == 415
    assert problem(answer)["detail"] == "send the body as UTF-8, as JSON is; leave out the charset"


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/json; charset=utf-8",
        'application/json;Charset="UTF8"; x=y',
        "application/json; charset=us-ascii",
        "application/vnd.x+json",
    ],
)
def test_json_by_any_of_its_names_is_taken(service, kind):
    """F3: parameters and suffixes are fine."""
    assert sent(service, json.dumps(GOOD), **{"Content-Type": kind}).status_code == 200


@pytest.mark.parametrize(
    ("fields", "line", "field"),
    [
        ({"text": None}, 2, "text"),
        ({"text": 7}, 2, "text"),
        ({"score": float("nan")}, 2, "score"),
        ({"score": float("inf")}, 2, "score"),
        ({"score": "high"}, 2, "score"),
        ({"score": True}, 2, "score"),
        ({"page": -1}, 2, "page"),
        ({"page": 1.5}, 2, "page"),
        ({"start": 9, "end": 3}, 2, "end"),
        ({"principals": "staff"}, 2, "principals"),
        ({"metadata": []}, 2, "metadata"),
        ({"metadata": {"x": [float("nan")]}}, 2, "metadata.x.0"),
        ({"embedding": []}, 2, "embedding"),
        ({"embedding": [1, "x"]}, 2, "embedding"),
        ({"modified_at": "today"}, 2, "modified_at"),
        ({"id": "c1"}, 2, "id"),
        ({"title": "a\udc00"}, 2, "title"),
        ({"origin": "supplement"}, 2, "origin"),
    ],
)
def test_a_wrong_candidate_is_named_by_line_and_field(service, fields, line, field):
    """I3, X2: as the command line names it."""
    answer = sent(service, with_candidate(**fields))

    found = problem(answer)
    assert answer.status_code == 400, answer.text
    assert (found["line"], found["field"]) == (line, field)


@pytest.mark.parametrize(
    ("fields", "status", "kind", "said"),
    [
        ({"quary": "x"}, 400, "unknown-name", "did you mean 'query'?"),
        ({"buget": 9}, 400, "unknown-name", "did you mean 'budget'?"),
        ({"query": ""}, 422, "bad-fields", "query"),
        ({"query": " \n\t"}, 422, "bad-fields", "query"),
        ({"query": None}, 422, "bad-fields", "query"),
        ({"query": ["a"]}, 422, "bad-fields", "query"),
        ({"candidates": {}}, 422, "bad-fields", "candidates"),
        ({"candidates": ["text"]}, 400, "bad-input", "object"),
        ({"candidates": [None]}, 400, "bad-input", "object"),
        ({"budget": 0}, 422, "bad-fields", "budget"),
        ({"budget": -5}, 422, "bad-fields", "budget"),
        ({"budget": 10**30}, 422, "bad-fields", "budget"),
        ({"budget": "800"}, 422, "bad-fields", "budget"),
        ({"budget": True}, 422, "bad-fields", "budget"),
        ({"budget": 1.5}, 422, "bad-fields", "budget"),
        ({"budget": {}}, 400, "bad-option", "documents"),
        ({"budget": {"documnts": 9}}, 400, "unknown-name", "did you mean 'documents'?"),
        ({"budget": {"documents": 9_000, "window": 100}}, 400, "bad-option", "window"),
        ({"budget": 3}, 422, "budget-too-small", "raise the budget"),
        ({"limit": 0}, 422, "bad-fields", "limit"),
        ({"limit": "9"}, 422, "bad-fields", "limit"),
        ({"depth": 10**9}, 422, "bad-fields", "depth"),
        ({"recipe": "defualt"}, 400, "unknown-name", "did you mean 'default'?"),
        ({"recipe": {}}, 400, "bad-option", "'name' is missing"),
        ({"recipe": {"name": "x", "stages": ["pak"], "format": "xml"}}, 400, "unknown-name",
         "did you mean 'pack'?"),
        ({"recipe": []}, 422, "bad-fields", "recipe"),
        ({"tokenizer": "cl100k"}, 400, "unknown-name", "did you mean 'cl100k_base'?"),
        ({"tokenizer": "simple", "model": "gpt-4o"}, 400, "bad-option", "not both"),
        ({"model": "gpt-40"}, 400, "unknown-name", "did you mean 'gpt-4"),
        ({"format": "numberd"}, 400, "unknown-name", "did you mean 'numbered'?"),
        ({"order": "bookends"}, 400, "unknown-name", "did you mean 'bookend'?"),
        ({"language": "klingon"}, 400, "unknown-name", "language"),
        ({"language": "es", "prompt": "grounded"}, 400, "unknown-name", "language of prompts"),
        ({"prompt": "strikt"}, 400, "unknown-name", "did you mean 'strict'?"),
        ({"channel": "smoke"}, 422, "bad-fields", "channel"),
        ({"messages": [{"role": "user"}]}, 422, "bad-fields", "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x", "name": "y"}]}, 400, "unknown-name",
         "unknown field 'name'"),
        ({"bundle": "yes"}, 422, "bad-fields", "bundle"),
        ({"principals": ["board"]}, 403, "principals", "may not read"),
        ({"principals": [["staff"]]}, 422, "bad-fields", "principals"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_said(service, fields, status, kind, said):
    """X1, X2: with its status, its kind, and the near miss or what to do."""
    answer = sent(service, json.dumps({**GOOD, **fields}))

    found = problem(answer)
    assert answer.status_code == status, answer.text
    assert found["type"] == f"urn:foveate:problem:{kind}"
    assert said in found["detail"], found["detail"]


@pytest.mark.parametrize(
    ("where", "status"),
    [
        ({"source": None}, 422), ({"source": {"x": 1}}, 422), ({"source": [[]]}, 422),
        ({"team": "nobody"}, 200), ({"source": []}, 200), ({"": ""}, 200), ({"a\x00b": "c"}, 200),
        ({"page": 10**30}, 400), ({"x'; DROP TABLE chunks; --": 1}, 200), ([], 422),
    ],
)  # fmt: skip
def test_a_filter_that_is_none_or_finds_nothing(service, where, status):
    """X2, T4: refused by its shape, or the context is empty and says why; the store lives on."""
    answer = service.post("/v1/assemble", json={"query": QUERY, "where": where})

    assert answer.status_code == status, answer.text
    if status == 200:
        record = answer.json()
        assert record["text"] == ""
        assert "no_candidates" in record["trace"][0]["notes"]
    else:
        assert problem(answer)
    assert service.post("/v1/assemble", json={"query": QUERY}).status_code == 200


def test_many_wrong_fields_are_all_listed(service):
    """X2: one answer names them all."""
    answer = sent(service, json.dumps({"query": 1, "budget": "x", "limit": 0, "channel": 7}))

    fields = {one["field"]: one["message"] for one in problem(answer)["fields"]}
    assert set(fields) == {"query", "budget", "limit", "channel"}
    assert fields["budget"] == "must be a valid integer, or must be an object"


def test_a_value_is_not_repeated_at_length(service):
    """X2: a megabyte that is wrong does not come back as a megabyte."""
    answer = sent(service, json.dumps({**GOOD, "recipe": "x" * 1_000_000}))

    assert answer.status_code == 400
    assert len(answer.content) < 5_000


def test_more_candidates_than_settled_are_refused(tmp_path):
    """X2: with the number that would do."""
    with serving(Settings(store="", candidates=2)) as client:
        answer = client.post("/v1/assemble", json=GOOD)
        alone = client.post("/v1/assemble", json={"query": QUERY})
        listed = client.get("/v1/documents")

    assert answer.status_code == 400
    assert "2 at the most" in problem(answer)["detail"]
    assert (alone.status_code, listed.status_code) == (404, 404)
    assert "send candidates along" in problem(alone)["detail"]


def test_a_store_that_cannot_be_opened_is_the_operators_to_see(tmp_path):
    """X1, X4: 503 in general words, for a folder that is no store, or is of another embedder."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "index.sqlite").write_text("not a database", encoding="utf-8")
    hashing = embedder("hashing")
    open_store(tmp_path / "old", embedder_name="hashing-256@0", dimensions=256).close()
    open_store(tmp_path / "new", embedder_name=hashing.name, dimensions=256).close()
    seen = []
    for name, create in (("notes", False), ("nowhere", False), ("old", True)):
        with serving(Settings(store=str(tmp_path / name), create=create)) as client:
            answer = client.post("/v1/assemble", json={"query": QUERY})
            seen.append((answer.status_code, problem(answer)["detail"], name in answer.text))

    assert {status for status, _, _ in seen} == {503}
    assert not any(named or str(tmp_path) in detail for _, detail, named in seen)


def test_packed_answers_and_bodies(service):
    """F3: gzip both ways, when asked for."""
    packed = gzip.compress(json.dumps(GOOD).encode())

    answer = sent(service, packed, **{"Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
    plain = sent(service, json.dumps(GOOD), **{"Accept-Encoding": "identity"})

    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert without_time(answer) == without_time(plain)


@pytest.mark.parametrize(
    ("method", "at", "status"),
    [
        ("GET", "/v1/assemble", 405), ("DELETE", "/v1/recipes", 405), ("POST", "/healthz", 405),
        ("GET", "/v1", 404), ("GET", "/v2/me", 404), ("GET", "/v1/me/", 404), ("POST", "/", 405),
        ("GET", "/redoc", 404), ("GET", "/v1/recipes/..%2f..%2fetc%2fpasswd", 404),
    ],
)  # fmt: skip
def test_other_methods_and_addresses(service, method, at, status):
    """X2: problems too, and 405 says what is taken."""
    answer = service.request(method, at)

    assert answer.status_code == status
    assert problem(answer)
    assert ("allow" in answer.headers) == (status == 405)


def test_me_says_what_may_be_named(service):
    """F3: names that `/v1/me` lists are taken; the caller is who it is."""
    me = service.get("/v1/me").json()

    assert (me["key"], me["tenant"], me["principals"]) == (None, "default", ["staff"])
    assert me["store"] is True
    for field in ("tokenizers", "formats", "orders", "recipes"):
        for name in me[field]:
            asked = {**GOOD, field.removesuffix("s"): name}
            assert service.post("/v1/assemble", json=asked).status_code == 200, (field, name)


def test_a_recipe_comes_back_as_it_is_taken(service):
    """P2, F3: what `/v1/recipes/NAME` shows makes the same context, inline."""
    by_name = service.post("/v1/assemble", json={**GOOD, "recipe": "tight"}).json()
    shown = service.get("/v1/recipes/tight").json()

    inline = service.post("/v1/assemble", json={**GOOD, "recipe": shown["recipe"]}).json()

    for answer in (inline, by_name):
        del answer["manifest"]["when"]  # the two may be made in different seconds
    assert inline == by_name
    assert shown["toml"].startswith('name = "tight"')
    names = [one["name"] for one in service.get("/v1/recipes").json()["recipes"]]
    assert names == service.get("/v1/me").json()["recipes"]


def test_many_comparisons_in_one_recipe_are_refused(service):
    """X2: stages that compare all texts with one another are few, whatever the recipe says."""
    near = {"use": "dedup_near", "method": "jaccard"}
    recipe = {"name": "slow", "stages": [near] * 31, "format": "numbered"}
    answer = sent(service, json.dumps({**GOOD, "recipe": recipe}))
    fine = sent(service, json.dumps({**GOOD, "recipe": {**recipe, "stages": [near] * 4}}))

    assert (answer.status_code, fine.status_code) == (400, 200)
    assert "dedup_near" in problem(answer)["detail"]
