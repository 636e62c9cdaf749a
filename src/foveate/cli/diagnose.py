"""`foveate diagnose`: which layer lost each failing question of a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.options import CaseLimit, Json, Principals, RecipeName, SearchLimit


def diagnose(
    *,
    dataset: Annotated[
        list[str], typer.Option(metavar="FILE", help="Files of cases, or patterns of names.")
    ],
    store: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Store to search (default: one made of the cases' candidates)."
        ),
    ] = "",
    folder: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder of the documents as they are now; repeatable."),
    ] = None,
    recipe: RecipeName = "default",
    budget: Annotated[
        int, typer.Option(metavar="N", min=1, help="Token budget of each context.")
    ] = 2000,
    limit: SearchLimit = 20,
    cases: CaseLimit = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answers to judge, as JSON Lines: id, answer, baseline."),
    ] = None,
    sessions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sessions of agents, as JSON Lines: id, turns."),
    ] = None,
    reranker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reranker between search and context.")
    ] = None,
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Find the layer that lost each failing question, with counts, measures and suggestions.

    The evidence of every question is followed through the documents, the chunks, both searches
    and the context. Without --store the candidates of the cases are indexed and searched.
    """
    from foveate.cli import output
    from foveate.cli.diagnose_run import run_diagnosis
    from foveate.cli.show import format_columns
    from foveate.evals.diagnosis.tables import diagnosis_tables, diagnosis_to_json, list_advice
    from foveate.evals.tables import table_to_markdown

    found = run_diagnosis(
        dataset,
        store=store,
        folders=folder or [],
        recipe=recipe,
        budget=budget,
        limit=limit,
        most=cases,
        answers=answers,
        sessions=sessions,
        principals=principal or [],
        reranker=reranker,
    )
    if as_json:
        output.write_json(diagnosis_to_json(found))
        return
    for number, table in enumerate(diagnosis_tables(found)):
        output.write_line(("\n" if number else "") + f"{table.title}\n")
        output.write_line(table_to_markdown(table))
    if pairs := list_advice(found):
        said = ["What to try", "", *format_columns(pairs, output.terminal_width())]
        output.write_line("\n" + "\n".join(said))
