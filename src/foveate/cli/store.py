"""`foveate store`: what a store holds, whether it is whole, a copy of it. For whoever keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.failures import INPUT
from foveate.cli.options import STORE, Json, Principals

app = typer.Typer(
    help="Inspect, check, copy and maintain a store.",
    rich_markup_mode=None,
)
StoreUrl = Annotated[str, typer.Option("--store", metavar="URL", help="The store.")]


@app.command(short_help="Show what a store holds and its size on disk.")
def stats(
    store: StoreUrl = str(STORE), principal: Principals = None, as_json: Json = False
) -> None:
    """Show what a store holds: documents, chunks, vectors, sizes on disk, the state root.

    With --principal only what that reader may see is counted, without sizes.
    """
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.store_output import stats_lines
    from foveate.stores import redact_url
    from foveate.stores.maintenance import open_for_maintenance

    with open_for_maintenance(store) as shelf:
        found = shelf.stats(principals=principal)
    if as_json:
        output.write_json({"store": redact_url(store), **asdict(found)})
        return
    for line in stats_lines(found, output.terminal_width()):
        output.write_line(line)


@app.command(short_help="Check a store for damage.")
def check(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Check a store for damage: all derived data is computed again and compared.

    Each fault is listed, and the exit code is then 3. Nothing is changed.
    """
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.store_output import report_lines
    from foveate.stores import maintenance, redact_url

    report = maintenance.check(store)
    if as_json:
        output.write_json({"store": redact_url(store), "ok": not report.findings, **asdict(report)})
    else:
        for line in report_lines(report, output.terminal_width()):
            output.write_line(line)
    if report.findings:
        raise typer.Exit(INPUT)


@app.command(short_help="Copy a store while others read and write.")
def backup(
    to: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder for the copy.")],
    store: StoreUrl = str(STORE),
    as_json: Json = False,
) -> None:
    """Copy a store as it is at one moment, while others read and write.

    The copy is a store: open it, or move it to the place of a lost one. It is complete or not
    there at all, and it never replaces an existing folder. A store on a server is copied with the
    server's own tools.
    """
    from foveate.cli import output
    from foveate.cli.store_output import format_bytes
    from foveate.stores import maintenance

    maintenance.backup(store, to)
    size = maintenance.store_bytes(str(to))
    if as_json:
        output.write_json({"store": store, "copy": str(to), "bytes": size})
    else:
        output.write_line(f"copied to {to}: {format_bytes(size)}")


@app.command()
def compact(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Free the disk space of deleted documents.

    Search results and the state root stay the same. The command needs disk space for a second
    copy while it works. On a server the space is kept for later writes, and a large store gets its
    index of vectors.
    """
    from foveate.cli import output
    from foveate.cli.store_output import format_bytes
    from foveate.stores import maintenance, redact_url

    with maintenance.open_for_maintenance(store) as shelf:
        before = maintenance.store_bytes(store)
        shelf.compact()
    after = maintenance.store_bytes(store)
    if as_json:
        output.write_json(
            {"store": redact_url(store), "bytes_before": before, "bytes_after": after}
        )
    else:
        output.write_line(f"{format_bytes(before)} before, {format_bytes(after)} now")


@app.command(short_help="Build an approximate vector index of a large store.")
def approximate(
    store: StoreUrl = str(STORE),
    least: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Fewest chunks with the same readers that get an index."
        ),
    ] = 1_000_000,
    as_json: Json = False,
) -> None:
    """Build the approximate vector index of a large store; minutes for a million chunks.

    Searches then use the index, and the manifest says that they were not exact. Later chunks are
    compared one by one until this command runs again. To return, delete nearby-*.bin.
    """
    from foveate.cli import output
    from foveate.stores import maintenance, redact_url

    built = maintenance.build_vector_indexes(store, least)
    if as_json:
        output.write_json({"store": redact_url(store), "built": built})
    elif built:
        output.write_line(f"{built} built")
    else:
        output.write_line(f"none built: no {least:,} chunks have the same readers")


@app.command(short_help="Migrate a store of an older version.")
def migrate(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Migrate a store of an older version to this version's schema, completely or not at all.

    Older versions can no longer open it. Make a copy first if you may need one (foveate store
    backup).
    """
    from foveate.cli import output
    from foveate.stores import redact_url
    from foveate.stores.maintenance import open_for_maintenance

    with open_for_maintenance(store, migrate=True) as shelf:
        found = shelf.stats()
    if as_json:
        output.write_json(
            {"store": redact_url(store), "schema": found.schema, "state_root": found.state_root}
        )
    else:
        output.write_line(f"schema {found.schema}, state root {found.state_root}")
