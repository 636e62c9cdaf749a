"""What `foveate calibrate` prints and writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foveate.core.errors import ExternalError, UnknownName
from foveate.evals.calibration.curve import Curve
from foveate.evals.calibration.sweep import PROBE_KINDS, ProbeKind, SweepResult
from foveate.evals.tables import Table, table_to_markdown
from foveate.stores.atomic_write import atomic_write


def select_kinds(named: Sequence[str] | None) -> tuple[ProbeKind, ...]:
    """The kinds asked for, all of them where none is; raises `UnknownName`."""
    for name in named or ():
        if name not in PROBE_KINDS:
            raise UnknownName("probe", name, PROBE_KINDS)
    return tuple(kind for kind in PROBE_KINDS if not named or kind in named)


def counts_to_json(measured: SweepResult) -> Mapping[str, int]:
    """How many answers came, how many of them said nothing, and how many questions failed."""
    return {
        "answers": measured.answers,
        "empty": measured.empty,
        "failed": len(measured.failures),
    }


def curve_lines(curves: Mapping[str, Curve]) -> Iterator[str]:
    """A table: a row for each place, a column for each kind of probe."""
    names = [name for name in curves if name != "all" or len(curves) > 2]
    first = next(iter(curves.values()))
    rows = tuple(
        (f"{point.position:.2f}", *(_format_point(curves[name], n) for name in names))
        for n, point in enumerate(first.points)
    )
    yield table_to_markdown(Table(title="", head=("place", *names), rows=rows))
    yield ""


def _format_point(curve: Curve, number: int) -> str:
    point = curve.points[number]
    low, high = point.interval
    return f"{point.accuracy:.0f} % [{low:.0f}, {high:.0f}]"


def check_writable(path: Path) -> None:
    """Before the work: raise `ExternalError` where the curve could not be written afterwards."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir():
        what = "is a folder" if path.is_dir() else f"there is no folder {folder}"
        raise ExternalError(f"{path}: {what}; name a file for --out")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExternalError(f"{folder}: cannot be written to; name another --out")


def write_curve(path: Path, record: Mapping[str, Any]) -> None:
    """The file, all at once; raises `ExternalError` where it cannot be."""
    try:
        with atomic_write(path) as file:
            file.write(f"{json.dumps(record, indent=1)}\n".encode())
    except OSError as error:
        raise ExternalError(f"{path}: cannot be written: {error.strerror or error}") from error
