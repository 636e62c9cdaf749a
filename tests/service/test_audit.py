"""The audit: who asked for what state of the store and got which context; nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from command_line import QUERY
from foveate.core.errors import ExternalError
from foveate.service.audit import Audit
from foveate.service.settings import Settings
from http_wire import head, wire
from service_keys import by, id_of, put, take
from service_process import running
from service_server import PAGES, SECRET, problem, serving
from source_tree import PACKAGE

ASKED = {"query": QUERY}


@pytest.fixture
def kept(tmp_path, filled_store) -> Iterator[tuple[httpx.Client, str, Path]]:
    """A service with an audit, a key of the staff, and the file."""
    keys, audit = tmp_path / "keys", tmp_path / "audit.jsonl"
    token = put(keys, principals=("staff",))
    settings = Settings(
        store=str(filled_store), embedder="hashing", keys=keys, audit=audit, audit_sync=True
    )
    with serving(settings) as client:
        client.headers.update(by(token))
        yield client, token, audit


def lines(path: Path) -> list[dict[str, object]]:
    """What the file says, without the times."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(one.pop("when").endswith("Z") for one in found)
    return found


def test_a_head_request_is_noted_with_its_route(kept):
    """X4: HEAD is let in and noted as GET is."""
    client, _, audit = kept
    client.head("/v1/recipes/default")

    assert [line["endpoint"] for line in lines(audit)] == ["HEAD /v1/recipes/{name}"]


def test_a_line_says_who_asked_for_what_and_got_which(kept):
    """X4: key, tenant, principals as asked, endpoint, status, state root and hashes."""
    client, token, audit = kept
    answer = client.post(
        "/v1/assemble", json={**ASKED, "principals": []}, headers={"X-Request-Id": "r1"}
    )
    manifest = answer.json()["manifest"]

    assert lines(audit) == [
        {
            "request": "r1",
            "key": id_of(token),
            "tenant": "default",
            "principals": [],
            "endpoint": "POST /v1/assemble",
            "status": 200,
            "state_root": manifest["state_root"],
            "manifests": [
                {name: manifest[name] for name in ("recipe_hash", "inputs_hash", "output_hash")}
            ],
        }
    ]


def test_it_holds_no_text_no_question_and_no_id(kept):
    """X4, F7: neither of what was asked nor of what was answered, also where it went wrong."""
    client, _, audit = kept
    told = "Which-word-is-only-in-the-question"
    client.post("/v1/assemble", json={"query": f"{QUERY} {told} spare key"})
    client.post("/v1/assemble", json={"query": 1, told: 2})
    client.post("/v1/assemble", content=b"{" + told.encode())
    client.get(f"/v1/documents/{told}?q={told}")
    client.put(f"/v1/{told}", content=told)
    said = audit.read_text()

    assert len(said.splitlines()) == 5
    for secret in (told, "pressure", SECRET, "staff.md", "boiler", *PAGES):
        assert secret not in said


def test_who_was_not_let_in_and_what_tells_nothing_leaves_no_line(kept):
    """X4: neither those without a key, who could fill the disk, nor health and the page."""
    client, _, audit = kept
    for path in ("/healthz", "/readyz", "/playground/", "/openapi.json"):
        client.get(path)
    refused = client.get("/v1/recipes", headers={"Authorization": "Bearer x"})

    assert refused.status_code == 401
    assert audit.read_text() == ""


def test_a_client_that_leaves_has_a_line_without_a_status(kept):
    """X4: it was let in and asked; that it got no answer is what the line says."""
    client, token, audit = kept
    key = f"Authorization: Bearer {token}"
    with wire(client) as raw:
        raw.send(head("POST /v1/assemble", key, "Content-Length: 99"), b"{")
    client.post("/v1/assemble", json=ASKED)
    client.post("/v1/assemble", json=ASKED)
    while len(lines(audit)) < 3:
        client.get("/healthz")

    assert sorted(str(line["status"]) for line in lines(audit)) == ["200", "200", "None"]


@pytest.mark.parametrize("how", ["moved", "copied and cut", "removed"])
def test_the_file_may_be_rotated_either_way(kept, how):
    """X4: no line is lost and none is half, whichever way logs are rotated here; no signal."""
    client, _, audit = kept
    old = audit.with_suffix(".1")
    for number in range(6):
        client.post("/v1/assemble", json=ASKED, headers={"X-Request-Id": f"r{number}"})
        if number == 2 and how == "moved":
            audit.rename(old)
        elif number == 2 and how == "removed":
            old.write_bytes(audit.read_bytes())
            audit.unlink()
        elif number == 2:
            old.write_bytes(audit.read_bytes())
            audit.write_bytes(b"")
    found = [[line["request"] for line in lines(path)] for path in (old, audit)]

    assert found == [["r0", "r1", "r2"], ["r3", "r4", "r5"]]


def test_where_it_cannot_be_written_no_answer_is_given(filled_store):
    """X4: a full disk is 503, and nothing of the answer goes out."""
    settings = Settings(store=str(filled_store), embedder="hashing", audit="/dev/full")
    with serving(settings) as client:
        answer = client.post("/v1/assemble", json=ASKED)
        health = client.get("/healthz")

    assert answer.status_code == 503
    assert problem(answer)["type"] == "urn:foveate:problem:audit"
    assert "bar" not in answer.text
    assert health.status_code == 200


def test_half_a_line_stays_one_line(tmp_path):
    """X4: where the disk takes half a line, the next one begins on a line of its own."""
    path = tmp_path / "audit"
    program = (
        "import resource, sys; from pathlib import Path;"
        "from foveate.service.audit import Audit; from foveate.core.errors import ExternalError;"
        "audit = Audit(Path(sys.argv[1])); audit.write({'n': 1});"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (12, -1));"
        "failed = 0\n"
        "try: audit.write({'n': 2})\n"
        "except ExternalError: failed = 1\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)); audit.write({'n': 3}); print(failed)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        env={"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "1\n"
    assert path.read_text() == '{"n": 1}\n{"n\n{"n": 3}\n'


def test_many_writers_share_one_file(tmp_path):
    """X4: lines of threads and of processes stand whole, one behind another."""
    path = tmp_path / "audit"
    audits = [Audit(path) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: audits[n % 4].write({"n": n, "pad": "x" * 5_000}), range(400)))
    for audit in audits:
        audit.close()

    assert sorted(json.loads(line)["n"] for line in path.read_text().splitlines()) == [*range(400)]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_is_no_start(tmp_path):
    """X4: one hears of it at the start, not with the first request."""
    with pytest.raises(ExternalError, match="cannot be written"):
        Audit(tmp_path / "nowhere" / "audit")


def test_processes_share_keys_and_audit(tmp_path):
    """X4: each of several sees a revoked key at once, and writes to one file, rotated or not."""
    keys, audit = tmp_path / "keys", tmp_path / "audit.jsonl"
    tokens = [put(keys) for _ in range(2)]
    with running(tmp_path / "run", store="", keys=keys, audit=audit, workers=2) as service:
        base = f"http://{service.address[0]}:{service.address[1]}"

        def ask(token: str) -> int:
            return httpx.get(f"{base}/v1/recipes", headers=by(token), trust_env=False).status_code

        before = [ask(token) for token in tokens * 5]
        audit.rename(tmp_path / "audit.1")
        service.tell(signal.SIGHUP)
        take(keys, tokens[0])
        after = [ask(token) for token in tokens * 5]
        told = service.said()

    assert before == [200] * 10
    assert after == [401, 200] * 5
    assert [len(lines(path)) for path in (tmp_path / "audit.1", audit)] == [10, 5]
    assert not any(token[13:] in told for token in tokens)
