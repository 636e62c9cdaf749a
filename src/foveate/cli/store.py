"""`foveate store`: what a store holds, whether it is whole, a copy of it. For whoever keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.failures import INPUT
from foveate.cli.options import STORE, Json, Principals

app = typer.Typer(
    help="Look after a store. What it holds, whether it is whole, a copy of it.",
    rich_markup_mode=None,
)
Url = Annotated[str, typer.Option("--store", metavar="URL", help="The store.")]


@app.command()
def stats(store: Url = str(STORE), principal: Principals = None, as_json: Json = False) -> None:
    """What a store holds: documents, chunks, vectors, bytes on disk by part, the state root.

    With --principal, what that reader may see of it, and no sizes.
    """
    from dataclasses import asdict

    from foveate.adapters.stores import open_store
    from foveate.cli import output
    from foveate.cli.kept import closing_store, stats_lines

    with closing_store(open_store(store, create=False)) as shelf:
        found = shelf.stats(principals=principal)
    if as_json:
        output.write_json({"store": store, **asdict(found)})
        return
    for line in stats_lines(found, output.terminal_width()):
        output.write_line(line)


@app.command()
def check(store: Url = str(STORE), as_json: Json = False) -> None:
    """Whether a store is whole: all that is derived is worked out again and compared.

    Each thing that is wrong is named, and then the exit code is 3. Nothing is changed.
    """
    from dataclasses import asdict

    from foveate.adapters.stores import folder_of
    from foveate.adapters.stores.check import check as checked
    from foveate.cli import output
    from foveate.cli.kept import report_lines

    report = checked(folder_of(store))
    if as_json:
        output.write_json({"store": store, "ok": not report.findings, **asdict(report)})
    else:
        for line in report_lines(report, output.terminal_width()):
            output.write_line(line)
    if report.findings:
        raise typer.Exit(INPUT)


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder for the copy.")],
    store: Url = str(STORE),
    as_json: Json = False,
) -> None:
    """Copy a store as it is at one moment, while others read and write.

    The copy is a store: open it, or move it into the place of a lost one. It is there whole or
    not at all, and what is there already is never replaced.
    """
    from foveate.adapters.stores import folder_of
    from foveate.adapters.stores.backup import backup as copied
    from foveate.cli import output
    from foveate.cli.kept import in_bytes, size_of

    copied(folder_of(store), to)
    if as_json:
        output.write_json({"store": store, "copy": str(to), "bytes": size_of(to)})
    else:
        output.write_line(f"copied to {to}: {in_bytes(size_of(to))}")


@app.command()
def compact(store: Url = str(STORE), as_json: Json = False) -> None:
    """Give back the room that deleted documents left.

    What a search finds and the state root stay as they are. Needs room for a second copy while
    it works.
    """
    from foveate.adapters.stores import folder_of, open_store
    from foveate.cli import output
    from foveate.cli.kept import closing_store, in_bytes, size_of

    folder = folder_of(store)
    with closing_store(open_store(store, create=False)) as shelf:
        before = size_of(folder)
        shelf.compact()
    after = size_of(folder)
    if as_json:
        output.write_json({"store": store, "bytes_before": before, "bytes_after": after})
    else:
        output.write_line(f"{in_bytes(before)} before, {in_bytes(after)} now")


@app.command()
def migrate(store: Url = str(STORE), as_json: Json = False) -> None:
    """Bring a store that an older version made to this version's schema, whole or not at all.

    Older versions no longer open it; keep a copy where one may be needed (foveate store backup).
    """
    from foveate.adapters.stores import open_store
    from foveate.cli import output
    from foveate.cli.kept import closing_store

    with closing_store(open_store(store, create=False, migrate=True)) as shelf:
        found = shelf.stats()
    if as_json:
        output.write_json({"store": store, "schema": found.schema, "state_root": found.state_root})
    else:
        output.write_line(f"schema {found.schema}, state root {found.state_root}")
