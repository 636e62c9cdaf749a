"""The server store: PostgreSQL with pgvector. One set of statements, a sync and an async driver."""

from __future__ import annotations

from foveate.stores.postgres.asynchronous import AsyncPostgresStore
from foveate.stores.postgres.store import PostgresStore

__all__ = ["AsyncPostgresStore", "PostgresStore"]
