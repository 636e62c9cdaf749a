"""The audit: who asked for what state of the store and got which context; nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from command_line import QUERY
from foveate.service.settings import Settings
from http_wire import head, wire
from service_keys import by, id_of, put, take
from service_process import running
from service_server import PAGES, SECRET, serving

ASKED = {"query": QUERY}


@pytest.fixture
def kept(tmp_path, filled_store, caplog) -> Iterator[tuple[httpx.Client, str]]:
    """A service that logs who asks, and a key of the staff."""
    keys = tmp_path / "keys"
    token = put(keys, principals=("staff",))
    settings = Settings(store=str(filled_store), embedder="hashing", keys=keys, log_audit=True)
    with caplog.at_level("INFO", "foveate.audit"), serving(settings) as client:
        client.headers.update(by(token))
        yield client, token


def lines(client, caplog, least: int = 0) -> list[dict[str, object]]:
    """What was logged; waits for so many lines, for they come behind their responses."""
    while True:
        assert client.get("/healthz").status_code == 200
        found = [one.fields for one in caplog.records if one.name == "foveate.audit"]
        if len(found) >= least:
            return found


def test_a_line_says_who_asked_for_what_and_got_which(kept, caplog):
    """X4: key, tenant, principals as asked, endpoint, status, state root and hashes."""
    client, token = kept
    made = client.post("/v1/assemble", json={**ASKED, "principals": []}).json()["manifest"]
    client.head("/v1/recipes/default")
    hashes = {name: made[name] for name in ("recipe_hash", "inputs_hash", "output_hash")}
    who = {"key": id_of(token), "tenant": "default", "status": 200}

    assert lines(client, caplog, 2) == [
        {
            **who,
            "principals": [],
            "endpoint": "POST /v1/assemble",
            "state_root": made["state_root"],
            "manifests": [hashes],
        },
        {**who, "principals": ["staff"], "endpoint": "HEAD /v1/recipes/{name}"},
    ]


def test_it_holds_no_text_no_question_and_no_id(kept, caplog):
    """X4, F7: neither of what was asked nor of what was answered, also where it went wrong."""
    client, _ = kept
    told = "Which-word-is-only-in-the-question"
    client.post("/v1/assemble", json={"query": f"{QUERY} {told} spare key"})
    client.post("/v1/assemble", json={"query": 1, told: 2})
    client.post("/v1/assemble", content=b"{" + told.encode())
    client.get(f"/v1/documents/{told}?q={told}")
    client.put(f"/v1/{told}", content=told)

    found = lines(client, caplog, 5)
    assert len(found) == 5
    for secret in (told, "pressure", SECRET, "staff.md", "boiler", *PAGES):
        assert secret not in str(found)


def test_who_was_not_let_in_and_what_tells_nothing_leaves_no_line(kept, caplog):
    """X4: neither those without a key, who could fill the disk, nor health and the page."""
    client, _ = kept
    for path in ("/healthz", "/readyz", "/playground/", "/openapi.json"):
        client.get(path)
    refused = client.get("/v1/recipes", headers={"Authorization": "Bearer x"})

    assert refused.status_code == 401
    assert lines(client, caplog) == []


def test_a_client_that_leaves_has_a_line_of_its_own_status(kept, caplog):
    """X4: it was let in and asked; that it got no answer is what the line says."""
    client, token = kept
    with wire(client) as raw:
        raw.send(head("POST /v1/assemble", f"Authorization: Bearer {token}", "Content-Length: 9"))

    assert [line["status"] for line in lines(client, caplog, 1)] == [499]


def test_processes_share_keys_and_audit(tmp_path):
    """X4: each of several sees a revoked key at once, and logs who asks at any level."""
    keys = tmp_path / "keys"
    tokens = [put(keys) for _ in range(2)]
    settings = {"keys": keys, "log_audit": True, "log_level": "INFO", "workers": 2}
    with running(tmp_path / "run", store="", **settings) as service:
        base = f"http://{service.address[0]}:{service.address[1]}"

        def ask(token: str) -> int:
            return httpx.get(f"{base}/v1/recipes", headers=by(token), trust_env=False).status_code

        before = [ask(token) for token in tokens * 5]
        take(keys, tokens[0])
        after = [ask(token) for token in tokens * 5]
        service.tell()
        service.ended()
        told = service.said()

    assert before == [200] * 10
    assert after == [401, 200] * 5
    assert told.count('"logger": "foveate.audit"') == 15
    assert not any(token[13:] in told for token in tokens)
