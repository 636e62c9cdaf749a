"""What `foveate index` does, once its flags are read: ingest with a progress bar, and report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.adapters.stores import open_store
from foveate.cli.failures import printable
from foveate.cli.layout import wrapped
from foveate.core.errors import BadInput
from foveate.ingest.run import Failure, Progress, Report, ingest

TOKENIZER = "cl100k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A finished run and the store as it is now."""

    store: str
    embedder: str
    state_root: str
    report: Report


def brought_up_to_date(
    paths: Sequence[Path], url: str, embedder: str, *, size: int, overlap: int
) -> Done:
    """Ingest the paths; no store is made before it is certain that there is something to read."""
    for path in paths:
        if not path.exists():
            raise BadInput(f"no such file or folder: {str(path)!r}")
    reader = plugins.embedder(embedder)
    counter = plugins.tokenizer(TOKENIZER)
    store = open_store(url, embedder_name=reader.name, dimensions=reader.dimensions)
    try:
        with _progress() as on_progress:
            report = ingest(
                paths, store, reader, counter, size=size, overlap=overlap, on_progress=on_progress
            )
        root = store.state_root()
    finally:
        store.close()
    return Done(store=url, embedder=reader.name, state_root=root, report=report)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar on a terminal's stderr, and nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    name = TextColumn("{task.description}", markup=False)
    with Progress(
        BarColumn(), MofNCompleteColumn(), name, console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int, files: int, name: str) -> None:
            bar.update(task, completed=done, total=files, description=printable(name)[-50:])

        yield advance


def report_as_json(done: Done) -> dict[str, Any]:
    """The report as one object."""
    return {
        "store": done.store,
        "embedder": done.embedder,
        **asdict(done.report),
        "state_root": done.state_root,
    }


def report_lines(done: Done, width: int) -> list[str]:
    """The report for a person; every file that was left out with its reason."""
    report = done.report
    lines = wrapped(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.deleted} deleted; {report.chunks} chunks written to {done.store}",
        width,
    )
    for what, failures in (("failed", report.failed), ("skipped", report.skipped)):
        if failures:
            lines += [f"{len(failures)} {what}:", *_reasons(failures, width)]
    return lines


def _reasons(failures: Sequence[Failure], width: int) -> Iterator[str]:
    for failure in failures:
        yield from wrapped(f"{failure.path}: {failure.reason}", width, first="  ", rest="    ")
