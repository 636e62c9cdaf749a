"""What a server store asks the server for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foveate.stores.postgres.statements import StoreContext
from foveate.stores.sql.database import Statement


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Statement, ...]]:
    """The statements of each round trip, from now on."""
    found: list[tuple[Statement, ...]] = []
    on = StoreContext.on

    def recorded(context, connection, **options):
        made = on(context, connection, **options)

        def run(*statements):
            found.append(statements)
            return made.run(*statements)

        return replace(made, run=run)

    monkeypatch.setattr(StoreContext, "on", recorded)
    return found
