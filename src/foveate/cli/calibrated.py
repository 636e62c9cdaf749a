"""What `foveate calibrate` prints and writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foveate.core.errors import OutsideFailure, UnknownName
from foveate.evals.calibration.curve import Curve
from foveate.evals.calibration.probes import KINDS, Kind
from foveate.evals.calibration.sweep import Measured
from foveate.evals.table import Table, markdown


def kinds_of(named: Sequence[str] | None) -> tuple[Kind, ...]:
    """The kinds asked for, all of them where none is; raises `UnknownName`."""
    for name in named or ():
        if name not in KINDS:
            raise UnknownName("probe", name, KINDS)
    return tuple(kind for kind in KINDS if not named or kind in named)


def counts_of(measured: Measured) -> Mapping[str, int]:
    """How many answers came, how many of them said nothing, and how many questions failed."""
    return {
        "answers": measured.answers,
        "empty": measured.empty,
        "failed": len(measured.failures),
    }


def lines(curves: Mapping[str, Curve]) -> Iterator[str]:
    """A table: a row for each place, a column for each kind of probe."""
    names = [name for name in curves if name != "all" or len(curves) > 2]
    first = next(iter(curves.values()))
    rows = tuple(
        (f"{point.position:.2f}", *(_cell(curves[name], n) for name in names))
        for n, point in enumerate(first.points)
    )
    yield markdown(Table(title="", head=("place", *names), rows=rows))
    yield ""


def _cell(curve: Curve, number: int) -> str:
    point = curve.points[number]
    low, high = point.interval
    return f"{point.accuracy:.0f} % [{low:.0f}, {high:.0f}]"


def refuse_unwritable(path: Path) -> None:
    """Before the work: raise `OutsideFailure` where the curve could not be written afterwards."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir():
        what = "is a folder" if path.is_dir() else f"there is no folder {folder}"
        raise OutsideFailure(f"{path}: {what}; name a file for --out")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutsideFailure(f"{folder}: cannot be written to; name another --out")


def write(path: Path, record: Mapping[str, Any]) -> None:
    """The file, all at once; raises `OutsideFailure` where it cannot be."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        aside.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        aside.replace(path)
    except OSError as error:
        raise OutsideFailure(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)
