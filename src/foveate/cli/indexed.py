"""What `foveate index` does, once its flags are read: ingest with a progress bar, and report."""

from __future__ import annotations

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
) -> Done:
    """Ingest the paths; no store is made for wrong sizes or paths, or where there is no file.

    A store that is there already is brought up to date even so, for its files may be gone.
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
                on_progress=on_progress,
            )
        root = store.state_root()
    finally:
        store.close()
    return Done(store=url, embedder=reader.name, state_root=root, report=report)


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
