"""`foveate search`: what the store finds for a question, before anything is assembled."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import STORE, Json, Principals, Query, Question, SearchLimit, one_question


def search(
    question: Question = None,
    *,
    query: Query = None,
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="The store to search.")
    ] = str(STORE),
    limit: SearchLimit = 10,
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Search a store by meaning and by words."""
    asked = one_question(question, query)
    from foveate.cli import output
    from foveate.cli.show import search_lines
    from foveate.core.candidates import candidate_to_json
    from foveate.pipeline.assembler import Assembler
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    with open_store_with_embedder(store) as (shelf, embedder):
        assembler = Assembler(store=shelf, embedder=embedder)
        found = assembler.search(asked, limit=limit, principals=tuple(principal or ()))
    if not as_json:
        for line in search_lines(found, output.terminal_width()):
            output.write_line(line)
        return
    records = [candidate_to_json(candidate) for candidate in found.candidates]
    for record in records:
        record.pop("embedding", None)
    output.write_json(
        {
            "query": asked,
            "badge": found.badge,
            "lexical_matches": found.lexical_matches,
            "exact": found.exact,
            "candidates": records,
        }
    )
