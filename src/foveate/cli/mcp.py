"""`foveate mcp`: the tools for agents, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import STORE, Principals


def mcp(
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="The store to search.")
    ] = str(STORE),
    principal: Principals = None,
    budget: Annotated[
        int,
        typer.Option(
            "--budget", metavar="N", min=1, help="Token budget of a call that names none."
        ),
    ] = 4_000,
    max_budget: Annotated[
        int,
        typer.Option("--max-budget", metavar="N", min=1, help="Largest token budget of a call."),
    ] = 32_000,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="S", min=0.1, help="Time limit for a call, in seconds."),
    ] = 60.0,
) -> None:
    """Run the MCP server for one store: the tools assemble, search and check_answer.

    It speaks the Model Context Protocol on standard input and output, for programs that start
    their tools themselves, and exits when its input ends. `foveate serve` has the same tools over
    HTTP, at /mcp.
    """
    from foveate.pipeline.store_with_embedder import open_store_with_embedder
    from foveate.service.mcp.bounds import ToolLimits
    from foveate.service.mcp.stdio import serve

    with open_store_with_embedder(store) as (shelf, embedder):
        serve(
            shelf,
            embedder,
            principals=tuple(principal or ()),
            bounds=ToolLimits(budget=max_budget, usual_budget=min(budget, max_budget)),
            seconds=timeout,
        )
