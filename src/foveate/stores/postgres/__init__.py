"""The server store: PostgreSQL with pgvector, for a thread and for an event loop."""

from foveate.stores.postgres.store import AsyncPostgresStore, PostgresStore

__all__ = ["AsyncPostgresStore", "PostgresStore"]
