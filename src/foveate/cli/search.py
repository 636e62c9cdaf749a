"""`foveate search`: what the store finds for a question, before anything is assembled."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import STORE, Json, Principals, Query


def search(
    query: Query,
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="The store to search.")
    ] = str(STORE),
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=100, help="At most so many chunks.")
    ] = 10,
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Search a store. By meaning and by words together; the best first."""
    from foveate.assembler import Assembler
    from foveate.cli import output
    from foveate.cli.show import found_lines
    from foveate.core.candidates import candidate_to_json
    from foveate.stored import opened

    with opened(store) as (shelf, embedder):
        assembler = Assembler(store=shelf, embedder=embedder, limit=limit)
        found = assembler.search(query, principals=tuple(principal or ()))
    if not as_json:
        for line in found_lines(found, output.terminal_width()):
            output.write_line(line)
        return
    records = [candidate_to_json(candidate) for candidate in found.candidates]
    for record in records:
        record.pop("embedding", None)
    output.write_json(
        {
            "query": query,
            "badge": found.badge,
            "lexical_matches": found.lexical_matches,
            "exact": found.exact,
            "candidates": records,
        }
    )
