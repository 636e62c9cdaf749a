"""The server store: PostgreSQL with pgvector."""

from foveate.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
