"""Looking after a store, whichever engine it is on: what `foveate store` needs, by URL."""

from __future__ import annotations

from pathlib import Path

from foveate.core.errors import BadOption, ExternalError, MissingExtra
from foveate.stores import folder_from_url, is_lance_url, is_server_url, open_store
from foveate.stores.base import Finding, Report
from foveate.stores.checksums import StoreDamaged


def check(url: str) -> Report:
    """Work out again all that is derived; raises `BadInput` where there is no store."""
    try:
        return _checked(url)
    except MissingExtra:
        raise
    except ExternalError as error:  # so that it cannot even be opened
        in_folder = is_lance_url(url) and "://" not in url
        if not (in_folder or isinstance(error, StoreDamaged)):
            raise
        return Report(findings=(Finding(part="file", what=str(error)),))


def _checked(url: str) -> Report:
    if is_server_url(url) or is_lance_url(url):
        with open_store(url, create=False) as store:
            return store.check()
    from foveate.stores.sqlite.check import check as checked

    return checked(folder_from_url(url))


def backup(url: str, to: Path) -> None:
    """Copy an embedded store; raises `BadOption` for one on a server, naming what copies it."""
    if is_server_url(url):
        from foveate.stores.postgres.connect import parse_url

        raise BadOption(
            "a store on a server is copied by the server's own tools: "
            f"pg_dump --format=custom --schema={parse_url(url).schema} --file=FILE, "
            "and brought back by pg_restore; docs/postgres.md says how"
        )
    if is_lance_url(url):
        raise BadOption(
            "a distributed store is copied by the object store's own tools, while it is "
            "not being compacted; docs/lance.md says how"
        )
    from foveate.stores.sqlite.backup import backup as copied

    copied(folder_from_url(url), to)


def store_bytes(url: str) -> int:
    """Bytes that a store takes: the files of its folder, or its tables and indexes."""
    with open_store(url, create=False) as store:
        return sum(store.stats().bytes.values())
