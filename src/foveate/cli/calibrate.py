"""`foveate calibrate`: how well a model reads each part of its context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.options import Json


def calibrate(
    *,
    model: Annotated[
        str, typer.Option("--model", metavar="M", help="Who reads: openai:MODEL, gguf:FILE, …")
    ],
    probe: Annotated[
        list[str] | None,
        typer.Option("--probe", metavar="KIND", help="pairs, facts; both without it."),
    ] = None,
    things: Annotated[
        int, typer.Option("--things", metavar="N", min=2, help="Among how many the answer is.")
    ] = 40,
    places: Annotated[
        int, typer.Option("--places", metavar="N", min=2, help="At how many places it is put.")
    ] = 5,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, help="Questions a place and kind.")
    ] = 20,
    max_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens", metavar="N", min=1, help="Of one answer; more for one that thinks."
        ),
    ] = 40,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Seconds for one answer.")
    ] = 120.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.json", help="Keep the curve; --order attention:FILE."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a model's reading curve: right answers by where the answer stands.

    Asks places x rounds x probes questions, one after another. Says so where the curve is flat.
    """
    from foveate.cli import output
    from foveate.cli.assemble_run import load_model
    from foveate.cli.calibrate_output import (
        check_writable,
        counts_to_json,
        curve_lines,
        select_kinds,
        write_curve,
    )
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
        write_curve(out, record)
    result = {**record, **counts_to_json(measured), "said": list(verdict)}
    output.write_result(result, (*curve_lines(curves), *verdict), as_json=as_json)
