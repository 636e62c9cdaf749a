"""The tools at `/mcp` of the running service, by the official client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from foveate.service.settings import Settings
from mcp_agents import DOCUMENTS, HIDDEN, Agent, indexed, said, session, transcript
from service_keys import by, id_of, put
from service_server import problem, serving

QUERY = "Which pressure is right?"


@asynccontextmanager
async def carried(url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
    """Messages over HTTP, with these headers, to this machine without a proxy."""
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=600) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


@contextmanager
def visiting(service: httpx.Client, mode: str = "auto", **headers: str) -> Iterator[Agent]:
    """A session with the service."""
    with session(carried(str(service.base_url.join("/mcp")), headers), mode=mode) as agent:
        yield agent


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_works_over_http(service, mode):
    """F4: the same tools, in today's protocol and in the one before."""
    with visiting(service, mode) as agent:
        names = [tool.name for tool in agent.tools()]
        found = agent.call("assemble", query=QUERY, budget=200).structured_content
        marker = found["citations"][0]["marker"]
        answer = f"Keep the pressure between one and two bar [{marker}]."
        checked = agent.call("check_answer", answer=answer, context=found["context"])
        told = agent.refused("assemble", query=QUERY, budget=1)

    assert names == [
        *("assemble", "search", "check_answer", "expand"),
        *("list_documents", "get_document"),
    ]
    assert found["token_count"] <= 200
    assert checked.structured_content["clean"]
    assert "ask again with budget=" in told


def test_an_agent_that_goes_away(service):
    """F4, X2: a call that nobody waits for any more holds up nobody else for good."""
    own = [{"text": f"{n} bar. " * 4_000} for n in range(20)]
    with visiting(service) as agent:
        call = {"query": "bar", "candidates": own}
        running = agent.portal.start_task_soon(agent.client.call_tool, "assemble", call)
        agent.tools()  # the call was sent before it
        running.cancel()
    with visiting(service) as other:
        found = other.call("search", query="pump", limit=1)

    assert "pump.md" in said(found)[0]


HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


def test_no_state_is_kept(service):
    """F4: a request is answered by itself, so that any process can take it."""
    call = {"name": "search", "arguments": {"query": "pump", "limit": 1}}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}

    answer = service.post("/mcp", json=body, headers=HEADERS)

    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    data = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
    assert json.loads(data.removeprefix("data: "))["result"]["isError"] is False
    assert service.get("/mcp", headers=HEADERS).status_code == 405


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"{}", "text/plain", 400),
        (b'"' + b"a" * 16_000_000 + b'"', "application/json", 413),
    ],
    ids=["cut off", "deep", "not UTF-8", "not JSON", "large"],
)
def test_a_body_that_is_no_message(service, content, kind, status):
    """X2, F4: refused, and the service goes on."""
    answer = service.post("/mcp", content=content, headers={**HEADERS, "content-type": kind})

    assert answer.status_code == status
    assert service.get("/readyz").status_code == 200


def test_a_service_without_tools(filled_store):
    """F4: an operator may leave them out."""
    with serving(Settings(store=str(filled_store), mcp=False)) as service:
        answer = service.post("/mcp", json={}, headers=HEADERS)

    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:foveate:problem:not-found"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory) -> Iterator[tuple[httpx.Client, Path]]:
    """A service with keys that logs who asks, two tenants with a store each, and its folder."""
    folder = tmp_path_factory.mktemp("keyed")
    put(folder / "keys")
    for tenant, documents in (("one", [*DOCUMENTS, HIDDEN]), ("two", [{**HIDDEN, "id": "its.md"}])):
        (folder / tenant).mkdir()
        indexed(folder / tenant, documents)
    settings = Settings(
        store=str(folder / "{tenant}" / "store"),
        create=False,
        keys=folder / "keys",
        log_audit=True,
    )
    with serving(settings) as client:
        yield client, folder


def test_a_key_opens_what_it_is_for(keyed):
    """X4, F4: no key and a key for something else are refused; a tool wants its own scope too."""
    service, folder = keyed
    some = put(folder / "keys", scopes=("mcp", "search"), tenant="one")
    other = put(folder / "keys", scopes=("search",), tenant="one")
    asked = [service.post("/mcp", json={}, headers={**HEADERS, **by(other)})]
    asked += [service.post("/mcp", json={}, headers=HEADERS)]
    with visiting(service, **by(some)) as agent:
        names = [tool.name for tool in agent.tools()]
        found = agent.call("search", query="pump")
        with pytest.raises(MCPError, match="unknown tool 'assemble'; known: search"):
            agent.call("assemble", query="pump")

    assert [problem(answer)["status"] for answer in asked] == [403, 401]
    assert names == ["search"]
    assert found.is_error is False


def test_tenant_and_principals_are_those_of_the_key(keyed):
    """X5, F4: nothing of another tenant, nothing that the key may not read."""
    service, folder = keyed
    every = ("mcp", "search", "assemble", "check")
    public = put(folder / "keys", scopes=every, tenant="one")
    staff = put(folder / "keys", scopes=every, tenant="one", principals=("staff",))
    two = put(folder / "keys", scopes=every, tenant="two", principals=("staff",))
    nobody = put(folder / "keys", scopes=every, tenant="three")
    asked = {"query": "spare key of the tank room", "limit": 50}

    found = {}
    for name, key in (("public", public), ("staff", staff), ("two", two)):
        with visiting(service, **by(key)) as agent:
            hits = agent.call("search", **asked).structured_content["candidates"]
            found[name] = {hit["document_id"] for hit in hits}
    with visiting(service, **by(nobody)) as agent:
        told = agent.refused("search", **asked)
    with visiting(service, **by(public)) as agent:
        with_staff = {"query": "pressure", "budget": 200}
        handle = agent.call("assemble", **with_staff).structured_content["context"]
    with visiting(service, **by(two)) as agent:
        stale = agent.refused("check_answer", answer="One bar [1].", context=handle)

    assert (
        found["staff"]
        == found["public"] | {"vault.md"}
        == {d["id"] for d in DOCUMENTS} | {"vault.md"}
    )
    assert found["two"] == {"its.md"}
    assert "/" not in told
    assert "cannot be made again" in stale


def test_who_asked_is_kept(keyed, caplog):
    """X4, F4: the audit has the key, the state and the manifest of a call, and no word of it."""
    service, folder = keyed
    key = put(
        folder / "keys", scopes=("mcp", "assemble", "search"), tenant="one", principals=("staff",)
    )
    with caplog.at_level("INFO", "foveate.audit"), visiting(service, **by(key)) as agent:
        agent.call("search", query="pump")
        agent.call("assemble", query="Where is the valve?")
        agent.call("search", query="its line is behind those above")

    lines = [record.fields for record in caplog.records if record.name == "foveate.audit"]
    found = [one for one in lines if one["key"] == id_of(key) and "state_root" in one]
    searched, made = found[:2]
    assert searched["endpoint"] == made["endpoint"] == "POST /mcp"
    assert searched["state_root"] == made["state_root"]
    assert set(made["manifests"][0]) == {"recipe_hash", "inputs_hash", "output_hash"}
    assert made["principals"] == ["staff"]
    assert "valve" not in str(lines)


def test_the_example_talks_to_the_service(keyed):
    """F4: the transcript over HTTP, with a key."""
    service, folder = keyed
    key = put(folder / "keys", scopes=("mcp", "assemble", "search", "check"), tenant="one")

    shown = transcript(str(service.base_url.join("/mcp")), FOVEATE_KEY=key)

    assert "-> check_answer" in shown
    assert key not in shown
