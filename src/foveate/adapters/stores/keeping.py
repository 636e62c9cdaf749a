"""Looking after a store, whichever engine it is on: what `foveate store` needs, by URL."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Protocol, cast

from foveate.adapters.stores import folder_of, on_lance, on_server, open_store
from foveate.adapters.stores.report import Report, Stats
from foveate.core.errors import BadOption
from foveate.ports import Store


class Kept(Store, Protocol):
    """A store that can be looked after."""

    def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""

    def compact(self) -> None:
        """Give back the room that deleting left."""


def kept(url: str, *, migrate: bool | None = None) -> closing[Kept]:
    """The store, which must exist, to be closed; raises `BadOption` where it has no figures."""
    store = open_store(url, create=False, migrate=migrate)
    if not (hasattr(store, "stats") and hasattr(store, "compact")):
        store.close()
        raise BadOption("this store cannot be looked after here; use its server's own tools")
    return closing(cast("Kept", store))


def check(url: str) -> Report:
    """Work out again all that is derived; raises `BadInput` where there is no store."""
    if on_server(url):
        from foveate.adapters.stores.postgres import PostgresStore

        with PostgresStore(url, create=False) as store:
            return store.check()
    if on_lance(url):
        from foveate.adapters.stores.lance import LanceStore

        with LanceStore(url, create=False) as shelf:
            return shelf.check()
    from foveate.adapters.stores.check import check as checked

    return checked(folder_of(url))


def backup(url: str, to: Path) -> None:
    """Copy an embedded store; raises `BadOption` for one on a server, naming what copies it."""
    if on_server(url):
        from foveate.adapters.stores.postgres.url import address

        raise BadOption(
            "a store on a server is copied by the server's own tools: "
            f"pg_dump --format=custom --schema={address(url).schema} --file=FILE, "
            "and brought back by pg_restore; docs/postgres.md says how"
        )
    if on_lance(url):
        raise BadOption(
            "a distributed store is copied by the object store's own tools, while nobody compacts "
            "it; docs/lance.md says how"
        )
    from foveate.adapters.stores.backup import backup as copied

    copied(folder_of(url), to)


def approximate(url: str, least: int) -> int:
    """Build an embedded store's approximate indexes; how many. Raises `BadOption` for another."""
    from foveate.adapters.stores.sqlite import SqliteStore

    with kept(url) as store:
        if not isinstance(store, SqliteStore):
            raise BadOption(
                "this store makes its index of vectors in foveate store compact, once it is large"
            )
        return store.approximate(least=least)


def size_of(url: str) -> int:
    """Bytes that a store takes: the files of its folder, or its tables and indexes."""
    if not (on_server(url) or on_lance(url)):
        return sum(path.stat().st_size for path in folder_of(url).iterdir() if path.is_file())
    with kept(url) as store:
        return sum(store.stats().bytes.values())
