"""What a call over HTTP works with: the caller's own, and nothing of another one's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.mcp.http import _authentication
from foveate.service.mcp.server import read_arguments
from foveate.service.settings import Settings

ASKED = {"query": "How deep is the well?"}
TEXT = "The well is nine metres deep."


@pytest.fixture
def held(tmp_path: Path) -> Iterator[AppState]:
    """A service's holdings, with a store for each tenant and one cache for all."""
    store = str(tmp_path / "{tenant}")
    found = AppState(Settings(store=store, embedder="hashing", cache="memory:8"))
    yield found
    found.stores.close()


def visit(held: AppState, tenant: str, *scopes: str) -> Any:
    """As the key of this tenant is received."""
    caller = Caller(key_id="k", tenant=tenant, principals=("staff",), scopes=frozenset(scopes))
    return _authentication(held)(SimpleNamespace(scope={"state": {"caller": caller}}))


def test_what_is_kept_for_one_tenant_is_not_there_for_another(held: AppState) -> None:
    """D5, X5, F4: equal documents have equal states, and yet each tenant makes its own context."""
    from foveate.service.routes.documents import prepare_document, write_document
    from foveate.service.wire.requests import DocumentRequest

    for tenant in ("acme", "umbra"):
        caller = Caller(key_id="k", tenant=tenant, principals=(), scopes=frozenset())
        write_document(
            held, caller, prepare_document(held, caller, "well", DocumentRequest(text=TEXT))
        )
    hits = []
    for tenant in ("acme", "acme", "umbra"):
        before = held.cache.stats().hits if held.cache else 0
        desk = visit(held, tenant, "assemble")
        read_arguments(desk.tools[0], ASKED).run(desk)
        hits.append((held.cache.stats().hits if held.cache else 0) - before)

    assert hits == [0, 1, 0]


def test_a_desk_reads_as_its_caller_and_has_its_tools(held: AppState) -> None:
    """X4, F4: principals of the key, tools of its scopes."""
    found = visit(held, "acme", "mcp", "search")

    assert found.principals == ("staff",)
    assert [tool.name for tool in found.tools] == ["search"]
