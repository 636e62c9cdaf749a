"""What `foveate index` does, once its flags are read: ingest with a progress bar, and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.batch.engines.open import check_engine
from foveate.cli.layout import wrap_words
from foveate.cli.models import load_model
from foveate.cli.progress import progress_bar
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.ingest import Enrich, Limits
from foveate.ingest.chunk import check_sizes
from foveate.ingest.loaders import suffixes
from foveate.ingest.on_ray import ray_engine
from foveate.ingest.run import Engine, ingest, local_engine, walk_paths
from foveate.ingest.run_state import Report
from foveate.ingest.walk import Failure, Walk
from foveate.ports import Embedder, Model, Store
from foveate.stores import open_store_for_writing, redact_url
from foveate.stores.lazy import LazyStore, StoreCreationFailed

TOKENIZER = "cl100k_base"

_TRANSACTION_DOCUMENTS = 256
"""Documents a transaction at the most: a commit costs more than a document, on an object store much
more. So much a killed run does again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """A finished run and the store as it is now."""

    store: str
    embedder: str
    state_root: str
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """An open store, and how files go into it."""

    url: str
    store: Store
    embedder: Embedder
    tokenizer: Tokenizer
    size: int
    overlap: int
    limits: Limits | None
    enrich: Enrich
    model: Model | None
    engine: Engine
    at_once: int = 1

    def run(self, paths: Sequence[Path], engine: Engine | None = None) -> IndexResult:
        """Bring the store up to date with the paths, with a progress bar."""
        try:
            with progress_bar() as on_progress:
                report = ingest(
                    paths,
                    self.store,
                    self.embedder,
                    self.tokenizer,
                    size=self.size,
                    overlap=self.overlap,
                    limits=self.limits,
                    enrich=self.enrich,
                    model=self.model,
                    engine=engine or self.engine,
                    at_once=self.at_once,
                    on_progress=on_progress,
                )
        except StoreCreationFailed as error:
            raise error.why from None
        root = self.store.state_root()
        return IndexResult(
            store=self.url, embedder=self.embedder.name, state_root=root, report=report
        )


def index_paths(
    paths: Sequence[Path],
    url: str,
    embedder: str,
    *,
    size: int,
    overlap: int,
    limits: Limits | None = None,
) -> IndexResult:
    """Ingest the paths as `foveate index` does where nothing else is asked for."""
    enrich = Enrich(questions=True)
    with open_indexer(
        paths, url, embedder, size=size, overlap=overlap, limits=limits, enrich=enrich
    ) as into:
        return into.run(paths)


@contextmanager
def open_indexer(
    paths: Sequence[Path],
    url: str,
    embedder: str,
    *,
    size: int,
    overlap: int,
    limits: Limits | None = None,
    enrich: Enrich | None = None,
    model: str = "",
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
) -> Iterator[Indexer]:
    """The store to index into; where there is none, it is made with its first document.

    A store that is there already is opened even so, for its files may be gone. `jobs`: None for
    as many processes as are worth starting, or as Ray has processors.
    """
    check_engine(engine, jobs, address)
    check_sizes(size, overlap)
    walks = walk_paths(paths)
    reader = plugins.embedder(embedder)
    counter = plugins.tokenizer(TOKENIZER)
    writer = load_model(model) if model else None
    store = _open_store(url, reader, walks)
    try:
        yield Indexer(
            url=redact_url(url),
            store=store,
            embedder=reader,
            tokenizer=counter,
            size=size,
            overlap=overlap,
            limits=limits,
            enrich=enrich or Enrich(),
            model=writer,
            engine=ray_engine(jobs, address) if engine == "ray" else local_engine(jobs),
            at_once=_TRANSACTION_DOCUMENTS,
        )
    finally:
        store.close()


def _open_store(url: str, reader: Embedder, walks: Sequence[Walk]) -> Store:
    """The store; raises `BadInput` where there is none, nor a file to read."""
    store = open_store_for_writing(url, embedder_name=reader.name, dimensions=reader.dimensions)
    if any(each.files for each in walks) or not isinstance(store, LazyStore):
        return store
    names = ", ".join(repr(each.scope) for each in walks)
    reasons = (f" ({each.path}: {each.reason})" for walk in walks for each in _unread_files(walk))
    raise BadInput(
        f"no file to read in {names}{next(reasons, '')}; name files, or a folder that holds some, "
        f"of these kinds: {' '.join(suffixes())}"
    )


def _unread_files(walk: Walk) -> tuple[Failure, ...]:
    return (*walk.failed, *walk.skipped)


def write_report(done: IndexResult, *, as_json: bool) -> None:
    """The report on stdout, at once."""
    from foveate.cli import output

    if as_json:
        output.write_json(report_to_json(done))
    else:
        for line in report_lines(done, output.terminal_width()):
            output.write_line(line)
    output.flush()


def report_to_json(done: IndexResult) -> dict[str, Any]:
    """The report as one object."""
    return {
        "store": done.store,
        "embedder": done.embedder,
        **asdict(done.report),
        "state_root": done.state_root,
    }


def report_lines(done: IndexResult, width: int) -> list[str]:
    """The report for a person; every file that was left out with its reason."""
    report = done.report
    renamed = f" ({report.renamed} of them renamed)" if report.renamed else ""
    written = f"{report.chunks} chunks written to {done.store}"
    if not done.state_root:
        written = f"nothing to write, so no store was made in {done.store}"
    lines = wrap_words(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.deleted} deleted{renamed}; {written}",
        width,
    )
    if report.summarised:
        lines.append(f"{report.summarised} summaries, {report.questions} questions")
    left_out = (
        ("failed", report.failed),
        ("skipped", report.skipped),
        ("without the model", report.without_model),
    )
    for what, failures in left_out:
        if failures:
            lines += [f"{len(failures)} {what}:", *_failure_lines(failures, width)]
    return lines


def _failure_lines(failures: Sequence[Failure], width: int) -> Iterator[str]:
    for failure in failures:
        yield from wrap_words(f"{failure.path}: {failure.reason}", width, first="  ", rest="    ")
