"""`foveate calibrate`: how well a model reads each part of its context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.options import MODEL_SYNTAX, Json


def calibrate(
    *,
    model: Annotated[str, typer.Option(metavar="M", help=f"Model to measure: {MODEL_SYNTAX}.")],
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Kind of questions: pairs or facts (default: both)."),
    ] = None,
    things: Annotated[
        int,
        typer.Option(
            metavar="N", min=2, help="Texts of a question, one of which holds the answer."
        ),
    ] = 40,
    places: Annotated[int, typer.Option(metavar="N", min=2, help="Positions of that text.")] = 5,
    rounds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Questions for each position and kind.")
    ] = 20,
    max_tokens: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Most tokens of an answer; more for a reasoning model."
        ),
    ] = 40,
    timeout: Annotated[
        float, typer.Option(metavar="S", help="Time limit for an answer, in seconds.")
    ] = 120.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the curve here, for --order attention:FILE."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a model's reading curve: its right answers by the position of the answer.

    Asks places x rounds x kinds questions, one after another. Reports whether the curve is flat.
    """
    import json

    from foveate.cli import output
    from foveate.cli.assemble_run import load_model
    from foveate.cli.calibrate_output import check_writable, curve_lines, select_kinds
    from foveate.cli.files import open_output
    from foveate.cli.output import progress_bar
    from foveate.evals.calibration.curve import curve_to_json
    from foveate.evals.calibration.sweep import Sweep, describe_result, run_sweep

    sweep = Sweep(
        kinds=select_kinds(probe),
        things=things,
        places=places,
        rounds=rounds,
        timeout=timeout,
        max_tokens=max_tokens,
    )
    reader = load_model(model)
    if out is not None:
        check_writable(out)
    with progress_bar() as on_progress:
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
    output.write_result(result, (*curve_lines(curves), *verdict), as_json=as_json)
