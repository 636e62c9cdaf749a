"""`foveate store`: statistics, checks, copies and upkeep of a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foveate.cli.failures import INPUT
from foveate.cli.options import STORE, Json, Principals

if TYPE_CHECKING:
    from foveate.stores.report import Report, Stats


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
    from foveate.cli.output import terminal_width
    from foveate.stores.maintenance import open_for_maintenance

    with open_for_maintenance(store) as opened:
        found = opened.stats(principals=principal)
    _write(store, asdict(found), stats_lines(found, terminal_width()), as_json=as_json)


@app.command(short_help="Say whether a store is whole.")
def check(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Whether a store is whole: all that is derived is worked out again and compared.

    Each thing that is wrong is named, and then the exit code is 3. Nothing is changed.
    """
    from foveate.cli.output import terminal_width
    from foveate.stores import maintenance

    report = maintenance.check(store)
    record = {"ok": not report.findings, **asdict(report)}
    _write(store, record, report_lines(report, terminal_width()), as_json=as_json)
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
    from foveate.stores import maintenance

    maintenance.backup(store, to)
    size = maintenance.store_bytes(str(to))
    record = {"copy": str(to), "bytes": size}
    _write(store, record, [f"copied to {to}: {format_bytes(size)}"], as_json=as_json)


@app.command()
def compact(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Give back the room that deleted documents left.

    What a search finds and the state root stay as they are. Needs room for a second copy while
    it works. On a server the room is left to what comes next, and a large store gets its index of
    vectors.
    """
    from foveate.stores import maintenance

    with maintenance.open_for_maintenance(store) as opened:
        before = maintenance.store_bytes(store)
        opened.compact()
    after = maintenance.store_bytes(store)
    line = f"{format_bytes(before)} before, {format_bytes(after)} now"
    _write(store, {"bytes_before": before, "bytes_after": after}, [line], as_json=as_json)


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
    from foveate.stores import maintenance

    built = maintenance.build_vector_indexes(store, least)
    none = f"none built: no {least:,} chunks have the same readers"
    _write(store, {"built": built}, [f"{built} built" if built else none], as_json=as_json)


@app.command(short_help="Bring a store of an older version to this one.")
def migrate(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Bring a store that an older version made to this version's schema, whole or not at all.

    Older versions no longer open it; keep a copy where one may be needed (foveate store backup).
    """
    from foveate.stores.maintenance import open_for_maintenance

    with open_for_maintenance(store, migrate=True) as opened:
        found = opened.stats()
    record = {"schema": found.schema, "state_root": found.state_root}
    line = f"schema {found.schema}, state root {found.state_root}"
    _write(store, record, [line], as_json=as_json)


def _write(store: str, record: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    from foveate.cli.output import write_result
    from foveate.stores import redact_url

    write_result({"store": redact_url(store), **record}, lines, as_json=as_json)


def stats_lines(found: Stats, width: int) -> list[str]:
    """One figure a line, sizes by part at the end."""
    from foveate.cli.show import format_columns

    pairs = [
        ("documents", f"{found.documents:,}"),
        ("chunks", f"{found.chunks:,}"),
        ("vectors", f"{found.vectors:,}"),
        ("embedder", f"{found.embedder} ({found.dimensions})" if found.embedder else "none"),
        ("schema", f"{found.schema}"),
        ("state root", found.state_root),
    ]
    lines = format_columns(pairs, width, indent="")
    if found.bytes:
        total = sum(found.bytes.values())
        parts = [(name.replace("_", " "), format_bytes(size)) for name, size in found.bytes.items()]
        lines += [f"on disk: {format_bytes(total)}", *format_columns(parts, width)]
    return lines


def report_lines(report: Report, width: int) -> list[str]:
    """A line for each finding, and the numbers of documents and chunks."""
    from foveate.cli.show import wrap_words

    lines = list[str]()
    for finding in report.findings:
        lines += wrap_words(f"{finding.part}: {finding.what}", width, rest="  ")
    looked = f"{report.documents:,} documents, {report.chunks:,} chunks"
    if not report.findings:
        return [f"whole: {looked}, state root {report.state_root}"]
    many = "1 finding" if len(report.findings) == 1 else f"{len(report.findings)} findings"
    return [*lines, f"not whole: {many} in {looked}"]


def format_bytes(size: int) -> str:
    """A size for people.

    >>> format_bytes(999), format_bytes(1_500_000)
    ('999 B', '1.5 MB')
    """
    amount, units = float(size), ["B", "kB", "MB", "GB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:.0f} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"
