"""What `foveate calibrate` prints and writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foveate.core.errors import ExternalError, UnknownName
from foveate.evals.calibration.curve import Curve
from foveate.evals.calibration.sweep import PROBE_KINDS, ProbeKind
from foveate.evals.tables import Table, table_to_markdown


def select_kinds(named: Sequence[str] | None) -> tuple[ProbeKind, ...]:
    """The named kinds, or all; raises `UnknownName`."""
    for name in named or ():
        if name not in PROBE_KINDS:
            raise UnknownName("probe", name, PROBE_KINDS)
    return tuple(kind for kind in PROBE_KINDS if not named or kind in named)


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
    """Raise `ExternalError`, before the work, if the curve cannot be written after it."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir():
        what = "is a folder" if path.is_dir() else f"there is no folder {folder}"
        raise ExternalError(f"{path}: {what}; name a file for --out")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExternalError(f"{folder}: cannot be written to; name another --out")
