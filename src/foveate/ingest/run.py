"""Brings a store up to date with files and folders: writes changes, deletes what is gone.

Each document is one transaction, or shares one (`at_once`); its content hash records that it is
done, so a stopped run continues. A bad file or line is reported and the rest goes on; documents of
an unreadable file stay. Only documents from the given paths are deleted, and none from elsewhere is
overwritten. Ids: `<folder's name>/<path in it>`, or the name of a file given itself; an id in the
file stays; other parts are `<file>#<line>`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.ingest.chunk import check_sizes
from foveate.ingest.document_task import (
    PartsByTask,
    Preparer,
    PrepareTask,
    Task,
    refuse_failed,
)
from foveate.ingest.enrich import Enrich
from foveate.ingest.images import make_image_folder
from foveate.ingest.loaders import suffixes
from foveate.ingest.loaders.decode import check_encoding
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.model_enrichment import ModelEnricher
from foveate.ingest.prepare import Settings
from foveate.ingest.run_state import Report, RunState
from foveate.ingest.sandbox import Sandbox
from foveate.ingest.walk import Walk, walk
from foveate.ports import Embedder, Model, Store
from foveate.stores.lazy import StoreCreationFailed

_MAX_JOBS, _FILES_PER_JOB = 8, 32
_FILES_AHEAD = 64  # files under way for a process

Progress = Callable[[int, int, str], None]
"""Called after each file: files read, files in all, the file's name.

What they hold may still wait for its transaction."""

Engine: TypeAlias = Callable[[Preparer, Sequence[Task]], PartsByTask]
"""Prepares tasks, wherever that is, until it is closed."""


def ingest(
    paths: Path | str | Iterable[Path | str],
    store: Store,
    embedder: Embedder | None,
    tokenizer: Tokenizer,
    *,
    size: int = 350,
    overlap: int = 70,
    language: str = "en",
    principals: Sequence[str] = (),
    limits: Limits | None = None,
    encoding: str = "",
    passwords: Sequence[str] = (),
    images: Path | str | None = None,
    enrich: Enrich | None = None,
    model: Model | None = None,
    jobs: int = 1,
    engine: Engine | None = None,
    at_once: int = 1,
    on_progress: Progress | None = None,
) -> Report:
    """Index files and folders; afterwards the store holds their present content.

    `principals`: who may read documents that name none; empty is everybody. `limits`: how much of
    one file is read; a file over them is reported. `encoding`: of texts that are neither UTF-8 nor
    marked and declare none; without it they are read as Windows-1252 if they look like that, and
    the report says so. `passwords`: tried on PDF files that need one, and never stored. `images`: a
    folder for the images of PDF, Word and PowerPoint files, each under the hash of its bytes; None
    reads none. `enrich`: add summaries to documents and questions to chunks, from their own words;
    the `model` writes the summaries. `jobs`: how many processes prepare files; or another `engine`
    prepares them. The outcome is the same. `at_once`: how many documents share a transaction, if
    the store can; more is faster, blocks other writers longer, and is repeated after a kill.
    Without an `embedder` the store gets no vectors. Raises `BadInput` for a missing path
    or a store that cannot be made, `BadOption`, also if the store has documents of another path of
    the same name, and `ExternalError` if the store or the embedder fails or the disk is full: what
    was written stays, and the next run continues.
    """
    check_sizes(size, overlap)
    if jobs < 1:
        raise BadOption(f"jobs is {jobs}; it must be 1 or more")
    settings = Settings(
        size=size,
        overlap=overlap,
        language=language,
        fingerprint=tokenizer.fingerprint,
        embedder=embedder.name if embedder is not None else "",
        principals=tuple(sorted(set(principals))),
        encoding=check_encoding(encoding),
        enrich=enrich or Enrich(),
        model=model.name if model is not None else "",
        images=images is not None,
    )
    if images is not None:
        make_image_folder(str(images))
    describe = None
    if model is not None:
        if not settings.enrich.summaries:
            raise BadOption("a model writes summaries; ask for these too, or leave it out")
        describe = ModelEnricher(model=model, tokenizer=tokenizer, tokens=settings.enrich.tokens)
    state = RunState(
        store,
        embedder,
        tokenizer.fingerprint,
        walk_paths(paths),
        describe=describe,
        at_once=at_once,
        image_folder=str(images or ""),
    )
    preparer = Preparer(
        settings=settings,
        tokenizer=tokenizer,
        embedder=embedder if getattr(embedder, "copies", False) else None,
        limits=limits or Limits(),
        passwords=tuple(passwords),
    )
    try:
        _run_tasks(state, preparer, engine or local_engine(jobs), on_progress)
    except StoreCreationFailed as error:
        raise error.why from None
    state.delete_missing()
    return state.report()


def _run_tasks(
    state: RunState, preparer: Preparer, engine: Engine, on_progress: Progress | None
) -> None:
    tasks = state.tasks()
    with closing(engine(preparer, tasks)) as prepared:
        for done, (task, parts) in enumerate(zip(tasks, prepared, strict=True), 1):
            for part in parts:
                state.add_part(task.file, part)
            if on_progress is not None:
                on_progress(done, len(tasks), task.file.name)
    state.flush()


def local_engine(jobs: int | None) -> Engine:
    """So many processes, 1 is this one alone; None for as many as are worth starting."""

    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
        wanted = job_count(len(tasks)) if jobs is None else jobs
        if wanted > 1:
            return prepare_in_processes(preparer, tasks, wanted)
        return prepare_in_process(preparer, tasks)

    return prepared


def job_count(files: int) -> int:
    """How many processes are worth starting: a core each, and half a second of its own work.

    >>> job_count(3)
    1
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _MAX_JOBS, files // _FILES_PER_JOB))


def prepare_in_process(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
    """The parts of each task, in order, prepared in this process."""
    with Sandbox(preparer.limits) as sandbox:
        for task in tasks:
            yield preparer.parts(task, sandbox)


def prepare_in_processes(preparer: Preparer, tasks: Sequence[Task], jobs: int) -> PartsByTask:
    """The parts of each task, in order, prepared by `jobs` processes.

    Errors of a process are raised where its parts are read. Raises `BadOption` if the tokenizer or
    the embedder cannot be pickled.
    """
    engine = ProcessPoolEngine(jobs, _FILES_AHEAD)
    with closing(engine.stream_values(PrepareTask(preparer), tasks)) as prepared:
        for _, parts in prepared:
            yield map(refuse_failed, parts)


def walk_paths(paths: Path | str | Iterable[Path | str]) -> tuple[Walk, ...]:
    """The files under each path; raises `BadInput`, and `BadOption` for two of one name."""
    roots = [paths] if isinstance(paths, Path | str) else list(paths)
    walks = tuple(walk(Path(root), frozenset(suffixes())) for root in roots)
    names = [each.scope.removesuffix("/") for each in walks]
    for name in names:
        if names.count(name) > 1:
            raise BadOption(
                f"two of the paths are called {name!r}, and so would their documents be; "
                f"rename one, or index the folder that holds both"
            )
    return walks
