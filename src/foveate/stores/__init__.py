"""Stores, chosen by URL. The engine's file is imported when its scheme is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Store
from foveate.stores.base import BaseStore

SCHEMES = ("file", "sqlite")
"""Schemes of the embedded store; a plain path is one too."""
SERVER_SCHEMES = ("postgresql", "postgres")
"""Of a store on a server."""


def open_store(
    url: str | Path,
    *,
    embedder_name: str = "",
    dimensions: int = 0,
    create: bool = True,
) -> BaseStore:
    """Open the store at a URL; docs/store.md, docs/lance.md and docs/postgres.md list the forms.

    A new store takes `embedder_name` and `dimensions`, or has full text alone; an existing one
    is checked against them. `create=False` refuses to create one. Raises `UnknownName`,
    `BadOption`, and `BadInput`, also for a store that another version made.
    """
    check_embedder_options(embedder_name, dimensions)
    options: dict[str, Any] = {
        "embedder_name": embedder_name,
        "dimensions": dimensions,
        "create": create,
    }
    if is_server_url(url):
        from foveate.stores.postgres.store import PostgresStore

        return PostgresStore(str(url), **options)
    if is_lance_url(url):
        from foveate.stores.lance import LanceStore

        return LanceStore(str(url), **options)
    from foveate.stores.sqlite.store import SqliteStore

    return SqliteStore(folder_from_url(url), **options)


def open_store_for_writing(url: str, *, embedder_name: str = "", dimensions: int = 0) -> Store:
    """The store to index into, created with its first document; raises as `open_store`.

    Until then, reading it raises `StoreNotFound`. If it cannot be created, the first write raises
    `StoreCreationFailed`.
    """
    from foveate.stores.lazy import LazyStore, StoreNotFound

    options: dict[str, Any] = {"embedder_name": embedder_name, "dimensions": dimensions}
    try:
        return open_store(url, **options, create=False)
    except StoreNotFound as error:
        missing = error
        if not is_server_url(url) and not is_lance_url(url):
            from foveate.stores.sqlite.schema import check_folder

            check_folder(folder_from_url(url), create=True)
    return cast("Store", LazyStore(lambda: open_store(url, **options), missing))


def is_lance_url(url: str | Path) -> bool:
    """Whether the URL is of a distributed store: `lance:` or `lance+` an object store."""
    return _split_url(str(url))[0].partition("+")[0] == "lance"


def check_embedder_options(embedder_name: str, dimensions: int) -> None:
    """Raise `BadOption` unless both are given or neither."""
    if dimensions < 0 or bool(embedder_name) != bool(dimensions):
        raise BadOption(
            f"store: embedder {embedder_name!r} with {dimensions} dimensions; give both or neither"
        )


def is_server_url(url: str | Path) -> bool:
    """Whether the URL names a server's store."""
    return _split_url(str(url))[0] in SERVER_SCHEMES


def redact_url(url: str | Path) -> str:
    """A store's URL as it may be shown: without a password."""
    if not is_server_url(url):
        return str(url)
    from foveate.stores.postgres.connect import parse_url

    return parse_url(str(url)).display_url


def folder_from_url(url: str | Path) -> Path:
    """The folder of an embedded store; raises `UnknownName` for a scheme that is not its."""
    scheme, path = _split_url(str(url))
    if scheme not in SCHEMES:
        raise UnknownName(
            "store", f"{scheme}:", [f"{name}:" for name in (*SCHEMES, *SERVER_SCHEMES, "lance")]
        )
    if not path:
        raise BadOption(f"store {str(url)!r} names no folder; write {scheme}:PATH")
    return Path(path)


def _split_url(url: str) -> tuple[str, str]:
    """`scheme:rest`; one letter before a colon is a Windows drive, and so is a path."""
    scheme, colon, rest = url.partition(":")
    if not colon or len(scheme) < 2 or not scheme.replace("+", "").isalnum():
        return "file", url
    return scheme.lower(), rest.removeprefix("//")
