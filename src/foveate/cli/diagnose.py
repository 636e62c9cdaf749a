"""`foveate diagnose`: which layer lost each failing question of a golden set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from foveate.evals.diagnosis.probe import CurrentText
    from foveate.evals.diagnosis.run import Diagnosis

MAX_SHOWN = 20
"""Lost questions that a terminal lists; JSON has all."""


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
    from foveate.cli.eval_steps import limit_cases
    from foveate.evals.diagnosis import run as diagnosis
    from foveate.evals.diagnosis.records import AgentSession, RecordedAnswers, read_records
    from foveate.evals.read import read_cases
    from foveate.pipeline.assembler import Assembler
    from foveate.pipeline.options import AssembleOptions, resolve_options
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    options = AssembleOptions(recipe=recipe, budget=budget, limit=limit)
    ranks = plugins.reranker(reranker) if reranker is not None else None
    resolve_options(options)  # what is refused is refused before any file is read
    known = read_cases(dataset, pools=False)
    chosen = [case for case in limit_cases(known, cases) if case.evidence]
    ids = {case.id for case in known}
    said = read_records(answers, RecordedAnswers, ids)
    done = read_records(sessions, AgentSession, ids)
    with (
        open_store_with_embedder(store) as (opened, embedder),
        output.progress_bar() as progress,
    ):
        assembler = Assembler(opened, embedder=embedder, options=options, reranker=ranks)
        found = diagnosis.diagnose(
            chosen,
            assembler,
            principals=principal or (),
            current=current_texts(folder) if folder else None,
            answers=said,
            sessions=done,
            progress=progress,
        )
    output.write_result(diagnosis.diagnosis_to_json(found), _lines(found), as_json=as_json)


def _lines(found: Diagnosis) -> Iterator[str]:
    """The table by layer, the questions that were lost, and what to try."""
    from foveate.cli.layout import format_columns
    from foveate.evals.diagnosis.run import diagnosis_table, list_advice, list_lost
    from foveate.evals.tables import table_to_markdown

    table, width = diagnosis_table(found), output.terminal_width()
    yield f"{table.title}\n"
    yield table_to_markdown(table, width)
    lost = list_lost(found)
    if lost:
        more = f", the first {MAX_SHOWN} of {len(lost)}" if len(lost) > MAX_SHOWN else ""
        yield f"\nQuestions lost{more}\n"
        yield from format_columns(lost[:MAX_SHOWN], width)
        yield "\nWhat to try\n"
        yield from format_columns(list_advice(found), width)


def current_texts(folders: Sequence[Path]) -> CurrentText:
    """The documents in their folders now, by the ids that an index gives them."""
    from functools import cache

    from foveate.core.errors import BadInput
    from foveate.ingest.load import load_file, read_file
    from foveate.ingest.loaders.limits import Limits
    from foveate.ingest.run import walk_paths
    from foveate.ingest.sandbox import Sandbox
    from foveate.ingest.walk import File

    files = {file.name: file for each in walk_paths(folders) for file in each.files}
    limits = Limits()

    @cache
    def text_in(file: File) -> str | None:
        """None where it cannot be read, or no longer: then nothing is known of it."""
        try:
            with Sandbox(limits) as apart:
                parts = list(load_file(read_file(file, limits), file.path, limits, apart))
        except (BadInput, OSError):
            return None
        return "\n".join(part.text for part in parts if not isinstance(part, BadInput))

    def current(document_id: str) -> str | None:
        file = files.get(document_id) or files.get(document_id.partition("#")[0])
        return None if file is None else text_in(file)

    return current
