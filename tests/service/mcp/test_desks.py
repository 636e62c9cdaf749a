"""What a call over HTTP works with: the caller's own, and nothing of another one's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from foveate.service.auth.caller import Caller
from foveate.service.held import Held
from foveate.service.mcp import calls
from foveate.service.mcp.http import _reception
from foveate.service.settings import Settings

ASKED = {"query": "How deep is the well?"}
TEXT = "The well is nine metres deep."


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """A service's holdings, with a store for each tenant and one cache for all."""
    store = str(tmp_path / "{tenant}")
    found = Held(Settings(store=store, embedder="hashing", cache="memory:8"))
    yield found
    found.shelves.close()


def visit(held: Held, tenant: str, *scopes: str) -> Any:
    """As the key of this tenant is received."""
    caller = Caller(key_id="k", tenant=tenant, principals=("staff",), scopes=frozenset(scopes))
    return _reception(held)(SimpleNamespace(scope={"state": {"caller": caller}}))


def test_what_is_kept_for_one_tenant_is_not_there_for_another(held: Held) -> None:
    """D5, X5, F4: equal documents have equal states, and yet each tenant makes its own context."""
    from foveate.service.documents import prepared, written
    from foveate.service.wire.document import DocumentAsked

    for tenant in ("acme", "umbra"):
        caller = Caller(key_id="k", tenant=tenant, principals=(), scopes=frozenset())
        written(held, caller, prepared(held, caller, "well", DocumentAsked(text=TEXT)))
    hits = []
    for tenant in ("acme", "acme", "umbra"):
        before = held.cache.stats().hits if held.cache else 0
        calls.assemble(visit(held, tenant, "assemble").desk, ASKED)
        hits.append((held.cache.stats().hits if held.cache else 0) - before)

    assert hits == [0, 1, 0]


def test_a_desk_reads_as_its_caller_and_has_its_tools(held: Held) -> None:
    """X4, F4: principals of the key, tools of its scopes."""
    found = visit(held, "acme", "mcp", "search")

    assert found.desk.principals == ("staff",)
    assert [tool.name for tool in found.tools] == ["search"]
