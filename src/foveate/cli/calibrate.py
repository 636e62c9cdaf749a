"""`foveate calibrate`: how well a model reads each part of its context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from foveate.cli import output
from foveate.cli.options import MODEL_SYNTAX, Json, Timeout, option

if TYPE_CHECKING:
    from foveate.evals.calibration.curve import Curve


def calibrate(
    *,
    model: Annotated[str, option("M", f"Model to measure: {MODEL_SYNTAX}.")],
    probe: Annotated[
        list[str] | None, option("KIND", "Kind of questions: pairs or facts (default: both).")
    ] = None,
    things: Annotated[
        int, option("N", "Texts of a question, one of which holds the answer.", min=2)
    ] = 40,
    places: Annotated[int, option("N", "Positions of that text.", min=2)] = 5,
    rounds: Annotated[int, option("N", "Questions for each position and kind.", min=1)] = 20,
    max_tokens: Annotated[
        int, option("N", "Most tokens of an answer; more for a reasoning model.", min=1)
    ] = 40,
    timeout: Timeout = 120.0,
    out: Annotated[
        Path | None, option("FILE.json", "Write the curve here, for --order attention:FILE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a model's reading curve: its right answers by the position of the answer.

    Asks places x rounds x kinds questions, one after another. Reports whether the curve is flat.
    """
    import json

    from foveate.cli.assemble_run import load_model
    from foveate.cli.files import check_writable, open_output
    from foveate.core.errors import UnknownName
    from foveate.evals.calibration.curve import curve_to_json
    from foveate.evals.calibration.sweep import PROBE_KINDS, Sweep, describe_result, run_sweep

    if unknown := [name for name in probe or () if name not in PROBE_KINDS]:
        raise UnknownName("probe", unknown[0], PROBE_KINDS)
    sweep = Sweep(
        kinds=tuple(kind for kind in PROBE_KINDS if not probe or kind in probe),
        things=things,
        places=places,
        rounds=rounds,
        timeout=timeout,
        max_tokens=max_tokens,
    )
    reader = load_model(model)
    if out is not None:
        check_writable(out)
    with output.progress_bar() as on_progress:
        measured = run_sweep(reader, sweep, on_progress=on_progress)
    verdict = describe_result(measured)
    curves = measured.curves
    record = curve_to_json(curves["all"], model=reader.name, kinds=sweep.kinds, things=things)
    if out is not None:
        with open_output(str(out)) as file:
            file.write(f"{json.dumps(record, indent=1)}\n".encode())
    counts = {"answers": measured.answers, "empty": measured.empty}
    counts["failed"] = len(measured.failures)
    result = {**record, **counts, "said": list(verdict)}
    output.write_result(result, (*_curve_lines(curves), *verdict), as_json=as_json)


def _curve_lines(curves: Mapping[str, Curve]) -> Iterator[str]:
    """A table: a row for each place, a column for each kind of probe."""
    from foveate.evals.tables import Table, table_to_markdown

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
