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
StoreUrl = Annotated[str, typer.Option("--store", metavar="URL", help="The store.")]


@app.command(short_help="Say what a store holds, and its bytes on disk.")
def stats(
    store: StoreUrl = str(STORE), principal: Principals = None, as_json: Json = False
) -> None:
    """What a store holds: documents, chunks, vectors, bytes on disk by part, the state root.

    With --principal, what that reader may see of it, and no sizes.
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


@app.command(short_help="Say whether a store is whole.")
def check(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Whether a store is whole: all that is derived is worked out again and compared.

    Each thing that is wrong is named, and then the exit code is 3. Nothing is changed.
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

    The copy is a store: open it, or move it into the place of a lost one. It is there whole or
    not at all, and what is there already is never replaced. A store on a server is copied by the
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
    """Give back the room that deleted documents left.

    What a search finds and the state root stay as they are. Needs room for a second copy while
    it works. On a server the room is left to what comes next, and a large store gets its index of
    vectors.
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


@app.command(short_help="Index a large store's vectors approximately.")
def approximate(
    store: StoreUrl = str(STORE),
    least: Annotated[
        int, typer.Option(metavar="N", min=1, help="From so many chunks of the same readers on.")
    ] = 1_000_000,
    as_json: Json = False,
) -> None:
    """Build the approximate vector index of a large store; minutes for a million chunks.

    Searches use it from then on, and say in the manifest that they were not exact. Chunks that
    come later are compared one by one, until this is run again. Delete nearby-*.bin to go back.
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


@app.command(short_help="Bring a store of an older version to this one.")
def migrate(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Bring a store that an older version made to this version's schema, whole or not at all.

    Older versions no longer open it; keep a copy where one may be needed (foveate store backup).
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
