"""`foveate index`: files and folders into a store; only what changed is read again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.failures import INPUT
from foveate.cli.options import STORE, EngineName, Json, LimitOptions, RayAddress, Readers
from foveate.core.errors import BadOption


def index(
    *,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files and folders to read.")
    ],
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="Where the store is, or will be.")
    ] = str(STORE),
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="NAME", help="What turns texts into vectors.")
    ] = "wordllama",
    size: Annotated[
        int, typer.Option("--size", metavar="N", help="Tokens of a chunk, at the most.")
    ] = 350,
    overlap: Annotated[
        int, typer.Option("--overlap", metavar="N", help="Tokens of it that the next one repeats.")
    ] = 70,
    limit: LimitOptions = None,
    jobs: Readers = None,
    engine: EngineName = "local",
    address: RayAddress = None,
    summaries: Annotated[
        bool,
        typer.Option("--summaries", help="Give each document a summary, unless it brings one."),
    ] = False,
    questions: Annotated[
        bool,
        typer.Option(
            "--questions/--no-questions", help="Index chunks under the questions they answer too."
        ),
    ] = True,
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="M", help="What writes summaries and questions [their own words]."
        ),
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and index again whenever something changes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Index files and folders into a store.

    Only what changed is read again; what is gone is deleted. A file that cannot be read is
    reported with its reason and the rest go on (exit code 3 only where none could be read). Limits:
    file_bytes, unpacked_bytes, ratio, members, depth, pages, rows, cell_chars, text_chars, chunks,
    attachments, seconds, memory_bytes; what is over one is said with its name.

    Summaries and questions are made of a document's own words: its headings, what it asks, its
    title. With --model a model writes them, and what it does not write, or writes with numbers of
    its own, stays as it was, which is reported.

    With --watch, a line for each time that something was changed (one JSON object with --json),
    until Ctrl-C, which ends with 0. A folder that is gone or empty keeps its documents.

    With --engine ray, the workers of a Ray cluster read the files, and this process writes them,
    256 documents at a time: for bulk. They must see the files at the same place.
    """
    from foveate.cli.index_run import open_indexer, parse_limits, write_report
    from foveate.ingest import Enrich

    if watch and engine != "local":
        raise BadOption("--watch reads few files at a time; leave out --engine")
    limits = parse_limits(limit or ())
    with open_indexer(
        paths,
        store,
        embedder,
        size=size,
        overlap=overlap,
        limits=limits,
        enrich=Enrich(summaries=summaries, questions=questions),
        model=model,
        jobs=jobs,
        engine=engine,
        address=address,
    ) as into:
        if watch:
            from foveate.cli.index_run import watch_paths

            watch_paths(into, paths, as_json=as_json)
            return
        done = into.run(paths)
    write_report(done, as_json=as_json)
    report = done.report
    if report.failed and not (report.added or report.updated or report.unchanged):
        raise typer.Exit(INPUT)
