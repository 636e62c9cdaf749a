"""What `foveate index` does after its flags are read; with --watch, again after each change.

With --watch a run that changed nothing prints nothing. A path that is gone, or is empty while the
store has documents of it, is left out and its documents stay: a disk that is not mounted looks the
same. An external failure is reported and tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.batch.engines import check_engine
from foveate.cli import output
from foveate.cli.failures import error_line
from foveate.cli.layout import wrap_words
from foveate.core.errors import BadInput, BadOption, ExternalError, UnknownName
from foveate.ingest import Limits
from foveate.ingest.loaders import suffixes
from foveate.ingest.on_ray import ray_engine
from foveate.ingest.run import Engine, ingest, local_engine, walk_paths
from foveate.ingest.run_state import Report
from foveate.ingest.walk import Failure, Walk
from foveate.ingest.watch import Watcher, find_empty_scopes
from foveate.ports import Embedder, Store
from foveate.stores import open_store_for_writing, redact_url
from foveate.stores.lazy import LazyStore

_MAX_PASSWORDS = 100  # each is tried on each PDF that needs one
_PASSWORD_BYTES = 100_000
_MAX_DIGITS = 15  # digits: more than any file has bytes


def parse_limits(options: Sequence[str]) -> Limits:
    """The defaults, changed by options of the form NAME=N; raises `BadOption` or `UnknownName`.

    >>> parse_limits(["pages=9_000"]).pages
    9000
    """
    known = [each.name for each in fields(Limits)]
    values: dict[str, int] = {}
    for each in options:
        name, _, number = each.partition("=")
        digits = number.replace("_", "")
        if name not in known:
            raise UnknownName("limit", name, known)
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS):
            raise BadOption(f"--file-limit {each!r}: a limit is NAME=N with a whole number N")
        values[name] = int(digits)
    return Limits(**values)


def read_passwords(file: Path, paths: Sequence[Path]) -> tuple[str, ...]:
    """The lines of the file; raises `BadInput` and `BadOption`, neither with what it holds."""
    if any(file.resolve().is_relative_to(path.resolve()) for path in paths):
        raise BadOption(f"--password-file {str(file)!r} would be indexed; keep it elsewhere")
    try:
        with file.open("rb") as stream:
            lines = stream.read(_PASSWORD_BYTES + 1).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"--password-file {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"--password-file {str(file)!r} is not UTF-8") from None
    found = tuple(dict.fromkeys(line for line in lines if line))
    if not 0 < len(found) <= _MAX_PASSWORDS:
        raise BadOption(
            f"--password-file {str(file)!r} has {len(found)} passwords, one a line; "
            f"it must have 1 to {_MAX_PASSWORDS}"
        )
    return found


TOKENIZER = "cl100k_base"

_TRANSACTION_DOCUMENTS = 256
"""Documents of a transaction: a commit costs more than a document. A killed run repeats so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """A finished run and the store as it is now."""

    store: str
    embedder: str
    state_root: str
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """An open store; `ingest` takes paths, an engine and a progress callback."""

    url: str
    store: Store
    embedder: Embedder
    engine: Engine
    ingest: Callable[..., Report]

    def run(self, paths: Sequence[Path]) -> IndexResult:
        """Bring the store up to date with the paths, with a progress bar."""
        with output.progress_bar() as on_progress:
            report = self.ingest(paths, engine=self.engine, on_progress=on_progress)
        root = self.store.state_root()
        return IndexResult(
            store=self.url, embedder=self.embedder.name, state_root=root, report=report
        )


def choose_engine(name: str, jobs: int | None, address: str | None) -> Engine:
    """What prepares files; `jobs`: None for as many as are useful, or as Ray has processors."""
    check_engine(name, jobs, address)
    return ray_engine(jobs, address) if name == "ray" else local_engine(jobs)


@contextmanager
def open_indexer(
    paths: Sequence[Path], url: str, embedder: str, engine: Engine, **options: Any
) -> Iterator[Indexer]:
    """The store to index into; a new one is created with its first document.

    An existing store is opened even without files to read: they may have been deleted. `options`:
    more arguments of `ingest`.
    """
    walks = walk_paths(paths)
    reader = plugins.embedder(embedder)
    store = _open_store(url, reader, walks)
    try:
        yield Indexer(
            url=redact_url(url),
            store=store,
            embedder=reader,
            engine=engine,
            ingest=partial(
                ingest,
                store=store,
                embedder=reader,
                tokenizer=plugins.tokenizer(TOKENIZER),
                at_once=_TRANSACTION_DOCUMENTS,
                **options,
            ),
        )
    finally:
        store.close()


def _open_store(url: str, reader: Embedder, walks: Sequence[Walk]) -> Store:
    """The store; raises `BadInput` if it does not exist and there is no file to read."""
    store = open_store_for_writing(url, embedder_name=reader.name, dimensions=reader.dimensions)
    if any(each.files for each in walks) or not isinstance(store, LazyStore):
        return store
    names = ", ".join(repr(each.scope) for each in walks)
    reasons = (
        f" ({each.path}: {each.reason})" for walk in walks for each in (*walk.failed, *walk.skipped)
    )
    raise BadInput(
        f"no file to read in {names}{next(reasons, '')}; name files, or a folder that holds some, "
        f"of these kinds: {' '.join(suffixes())}, or without a suffix"
    )


def write_report(done: IndexResult, *, as_json: bool) -> None:
    """The report on stdout, at once."""
    about = {"store": done.store, "embedder": done.embedder}
    record = {**about, **asdict(done.report), "state_root": done.state_root}
    output.write_result(record, report_lines(done, output.terminal_width()), as_json=as_json)
    output.flush()


def report_lines(done: IndexResult, width: int) -> list[str]:
    """The report for a person; every file that was left out with its reason."""
    report = done.report
    plural = "" if report.chunks == 1 else "s"
    written = f"{report.chunks} chunk{plural} written to {done.store}"
    if not done.state_root:
        written = f"nothing to write, so no store was made in {done.store}"
    lines = wrap_words(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.deleted} deleted; {written}",
        width,
    )
    if report.summarised:
        lines.append(f"{report.summarised} summaries, {report.questions} questions")
    left_out = (
        ("failed", report.failed),
        ("skipped", report.skipped),
        ("without the model", report.without_model),
        ("not in UTF-8", report.encodings),
        ("without text", report.without_text),
        ("read in part", report.in_part),
    )
    for what, failures in left_out:
        if failures:
            lines += [f"{len(failures)} {what}:", *_failure_lines(failures, width)]
    return lines


def _failure_lines(failures: Sequence[Failure], width: int) -> Iterator[str]:
    for failure in failures:
        yield from wrap_words(f"{failure.path}: {failure.reason}", width, first="  ", rest="    ")


_COUNT_FIELDS = ("added", "updated", "deleted", "chunks")
_RETRY_SECONDS = 30  # seconds


def watch_paths(into: Indexer, paths: Sequence[Path], *, as_json: bool) -> None:
    """Run, wait for changes, run again; Ctrl-C ends it."""
    watcher = Watcher(paths)
    watch = _WatchRun(into, paths, as_json=as_json)
    watch.run()
    names = ", ".join(str(path) for path in paths)
    output.write_note(f"watching {names}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        while True:
            watcher.wait(_RETRY_SECONDS if watch.is_retry_due else None)
            watch.run()


class _WatchRun:
    """The runs so far. `is_retry_due`: the last one failed, and is to be repeated."""

    def __init__(self, into: Indexer, paths: Sequence[Path], *, as_json: bool) -> None:
        self._indexer, self._paths, self._as_json = into, paths, as_json
        self._last: IndexResult | None = None
        self._missing: dict[Path, str] = {}
        self.is_retry_due = False

    def run(self) -> None:
        """Bring the store up to date, and say so where anything changed."""
        paths = self._usable_paths()
        if not paths:
            return
        try:
            done = self._indexer.run(paths)
        except (ExternalError, BadInput, OSError) as error:
            if self._last is None:
                raise
            self.is_retry_due = True
            output.write_note(f"{error_line(error).removeprefix('foveate: ')}; it is tried again")
            return
        self.is_retry_due = False
        self._report(done)

    def _report(self, done: IndexResult) -> None:
        before, self._last = self._last, done
        report = done.report
        left_out = (report.failed, report.skipped)
        same = before is not None and left_out == (before.report.failed, before.report.skipped)
        if same and not any(getattr(report, name) for name in _COUNT_FIELDS):
            return
        shown = replace(report, failed=(), skipped=()) if same and not self._as_json else report
        write_report(replace(done, report=shown), as_json=self._as_json)

    def _usable_paths(self) -> list[Path]:
        """The paths that can be read; messages say which others went or came back."""
        there = [path for path in self._paths if path.exists()]
        bare = set(find_empty_scopes(walk_paths(there), self._indexer.store))
        names = {path: path.resolve().name for path in there}
        kept = [path for path in there if not {names[path], f"{names[path]}/"} & bare]
        lost = {
            path: "is empty" if path in there else "is gone"
            for path in self._paths
            if path not in kept
        }
        for path, what in lost.items():
            if self._missing.get(path) != what:
                output.write_note(
                    f"{path} {what}: its documents stay in the store until it is back"
                )
        for path in self._missing:
            if path not in lost:
                output.write_note(f"{path} is back")
        self._missing = lost
        return kept
