"""Requests that nobody should send, as a table: the request, the status, what the problem names.

That every field of every operation refuses values of other types is what `test_schema.py` tries.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.core.errors import BadInput
from foveate.plugins import embedder
from foveate.service.settings import Settings
from foveate.service.wire.body import parse_strict_json
from foveate.stores import open_store
from http_wire import Headers, request, wire
from service_server import problem, serving, without_time

ASSEMBLE = "/v1/assemble"
GOOD = {"query": QUERY, "candidates": CHUNKS[:3]}
SAID = [{"role": "user", "content": "When does the pump start?"}] * 2
GOOD_AT: dict[str, dict[str, Any]] = {
    ASSEMBLE: GOOD,
    "/v1/search": {"query": QUERY},
    "/v1/compact": {"messages": SAID},
    "/v1/check-answer": {"answer": "It is so [1]."},
    "/v1/replay": {},
}
INTERNAL = ("Traceback", ".py", "site-packages", "foveate.core", "pydantic", "sqlite", "0x7f")


def raw(body: bytes | str, at: str = ASSEMBLE, **headers: str) -> bytes:
    """A POST of this body as it stands; a header's `_` is its `-`."""
    given: Headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return request("POST", at, body if isinstance(body, bytes) else body.encode(), given)


def fields(at: str = ASSEMBLE, **changed: Any) -> bytes:
    """The good request of an endpoint with other fields."""
    return raw(json.dumps({**GOOD_AT[at], **changed}), at)


def candidate(**changed: Any) -> bytes:
    """The good request whose second candidate has these fields."""
    return fields(candidates=[CHUNKS[0], {**CHUNKS[1], **changed}])


def inline(**recipe: Any) -> bytes:
    """The good request with a recipe written out."""
    return fields(recipe={"name": "own", "format": "numbered", **recipe})


NEAR = {"use": "dedup_near", "method": "jaccard"}
MANY = [{"id": f"c{n}", "text": f"Stone {n} lies {n % 97} feet deep."} for n in range(10_001)]
LONG = [None] * 200_000
TEXT = {"text": "a"}
TYPE = "send application/json"
NO_JSON: list[tuple[bytes | str, int, str]] = [
    ("", 422, "bad-fields: the body: is missing"), ("{", 400, "bad-json"),
    ("nope", 400, "bad-json"), ("[1,]", 400, "bad-json"), ("{'query': 1}", 400, "bad-json"),
    ('{"query": "a"} {}', 400, "bad-json"), (b"\xff\xfe{}", 400, "bad-json: the body is not UTF-8"),
    (b'{"query": "\xe9"}', 400, "not UTF-8"),
    ('{"query": "é"}'.encode("latin-1"), 400, "not UTF-8"),
    (json.dumps(GOOD).encode("utf-32-be"), 400, "bad-json"),
    (json.dumps(GOOD).encode("utf-16"), 400, "bad-json"),
    (b'{"query": "\xe2\x82"}', 400, "not UTF-8"), (b'{"query": "\xed\xa0\x80"}', 400, "not UTF-8"),
    ('{"query": "a", "query": "b"}', 400, "bad-json: … query"),
    ('{"query": NaN}', 400, "bad-json query: … finite"),
    ('{"query": "a", "where": {"x": 1e999}}', 400, "bad-json where.x: … finite"),
    ('{"query": "a", "where": {"\\ud800": 1}}', 400, "bad-json where: … surrogate"),
    ('{"query": "a\\ud800b"}', 400, "bad-json query: … surrogate"),
    ('{"candidates": [{"text": "a", "metadata": {"a": NaN}}]}', 400, "bad-json 1.metadata.a"),
    ("[" * 100_000, 400, "bad-json"), ('{"a":' * 200, 400, "bad-json"),
    ("[" * 40_000 + "]" * 40_000, 400, "bad-json"), ("1" * 5_000, 400, "bad-json"),
    ('{"query": "a\nb"}', 400, "bad-json"), (f'{{"budget": {"9" * 5_000}}}', 400, "bad-json"),
    *((one, 422, "bad-fields: the body: must be an object")
      for one in ("null", "7", '"text"', "[]", "[[]]", "true")),
]  # fmt: skip
ROWS: list[tuple[bytes, int, str]] = [
    *((raw(body), status, said) for body, status, said in NO_JSON),
    *((raw(json.dumps(GOOD), Content_Type=kind), 415, TYPE)
      for kind in ("text/plain", "application/x-www-form-urlencoded", "", "x", "a/b;")),
    *((raw(json.dumps(GOOD), Content_Type=f"application/json; charset={one}"), 415, "as UTF-8")
      for one in ("utf-16", '"UTF-16LE"', "latin-1", "utf-7", "'utf-8'")),
    *((raw(json.dumps(GOOD), Content_Type=f"application/{one}"), 200, "") for one in (
        "json", "json; charset=utf-8", 'json;Charset="UTF8"; x=y', "json; charset=us-ascii",
        "vnd.x+json")),
    # candidates, by line and field
    (candidate(text=None), 400, "bad-input 2.text"), (candidate(text=7), 400, "bad-input 2.text"),
    (candidate(score="high"), 400, "2.score"), (candidate(score=True), 400, "2.score"),
    (candidate(score=float("nan")), 400, "bad-json 2.score"),
    (candidate(page=-1), 400, "2.page"), (candidate(page=1.5), 400, "2.page"),
    (candidate(start=9, end=3), 400, "2.end"), (candidate(principals="staff"), 400, "2.principals"),
    (candidate(metadata=[]), 400, "2.metadata"), (candidate(title="a\udc00"), 400, "2.title"),
    (candidate(embedding=[]), 400, "2.embedding"), (candidate(id="c1"), 400, "2.id"),
    (candidate(embedding=[1, "x"]), 400, "2.embedding"),
    (candidate(modified_at="today"), 400, "2.modified_at"),
    (candidate(origin="supplement"), 400, "2.origin"),
    (fields(candidates={}), 422, "bad-fields candidates"),
    (fields(candidates=["text"]), 400, "bad-input 1: … object"),
    (fields(candidates=[None]), 400, "bad-input 1: … object"),
    (fields(candidates=MANY, recipe="naive"), 400, "10000 at the most"),
    (fields(candidates=MANY[:-1], recipe="naive"), 200, ""),
    # fields, with the near miss or what to do
    (fields(quary="x"), 400, "unknown-name quary: … did you mean 'query'?"),
    (fields(buget=9), 400, "unknown-name buget: … did you mean 'budget'?"),
    *((fields(query=one), 422, "bad-fields query: ") for one in ("", " \n\t", None, ["a"])),
    *((fields(budget=one), 422, "bad-fields budget: ")
      for one in (0, -5, 10**30, "800", True, 1.5)),
    (fields(budget="x"), 422, "must be a valid integer, or must be an object"),
    (fields(budget={}), 400, "bad-option: … documents"),
    (fields(budget={"documnts": 9}), 400, "unknown-name … did you mean 'documents'?"),
    (fields(budget={"documents": 9_000, "window": 100}), 400, "bad-option: … window"),
    (fields(budget=3), 422, "budget-too-small: … raise the budget"),
    (fields(limit=0), 422, "bad-fields limit"), (fields(limit="9"), 422, "bad-fields limit"),
    (fields(depth=10**9), 422, "bad-fields depth"),
    (fields(recipe="defualt"), 400, "unknown-name: … did you mean 'default'?"),
    (fields(recipe={}), 400, "bad-option: … 'name' is missing"),
    (fields(recipe=[]), 422, "bad-fields recipe"),
    (fields(recipe="x" * 1_000_000), 400, "unknown-name: … x … x"),
    (inline(stages=["pak"]), 400, "unknown-name: … did you mean 'pack'?"),
    (inline(stages=[NEAR] * 31), 400, "bad-option: … dedup_near"),
    (inline(stages=[NEAR] * 4), 200, ""), (inline(stages=["pack"] * 33), 400, "33 stages"),
    (fields(tokenizer="cl100k"), 400, "unknown-name: … did you mean 'cl100k_base'?"),
    (fields(tokenizer="simple", model="gpt-4o"), 400, "bad-option: … not both"),
    (fields(model="gpt-40"), 400, "unknown-name: … did you mean 'gpt-4"),
    (fields(format="numberd"), 400, "unknown-name: … did you mean 'numbered'?"),
    (fields(order="bookends"), 400, "unknown-name: … did you mean 'bookend'?"),
    (fields(language="klingon"), 400, "unknown-name: … language"),
    (fields(language="es", prompt="grounded"), 400, "unknown-name: … language of prompts"),
    (fields(prompt="strikt"), 400, "unknown-name: … did you mean 'strict'?"),
    (fields(channel="smoke"), 422, "bad-fields channel"),
    (fields(messages=[{"role": "user"}]), 422, "bad-fields messages.0.content"),
    (fields(messages=[{"role": "user", "content": "x", "name": "y"}]), 400,
     "unknown-name messages.0.name: unknown field 'name'"),
    (fields(bundle="yes"), 422, "bad-fields bundle"),
    (fields(principals=["board"]), 403, "principals … may not read"),
    (fields(principals=[["staff"]]), 422, "bad-fields principals"),
    (fields(query=1, budget="x", limit=0, channel=7), 422, "query … budget … limit … channel"),
    # messages of agents, and what a provider counted
    (fields("/v1/compact"), 400, "bad-option: … budget"),
    (fields("/v1/compact", budget=9, tokenizer="none"), 400, "unknown-name: … 'none'"),
    (fields("/v1/compact", budget=9, messages=[]), 422, "bad-fields messages"),
    (fields("/v1/compact", budget=9, messages=[{"content": "x"}]), 400, "role"),
    (fields("/v1/compact", model="gpt-4.1", tokenizer="simple"), 400, "not both"),
    (fields("/v1/compact", budget=900, pinned=[7]), 400, "pinned"),
    (fields("/v1/compact", budget=3), 422, "budget-too-small"),
    # one context, and one bundle or two
    *((fields("/v1/check-answer", **given), 400, "bad-input context")
      for given in ({}, {"context": {}, "bundle": {}})),
    *((fields("/v1/replay", **given), 400, "bad-input bundle")
      for given in ({}, {"a": {}}, {"b": {}}, {"bundle": {}, "a": {}, "b": {}})),
    # filters: refused by their shape, or nothing is found
    *((fields("/v1/search", where=one), 422, "bad-fields where") for one in (
        {"source": None}, {"source": {"x": 1}}, {"source": [[]]}, [],
        {f"k{n}": 1 for n in range(33)}, {"a": list(range(600)), "b": list(range(401))})),
    (fields("/v1/search", where={"page": 10**30}), 400, "bad-input: … too large"),
    *((fields("/v1/search", where=one), 200, "") for one in (
        {"team": "nobody"}, {"source": []}, {"": ""}, {"a\x00b": "c"},
        {"x'; DROP TABLE chunks; --": 1}, {f"k{n}": list(range(31)) for n in range(32)})),
    # one fault is said of a long list, before what is in it is looked at
    *((fields("/v1/search", **{name: value}), 422, f"bad-fields {name}: {name}: must have")
      for name, value in (("where", {"a": LONG}), ("principals", LONG))),
    (fields(messages=LONG), 422, "bad-fields messages: messages: must have at most"),
    (request("PUT", "/v1/documents/x", json.dumps({**TEXT, "principals": LONG}).encode()), 422,
     "bad-fields principals: principals: must have at most"),
    # other methods, and addresses that lead nowhere
    *((request(method, at), 405, "method-not-allowed") for method, at in (
        ("GET", ASSEMBLE), ("DELETE", "/v1/recipes"), ("POST", "/healthz"), ("POST", "/"),
        ("TRACE", ASSEMBLE), ("PATCH", ASSEMBLE), ("BREW", ASSEMBLE), ("GET" * 50, ASSEMBLE))),
    *((request("GET", at), 404, "not-found") for at in (
        "/v1", "/v2/me", "/v1/me/", "/redoc", "/etc/passwd", "/../etc/passwd", "//healthz",
        "/playground/../../etc/passwd", "/playground/%2e%2e/%2e%2e/app.py", "/%00", "/%ff", "/%",
        "/playground/..%2f..%2fapp.py", "/v1/recipes/..%2f..%2fetc%2fpasswd", "/docs%5cx",
        "/" + "a/" * 5_000)),
    (request("GET", "/v1/recipes/" + "a" * 5_000), 404, "there is no recipe of this name"),
]  # fmt: skip


def told(service, data: bytes) -> httpx.Response:
    """What is answered; where it is a problem, it is short and tells nothing of ours."""
    with wire(service) as connection:
        found = connection.send(data).answer()
    assert found is not None
    answer = httpx.Response(found.status, headers=found.headers, content=found.body)
    if found.status >= 400:
        said = problem(answer)
        assert not any(word in said["detail"] for word in INTERNAL)
        assert len(found.body) < 5_000
    return answer


@pytest.mark.parametrize(("data", "status", "said"), ROWS, ids=map(str, range(len(ROWS))))
def test_what_is_wrong_is_said_by_its_place(service, data, status, said):
    """I3, X1, X2, T4, F3: with its status, its kind, its line and field, and what to do."""
    answer = told(service, data)

    assert answer.status_code == status, answer.text
    if status < 400:
        return
    found = problem(answer)
    place = ".".join(str(found[name]) for name in ("line", "field") if found.get(name))
    kind = found["type"].rpartition(":")[2]
    others = " ".join(one["field"] for one in found.get("fields", ()))
    line = f"{kind}{' ' * bool(place)}{place}: {found['detail']} {others}"
    assert all(word in line for word in said.split(" … ")), line
    assert ("allow" in answer.headers) == (status == 405)


def test_what_is_no_json_is_a_problem_everywhere(service):
    """X1, X2, F3: on every endpoint that takes a body; the store lives on."""
    described = service.get("/openapi.json").json()["paths"]
    asked = [
        (method.upper(), path.replace("{document_id}", "boiler"))
        for path, methods in described.items()
        for method, operation in methods.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    before = without_time(service.post(ASSEMBLE, json={"query": QUERY}))

    assert len(asked) > 7
    for method, path in asked:
        for body, status, _ in NO_JSON:
            data = raw(body, path).replace(b"POST", method.encode(), 1)
            right = {status, 400, 422} if path != "/v1/documents" else {status, 400, 415, 422}
            assert told(service, data).status_code in right, (method, path, body[:40])
    assert without_time(service.post(ASSEMBLE, json={"query": QUERY})) == before


@pytest.mark.parametrize("path", ["/v1/me?a=%ff", "/v1/documents?limit=%c3", "/v1/recipes/%ff"])
def test_an_address_that_is_not_utf8_is_refused(service, path):
    """X2: 400, also where nothing reads it."""
    assert problem(service.get(path))["detail"] == "the address is not UTF-8"


def test_lists_without_number_are_not_read():
    """X2, X4: three bytes on the wire, a hundred in memory each; brackets in texts do not count."""
    many = b"[" + b"[]," * 500_000 + b"[]]"
    texts = b'{"a": "' + b'{[\\"' * 300_000 + b'"}'

    with pytest.raises(BadInput, match="more than 500,000 lists and objects"):
        parse_strict_json(many)
    assert parse_strict_json(texts) == {"a": '{["' * 300_000}


def test_without_a_store_candidates_are_to_be_sent():
    """X2: and no more than are settled."""
    with serving(Settings(store="", candidates=2)) as client:
        many = client.post(ASSEMBLE, json=GOOD)
        alone = client.post(ASSEMBLE, json={"query": QUERY})
        listed = client.get("/v1/documents")

    assert (many.status_code, alone.status_code, listed.status_code) == (400, 404, 404)
    assert "2 at the most" in problem(many)["detail"]
    assert "send candidates along" in problem(alone)["detail"]


def test_a_store_that_cannot_be_opened_is_the_operators_to_see(tmp_path):
    """X1, X4: 503 in general words, for a folder that is no store, or is of another embedder."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "index.sqlite").write_text("not a database", encoding="utf-8")
    open_store(tmp_path / "old", embedder_name="hashing-256@0", dimensions=256).close()
    open_store(tmp_path / "new", embedder_name=embedder("hashing").name, dimensions=256).close()
    for name, create in (("notes", False), ("nowhere", False), ("old", True)):
        with serving(Settings(store=str(tmp_path / name), create=create)) as client:
            answer = client.post(ASSEMBLE, json={"query": QUERY})
        assert answer.status_code == 503
        assert name not in answer.text
        assert str(tmp_path) not in problem(answer)["detail"]


def test_what_me_and_recipes_show_is_taken(service):
    """P2, F3: each name that `/v1/me` lists, and what `/v1/recipes/NAME` shows, inline."""
    me = service.get("/v1/me").json()
    assert (me["key"], me["tenant"], me["principals"]) == (None, "default", ["staff"])
    assert me["store"] is True
    for field in ("tokenizers", "formats", "orders", "recipes"):
        for name in me[field]:
            asked = {**GOOD, field.removesuffix("s"): name}
            assert service.post(ASSEMBLE, json=asked).status_code == 200, (field, name)

    shown = service.get("/v1/recipes/tight").json()
    answers = [
        service.post(ASSEMBLE, json={**GOOD, "recipe": recipe})
        for recipe in ("tight", shown["recipe"])
    ]

    assert without_time(answers[0]) == without_time(answers[1])
    assert shown["toml"].startswith('name = "tight"')
    assert [one["name"] for one in service.get("/v1/recipes").json()["recipes"]] == me["recipes"]
