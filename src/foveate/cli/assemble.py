"""`foveate assemble`: a question and its candidates, or a store, to the context that is sent."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import Json, Principals, Query


def assemble(
    *,
    query: Query,
    chunks: Annotated[
        str | None,
        typer.Option("--chunks", metavar="FILE", help="Candidates as JSON Lines; - is stdin."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="Retrieve them from this store instead."),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option("--recipe", metavar="R", help="A recipe's name, or a TOML file."),
    ] = "default",
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="N", help="Tokens for the context [the recipe's]."),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", metavar="T", help="What counts them [the recipe's]."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="Take its tokenizer and its window instead."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Another format than the recipe's."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", metavar="O", help="Another order than the recipe's."),
    ] = None,
    principal: Principals = None,
    as_json: Json = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on stderr what happened to every chunk, and why."),
    ] = False,
    bundle: Annotated[
        str | None,
        typer.Option("--bundle", metavar="FILE", help="Write all that `foveate replay` needs."),
    ] = None,
) -> None:
    """Assemble the context that a model is sent.

    The context alone goes to stdout, byte for byte; --explain writes to stderr, so that the
    context can be piped on.
    """
    if (chunks is None) == (store is None):
        raise typer.BadParameter("give either --chunks FILE or --store URL")
    from foveate.cli.assembled import from_file, from_store, hand_over, settle

    settled = settle(
        query=query,
        recipe=recipe,
        budget=budget,
        tokenizer=tokenizer,
        model=model,
        format=format,
        order=order,
    )
    principals = tuple(principal or ())
    if store is not None:
        prepared = from_store(store, query, settled, principals)
    else:
        prepared = from_file(chunks or "", query, settled, principals)
    hand_over(prepared, as_json=as_json, explain=explain, bundle=bundle)
