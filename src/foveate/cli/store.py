"""`foveate store`: statistics, documents, checks, copies and upkeep of a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foveate.cli import output
from foveate.cli.failures import INPUT
from foveate.cli.options import STORE, Json, Principals, argument, option

if TYPE_CHECKING:
    from foveate.stores.base import Report, Stats


app = typer.Typer(
    help="Inspect, check, copy and maintain a store.",
    rich_markup_mode=None,
)
StoreUrl = Annotated[str, option("URL", "The store.")]


@app.command(short_help="Show what a store holds and its size on disk.")
def stats(
    store: StoreUrl = str(STORE), principal: Principals = None, as_json: Json = False
) -> None:
    """Show what a store holds: documents, chunks, vectors, sizes on disk, the state root.

    With --principal only what that reader may see is counted, without sizes.
    """
    from foveate.stores import open_store

    with open_store(store, create=False) as opened:
        found = opened.stats(principals=principal)
    _write(store, asdict(found), stats_lines(found, output.terminal_width()), as_json=as_json)


@app.command("list", short_help="List the documents by their ids.")
def list_documents(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """List the ids of all documents, whoever may read them."""
    from foveate.stores import open_store

    with open_store(store, create=False) as opened:
        names = [name for name, _ in opened.documents()]
    _write(store, {"documents": names}, names, as_json=as_json)


@app.command(short_help="Delete documents by their ids.")
def delete(
    ids: Annotated[list[str], argument("ID...", "Ids, as `foveate store list` gives them.")],
    store: StoreUrl = str(STORE),
    as_json: Json = False,
) -> None:
    """Delete documents with their chunks; if an id is not there, nothing is deleted.

    `foveate index` brings a document back while its file is in the folder.
    """
    from foveate.core.errors import BadInput
    from foveate.stores import open_store

    asked = list(dict.fromkeys(ids))
    with open_store(store, create=False) as opened:
        known = {name for name, _ in opened.documents()}
        for name in asked:
            if name not in known:
                alike = [one for one in sorted(known) if one.endswith(f"/{name}")]
                advice = f"did you mean {alike[0]!r}?" if alike else "its ids: foveate store list"
                raise BadInput(f"there is no document {name!r} in {store!r}; {advice}")
        for name in asked:
            opened.delete(name)
    _write(store, {"deleted": asked}, [f"{len(asked)} deleted"], as_json=as_json)


@app.command(short_help="Check a store for damage.")
def check(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Check a store for damage: all derived data is computed again and compared.

    Each fault is listed, and the exit code is then 3. Nothing is changed.
    """
    from foveate.stores import maintenance

    report = maintenance.check(store)
    record = {"ok": not report.findings, **asdict(report)}
    _write(store, record, report_lines(report, output.terminal_width()), as_json=as_json)
    if report.findings:
        raise typer.Exit(INPUT)


@app.command(short_help="Copy a store while others read and write.")
def backup(
    to: Annotated[Path, argument("DIR", "The new folder for the copy.")],
    store: StoreUrl = str(STORE),
    as_json: Json = False,
) -> None:
    """Copy a store as it is at one moment, while others read and write.

    The copy is a store: open it, or move it to the place of a lost one. It is complete or not
    there at all, and it never replaces an existing folder. A store on a server is copied with the
    server's own tools.
    """
    from rich.filesize import decimal

    from foveate.stores import maintenance

    maintenance.backup(store, to)
    size = maintenance.store_bytes(str(to))
    record = {"copy": str(to), "bytes": size}
    _write(store, record, [f"copied to {to}: {decimal(size)}"], as_json=as_json)


@app.command()
def compact(store: StoreUrl = str(STORE), as_json: Json = False) -> None:
    """Free the disk space of deleted documents.

    Search results and the state root stay the same. The command needs disk space for a second
    copy while it works. On a server the space is kept for later writes, and a large store gets its
    index of vectors.
    """
    from rich.filesize import decimal

    from foveate.stores import maintenance, open_store

    with open_store(store, create=False) as opened:
        before = maintenance.store_bytes(store)
        opened.compact()
    after = maintenance.store_bytes(store)
    line = f"{decimal(before)} before, {decimal(after)} now"
    _write(store, {"bytes_before": before, "bytes_after": after}, [line], as_json=as_json)


def _write(store: str, record: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    from foveate.stores import redact_url

    output.write_result({"store": redact_url(store), **record}, lines, as_json=as_json)


def stats_lines(found: Stats, width: int) -> list[str]:
    """One figure a line, sizes by part at the end."""
    from rich.filesize import decimal

    from foveate.cli.layout import format_columns

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
        parts = [(name.replace("_", " "), decimal(size)) for name, size in found.bytes.items()]
        lines += [f"on disk: {decimal(total)}", *format_columns(parts, width)]
    return lines


def report_lines(report: Report, width: int) -> list[str]:
    """A line for each finding, and the numbers of documents and chunks."""
    from foveate.cli.layout import wrap_words

    lines = list[str]()
    for finding in report.findings:
        lines += wrap_words(f"{finding.part}: {finding.what}", width, rest="  ")
    looked = f"{report.documents:,} documents, {report.chunks:,} chunks"
    if not report.findings:
        return [f"whole: {looked}, state root {report.state_root}"]
    many = "1 finding" if len(report.findings) == 1 else f"{len(report.findings)} findings"
    return [*lines, f"not whole: {many} in {looked}"]
