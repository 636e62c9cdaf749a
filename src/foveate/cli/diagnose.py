"""`foveate diagnose`: which layer lost each failing question of a golden set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from foveate.cli import output
from foveate.cli.options import (
    STORE,
    CaseLimit,
    Json,
    Principals,
    RecipeName,
    SearchedStore,
    SearchLimit,
    option,
)


def diagnose(
    *,
    dataset: Annotated[list[str], option("FILE", "Files of cases, or patterns of names.")],
    store: SearchedStore = str(STORE),
    folder: Annotated[
        list[Path] | None, option("DIR", "Folder of the documents as they are now; repeatable.")
    ] = None,
    recipe: RecipeName = "default",
    budget: Annotated[int, option("N", "Token budget of each context.", min=1)] = 2000,
    limit: SearchLimit = 20,
    cases: CaseLimit = None,
    answers: Annotated[
        Path | None, option("FILE", "Answers to judge, as JSON Lines: id, answer, baseline.")
    ] = None,
    sessions: Annotated[
        Path | None, option("FILE", "Sessions of agents, as JSON Lines: id, turns.")
    ] = None,
    reranker: Annotated[str | None, option("NAME", "Reranker between search and context.")] = None,
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Find the layer that lost each failing question, with counts, measures and suggestions.

    The evidence of every question is followed through the documents, the chunks, both searches
    and the context.
    """
    from foveate import plugins
    from foveate.cli import diagnose_run
    from foveate.cli.eval_steps import limit_cases
    from foveate.cli.layout import format_columns
    from foveate.evals.diagnosis import run as diagnosis
    from foveate.evals.diagnosis.verdict import read_answers, read_sessions
    from foveate.evals.read import read_cases
    from foveate.evals.tables import table_to_markdown
    from foveate.pipeline.assembler import Assembler
    from foveate.pipeline.options import AssembleOptions, resolve_options
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    options = AssembleOptions(recipe=recipe, budget=budget, limit=limit)
    ranks = plugins.reranker(reranker) if reranker is not None else None
    resolve_options(options)  # what is refused is refused before any file is read
    known = read_cases(dataset, pools=False)
    chosen = [case for case in limit_cases(known, cases) if case.evidence]
    ids = {case.id for case in known}
    beside = diagnosis.DiagnosisInputs(
        current=diagnose_run.current_texts(folder) if folder else None,
        answers=diagnose_run.read_beside(answers, read_answers, ids),
        sessions=diagnose_run.read_beside(sessions, read_sessions, ids),
    )
    with (
        open_store_with_embedder(store) as (opened, embedder),
        output.progress_bar() as progress,
    ):
        assembler = Assembler(opened, embedder=embedder, options=options, reranker=ranks)
        found = diagnosis.diagnose(
            chosen, assembler, principals=principal or (), beside=beside, progress=progress
        )
    if as_json:
        output.write_json(diagnosis.diagnosis_to_json(found))
        return
    for number, table in enumerate(diagnosis.diagnosis_tables(found)):
        output.write_line(("\n" if number else "") + f"{table.title}\n")
        output.write_line(table_to_markdown(table))
    if pairs := diagnosis.list_advice(found):
        said = ["What to try", "", *format_columns(pairs, output.terminal_width())]
        output.write_line("\n" + "\n".join(said))
