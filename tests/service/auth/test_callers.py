"""Who is let in, as whom, and for what: from outside, with keys of two tenants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from command_line import QUERY
from foveate.service.app import create_app
from foveate.service.auth.keys import generate_key
from foveate.service.settings import Settings
from http_wire import head, wire
from service_keys import by, id_of, put, take
from service_server import SECRET, filled, problem, serving, without_time

ASKED = {"query": "Where is the spare key of the tank room?"}
CHALLENGE = 'Bearer realm="foveate"'


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A service of two tenants, and keys of theirs."""

    client: httpx.Client
    keys: Path
    staff: str
    guest: str
    other: str
    searcher: str

    def ask(self, token: str, **more: object) -> httpx.Response:
        """Assemble from the store."""
        return self.client.post("/v1/assemble", json={**ASKED, **more}, headers=by(token))


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[House]:
    """`acme` has the pages and the secret, `beta` an empty store."""
    folder = tmp_path_factory.mktemp("house")
    store, keys = filled(folder), folder / "held.jsonl"
    (folder / "stores").mkdir()
    store.rename(folder / "stores" / "acme")
    tokens = {
        "staff": put(keys, tenant="acme", principals=("staff",)),
        "guest": put(keys, tenant="acme"),
        "other": put(keys, tenant="beta", principals=("staff",)),
        "searcher": put(keys, tenant="acme", scopes=("search",)),
    }
    settings = Settings(store=f"{folder}/stores/{{tenant}}", embedder="hashing", keys=keys)
    with serving(settings) as client:
        yield House(client=client, keys=keys, **tokens)


def test_tenant_and_principals_are_the_keys(house):
    """X4, X5: of four keys only that of the reader's tenant and principal brings the secret."""
    found = [house.ask(token).text for token in (house.staff, house.guest, house.other)]

    assert [SECRET in text for text in found] == [True, False, False]
    assert "bar" in house.ask(house.guest, query=QUERY).text


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ({"X-Tenant": "acme", "X-Foveate-Tenant": "acme"}, ""),
        ({"X-Principals": "staff", "X-Principal": "staff", "X-Forwarded-User": "staff"}, ""),
        ({}, "?tenant=acme&principals=staff&principal=staff"),
        ({"Cookie": "tenant=acme; principals=staff"}, ""),
    ],
)
def test_nothing_beside_the_key_says_who_asks(house, headers, address):
    """X4, X5: headers, cookies and addresses that name a tenant or a principal change nothing."""
    for token in (house.guest, house.other):
        plain = house.client.post("/v1/assemble", json=ASKED, headers=by(token))
        asked = house.client.post(
            f"/v1/assemble{address}", json=ASKED, headers={**by(token), **headers}
        )

        assert asked.status_code == plain.status_code
        assert "spare key" not in asked.text
        if plain.status_code == 200:
            assert without_time(asked) == without_time(plain)


def test_a_body_narrows_and_never_widens(house):
    """X4, X5: fewer principals than the key's are read as; others are 403; a tenant is no field."""
    narrowed = house.ask(house.staff, principals=[])
    widened = house.ask(house.guest, principals=["staff"])
    strange = house.ask(house.staff, principals=["staff", "board"])
    tenant = house.ask(house.other, tenant="acme")

    assert SECRET not in narrowed.text
    assert without_time(narrowed) == without_time(house.ask(house.guest))
    assert [widened.status_code, strange.status_code] == [403, 403]
    assert problem(widened)["detail"] == problem(strange)["detail"]
    assert tenant.status_code == 400


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        "Basic Zm92OnNlY3JldA==",
        "Token fov_aaaaaaaa_b",
        f"Bearer fov_aaaaaaaa_{'a' * 43}",
        "Bearer " + "a" * 5_000,
        "Bearer \u00e9".encode("latin-1"),
    ],
)
def test_nobody_gets_in_without_a_key(house, value):
    """X4: 401, and how to send a key; the answer is one for all keys that do not count."""
    headers = {} if value is None else {"Authorization": value}
    answer = house.client.post("/v1/assemble", json=ASKED, headers=headers)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith(CHALLENGE)
    assert problem(answer)["type"] == "urn:foveate:problem:key"


def test_everything_but_health_and_the_page_needs_a_key(house):
    """X4: every address of the description, and those that do not exist."""
    app = create_app(Settings(store="", keys=house.keys))
    asked = {
        (method, path.replace("{", "").replace("}", ""))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    asked |= {("get", path) for path in ("/openapi.json", "/nowhere", "/metrics", "/mcp")}
    asked |= {("get", "/healthz/"), ("get", "/playgrounds"), ("post", "/mcp")}
    found = {one: house.client.request(one[0], one[1]).status_code for one in asked}
    free = {one for one, status in found.items() if status != 401}

    assert free == {("get", "/healthz"), ("get", "/readyz")}
    assert house.client.get("/playground/../v1/recipes").status_code == 401
    with wire(house.client) as raw:
        climbing = raw.send(head("GET /playground/../v1/me")).answer()
    with wire(house.client) as raw:
        doubled = raw.send(head("GET //healthz")).answer()
    assert (climbing.status, doubled.status) == (404, 401)


def test_a_scope_that_is_missing_is_named_before_the_body_is_read(house):
    """X4: 403 with the scope, for a body that is fine and for one that is no JSON."""
    headers = {**by(house.searcher), "Content-Type": "application/json"}
    answers = [
        house.client.post("/v1/assemble", content=body, headers=headers)
        for body in (json.dumps(ASKED).encode(), b"{")
    ]

    assert [answer.status_code for answer in answers] == [403, 403]
    for answer in answers:
        assert problem(answer)["scope"] == "assemble"
        assert 'error="insufficient_scope", scope="assemble"' in answer.headers["www-authenticate"]


def test_a_refusal_comes_before_the_body(house):
    """X4: who has no key is told so before a megabyte is sent."""
    with wire(house.client) as raw:
        raw.send(head("POST /v1/assemble", "Content-Length: 1000000"), b"{")
        answer = raw.answer()

    assert answer.status == 401


def test_a_damaged_file_lets_nobody_in_and_is_seen_from_outside(house):
    """X4: 503 for every key, not ready; well again with the file. Nothing of the file is told."""
    whole = house.keys.read_bytes()
    try:
        house.keys.write_bytes(whole[:-20])
        during = [house.ask(house.staff), house.client.get("/readyz")]
    finally:
        house.keys.write_bytes(whole)
    after = [house.ask(house.staff), house.client.get("/readyz")]

    assert [answer.status_code for answer in during] == [503, 503]
    assert all(answer.headers["retry-after"].isdigit() for answer in during)
    assert house.keys.name not in "".join(problem(answer)["detail"] for answer in during)
    assert [answer.status_code for answer in after] == [200, 200]


@pytest.mark.parametrize(
    "address",
    ["/v1/assemble?key={}", "/v1/assemble?q=1&access_token={}", "/v1/{}", "/healthz/{}",
     "/healthz?{}", "/playground/?key={}"],
)  # fmt: skip
def test_a_key_in_an_address_is_refused(house, address):
    """X4: in whatever place of it, spelled with per cent signs or not; one is told to revoke it."""
    for spelled in (house.staff, house.staff.replace("_", "%5F"), house.staff[:16]):
        answer = house.client.post(address.format(spelled), json=ASKED, headers=by(house.staff))

        assert answer.status_code == 400
        assert "revoke it" in problem(answer)["detail"]
        assert house.staff[13:] not in answer.text


def test_two_keys_are_none(house):
    """X4: of two keys nobody chooses one; of two hosts neither."""
    twice = [f"Authorization: Bearer {token}" for token in (house.staff, house.guest)]
    with wire(house.client) as raw:
        keys = raw.send(head("GET /v1/recipes", *twice)).answer()
    with wire(house.client) as raw:
        hosts = raw.send(head("GET /v1/recipes", "Host: localhost", twice[0])).answer()

    assert (keys.status, hosts.status) == (400, 400)
    assert "authorization comes twice" in keys.problem["detail"]


def test_a_key_of_a_tenant_that_has_no_store_is_refused(tmp_path, filled_store):
    """X4, X5: a service of one store has one tenant, and says nothing of it to keys of others."""
    keys = tmp_path / "keys"
    stranger = put(keys, tenant="acme", principals=("staff",))
    with serving(Settings(store=str(filled_store), embedder="hashing", keys=keys)) as client:
        answer = client.post("/v1/assemble", json=ASKED, headers=by(stranger))
        me = client.get("/v1/me", headers=by(stranger)).json()

    assert (answer.status_code, me["store"]) == (403, False)
    assert "spare key" not in answer.text


def test_no_key_is_written_anywhere(tmp_path, filled_store, caplog):
    """X4, F7: logs at their loudest, audit included, and answers hold no secret of any key."""
    caplog.set_level("DEBUG")
    keys = tmp_path / "keys"
    good, gone, unknown = put(keys), put(keys), generate_key()[1]
    take(keys, gone)
    settings = Settings(store=str(filled_store), embedder="hashing", keys=keys, log_audit=True)
    told = []
    with serving(settings) as client:
        for token in (good, gone, unknown):
            told += [
                client.post("/v1/assemble", json={"query": QUERY}, headers=by(token)),
                client.post(f"/v1/assemble?key={token}", json=ASKED, headers=by(token)),
                client.get(f"/v1/documents/{token}", headers=by(token)),
                client.post("/v1/assemble", json={"query": 3}, headers=by(token)),
                client.get("/nowhere", headers={**by(token), "X-Request-Id": token}),
                client.post("/v1/assemble", content=b"{", headers=by(token)),
            ]
    ours = [r for r in caplog.records if not r.name.startswith("http")]  # the client's own
    caught = [str(vars(record)) for record in ours]
    assert caught
    seen = "".join([*(a.text + str(a.headers.multi_items()) for a in told), *caught])

    assert {answer.status_code for answer in told} >= {200, 400, 401, 404, 422}
    for token in (good, gone, unknown):
        assert token[13:] not in seen
    audit = str([vars(record) for record in ours if record.name == "foveate.audit"])
    assert id_of(good) in audit
    assert id_of(unknown) not in audit
