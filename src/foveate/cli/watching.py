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
from foveate.cli.failures import one_line
from foveate.cli.indexed import Done, Index, report_as_json, report_written
from foveate.core.errors import BadInput, OutsideFailure
from foveate.ingest.run import Report, walked
from foveate.ingest.watch import Changed, Watcher, emptied, only

_COUNTED = ("added", "updated", "deleted", "renamed", "chunks")
_AGAIN = 30  # seconds


def watched(into: Index, paths: Sequence[Path], *, as_json: bool) -> None:
    """Run, wait for changes, run again; Ctrl-C ends it, with a summary."""
    watcher = Watcher(paths)
    watch = _Watch(into, paths, as_json=as_json)
    watch.run(None)
    names = ", ".join(str(path) for path in paths)
    _said(f"watching {names}; Ctrl-C ends it")
    try:
        while True:
            watch.run(watcher.wait(_AGAIN if watch.owed else None))
    except KeyboardInterrupt:
        watch.summary()


class _Watch:
    """What the runs so far have done. `owed`: the last one failed, and is to be done again."""

    def __init__(self, into: Index, paths: Sequence[Path], *, as_json: bool) -> None:
        self._into, self._paths, self._as_json = into, paths, as_json
        self._last: Done | None = None
        self._total = Report()
        self._runs = 0
        self._lost: dict[Path, str] = {}
        self.owed = False

    def run(self, changed: Changed) -> None:
        """Bring the store up to date with what changed, and say so where anything did."""
        paths = self._there()
        if not paths:
            return
        doubtful = frozenset(each.path for each in self._last.report.failed) if self._last else ()
        engine = only(None if self.owed else changed, frozenset(doubtful), self._into.engine)
        try:
            done = self._into.run(paths, engine)
        except (OutsideFailure, BadInput, OSError) as error:
            if self._last is None:
                raise
            self.owed = True
            _said(f"{one_line(error).removeprefix('foveate: ')}; it is tried again")
            return
        self.owed = False
        self._tell(done)

    def _tell(self, done: Done) -> None:
        before, self._last = self._last, done
        report = done.report
        left_out = (report.failed, report.skipped)
        same = before is not None and left_out == (before.report.failed, before.report.skipped)
        if same and not any(getattr(report, name) for name in _COUNTED):
            return
        self._runs += 1
        counts = {name: getattr(self._total, name) + getattr(report, name) for name in _COUNTED}
        self._total = replace(self._total, **counts)
        shown = replace(report, failed=(), skipped=()) if same and not self._as_json else report
        report_written(replace(done, report=shown), as_json=self._as_json)

    def _there(self) -> list[Path]:
        """The paths that can be trusted; of the others it is said when they go, and come back."""
        there = [path for path in self._paths if path.exists()]
        bare = set(emptied(walked(there), self._into.store))
        kept = [path for path in there if not {path.resolve().name, _scope(path)} & bare]
        lost = {
            path: "is empty" if path in there else "is gone"
            for path in self._paths
            if path not in kept
        }
        for path, what in lost.items():
            if self._lost.get(path) != what:
                _said(f"{path} {what}: its documents stay in the store until it is back")
        for path in self._lost:
            if path not in lost:
                _said(f"{path} is back")
        self._lost = lost
        return kept

    def summary(self) -> None:
        """What all runs did together."""
        total = self._total
        if self._as_json:
            counts = {name: getattr(total, name) for name in _COUNTED}
            root = report_as_json(self._last)["state_root"] if self._last else ""
            output.write_json({"runs": self._runs, **counts, "state_root": root})
        else:
            runs = "1 run" if self._runs == 1 else f"{self._runs} runs"
            output.write_line(
                f"{runs}: {total.added} added, {total.updated} updated, {total.deleted} deleted, "
                f"{total.renamed} of them renamed"
            )
        output.flush()


def _scope(path: Path) -> str:
    return f"{path.resolve().name}/"


def _said(line: str) -> None:
    sys.stderr.write(f"foveate: {line}\n")
    sys.stderr.flush()
