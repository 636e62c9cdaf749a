"""What `foveate index` does, once its flags are read: ingest with a progress bar, and report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.adapters.stores import open_store
from foveate.cli.layout import wrapped
from foveate.cli.progress import progress
from foveate.core.errors import BadInput
from foveate.ingest import Limits
from foveate.ingest.chunk import refuse_sizes
from foveate.ingest.run import Failure, Report, ingest, walked
from foveate.ingest.walk import Walk
from foveate.ports import Embedder, Store

TOKENIZER = "cl100k_base"
_MOST_JOBS, _FILES_A_JOB = 8, 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A finished run and the store as it is now."""

    store: str
    embedder: str
    state_root: str
    report: Report


def brought_up_to_date(
    paths: Sequence[Path],
    url: str,
    embedder: str,
    *,
    size: int,
    overlap: int,
    limits: Limits | None = None,
    jobs: int | None = None,
) -> Done:
    """Ingest the paths; no store is made for wrong sizes or paths, or where there is no file.

    A store that is there already is brought up to date even so, for its files may be gone.
    `jobs`: None for as many processes as are worth starting.
    """
    refuse_sizes(size, overlap)
    walks = walked(paths)
    reader = plugins.embedder(embedder)
    counter = plugins.tokenizer(TOKENIZER)
    store = _opened(url, reader, walks)
    try:
        with progress() as on_progress:
            report = ingest(
                paths,
                store,
                reader,
                counter,
                size=size,
                overlap=overlap,
                limits=limits,
                jobs=jobs or jobs_for(sum(len(each.files) for each in walks)),
                on_progress=on_progress,
            )
        root = store.state_root()
    finally:
        store.close()
    return Done(store=url, embedder=reader.name, state_root=root, report=report)


def jobs_for(files: int) -> int:
    """How many processes are worth starting: a core each, and half a second of its own work.

    >>> jobs_for(3)
    1
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _MOST_JOBS, files // _FILES_A_JOB))


def _opened(url: str, reader: Embedder, walks: Sequence[Walk]) -> Store:
    """The store, made where there is none and a file to read."""
    files = any(each.files for each in walks)
    try:
        return open_store(
            url, embedder_name=reader.name, dimensions=reader.dimensions, create=files
        )
    except BadInput as error:
        if files:
            raise
        reasons = (f" ({each.path}: {each.reason})" for walk in walks for each in _left_out(walk))
        raise BadInput(f"no file to read{next(reasons, '')}, and {error}") from None


def _left_out(walk: Walk) -> tuple[Failure, ...]:
    return (*walk.failed, *walk.skipped)


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
    renamed = f" ({report.renamed} of them renamed)" if report.renamed else ""
    lines = wrapped(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.deleted} deleted{renamed}; {report.chunks} chunks written to {done.store}",
        width,
    )
    for what, failures in (("failed", report.failed), ("skipped", report.skipped)):
        if failures:
            lines += [f"{len(failures)} {what}:", *_reasons(failures, width)]
    return lines


def _reasons(failures: Sequence[Failure], width: int) -> Iterator[str]:
    for failure in failures:
        yield from wrapped(f"{failure.path}: {failure.reason}", width, first="  ", rest="    ")
