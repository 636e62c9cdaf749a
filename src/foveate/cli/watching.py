"""`foveate index --watch`: a run, and another whenever something changes, until Ctrl-C.

Rules: a run that changed nothing says nothing; a path that is gone, or is empty while the store
has documents of it, is left out and its documents stay, for a disk that is not mounted looks like
that; what fails outside is said and tried again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from foveate.cli import output
from foveate.cli.failures import error_line
from foveate.cli.index_run import Indexer, IndexResult, report_to_json, write_report
from foveate.core.errors import BadInput, ExternalError
from foveate.ingest.run import walk_paths
from foveate.ingest.run_state import Report
from foveate.ingest.watch import ChangedPaths, Watcher, engine_for_changes, find_empty_scopes

_COUNT_FIELDS = ("added", "updated", "deleted", "renamed", "chunks")
_RETRY_SECONDS = 30  # seconds


def watch_paths(into: Indexer, paths: Sequence[Path], *, as_json: bool) -> None:
    """Run, wait for changes, run again; Ctrl-C ends it, with a summary."""
    watcher = Watcher(paths)
    watch = _WatchRun(into, paths, as_json=as_json)
    watch.run(None)
    names = ", ".join(str(path) for path in paths)
    _print_message(f"watching {names}; Ctrl-C ends it")
    try:
        while True:
            watch.run(watcher.wait(_RETRY_SECONDS if watch.is_retry_due else None))
    except KeyboardInterrupt:
        watch.summary()


class _WatchRun:
    """What the runs so far have done. `owed`: the last one failed, and is to be done again."""

    def __init__(self, into: Indexer, paths: Sequence[Path], *, as_json: bool) -> None:
        self._indexer, self._paths, self._as_json = into, paths, as_json
        self._last: IndexResult | None = None
        self._total = Report()
        self._runs = 0
        self._missing: dict[Path, str] = {}
        self.is_retry_due = False

    def run(self, changed: ChangedPaths) -> None:
        """Bring the store up to date with what changed, and say so where anything did."""
        paths = self._usable_paths()
        if not paths:
            return
        doubtful = frozenset(each.path for each in self._last.report.failed) if self._last else ()
        engine = engine_for_changes(
            None if self.is_retry_due else changed, frozenset(doubtful), self._indexer.engine
        )
        try:
            done = self._indexer.run(paths, engine)
        except (ExternalError, BadInput, OSError) as error:
            if self._last is None:
                raise
            self.is_retry_due = True
            _print_message(f"{error_line(error).removeprefix('foveate: ')}; it is tried again")
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
        self._runs += 1
        counts = {
            name: getattr(self._total, name) + getattr(report, name) for name in _COUNT_FIELDS
        }
        self._total = replace(self._total, **counts)
        shown = replace(report, failed=(), skipped=()) if same and not self._as_json else report
        write_report(replace(done, report=shown), as_json=self._as_json)

    def _usable_paths(self) -> list[Path]:
        """The paths that can be trusted; of the others it is said when they go, and come back."""
        there = [path for path in self._paths if path.exists()]
        bare = set(find_empty_scopes(walk_paths(there), self._indexer.store))
        kept = [path for path in there if not {path.resolve().name, _folder_scope(path)} & bare]
        lost = {
            path: "is empty" if path in there else "is gone"
            for path in self._paths
            if path not in kept
        }
        for path, what in lost.items():
            if self._missing.get(path) != what:
                _print_message(f"{path} {what}: its documents stay in the store until it is back")
        for path in self._missing:
            if path not in lost:
                _print_message(f"{path} is back")
        self._missing = lost
        return kept

    def summary(self) -> None:
        """What all runs did together."""
        total = self._total
        if self._as_json:
            counts = {name: getattr(total, name) for name in _COUNT_FIELDS}
            root = report_to_json(self._last)["state_root"] if self._last else ""
            output.write_json({"runs": self._runs, **counts, "state_root": root})
        else:
            runs = "1 run" if self._runs == 1 else f"{self._runs} runs"
            output.write_line(
                f"{runs}: {total.added} added, {total.updated} updated, {total.deleted} deleted, "
                f"{total.renamed} of them renamed"
            )
        output.flush()


def _folder_scope(path: Path) -> str:
    return f"{path.resolve().name}/"


def _print_message(line: str) -> None:
    sys.stderr.write(f"foveate: {line}\n")
    sys.stderr.flush()
