"""`foveate assemble`: a question and its candidates, or a store, to the context that is sent."""

from __future__ import annotations

import typer

from foveate.cli import options


def assemble(
    *,
    query: options.Query,
    chunks: options.Chunks = None,
    store: options.FromStore = None,
    recipe: options.RecipeName = "default",
    budget: options.Tokens = None,
    tokenizer: options.TokenizerName = None,
    model: options.ModelName = None,
    format: options.FormatName = None,
    order: options.OrderName = None,
    shortener: options.ShortenerName = None,
    principal: options.Principals = None,
    taxonomy: options.TaxonomyFile = None,
    as_json: options.Json = False,
    explain: options.Explain = False,
    bundle: options.Bundle = None,
) -> None:
    """Assemble the context that a model is sent.

    The context alone goes to stdout, byte for byte; --explain writes to stderr, so that the
    context can be piped on.
    """
    if (chunks is None) == (store is None):
        raise typer.BadParameter("give either --chunks FILE or --store URL")
    from foveate.cli.assembled import (
        from_file,
        from_store,
        hand_over,
        settle,
        shortener_of,
        side_knowledge,
    )
    from foveate.cli.files import refuse_same

    refuse_same(chunks, bundle)
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
    aside, by = side_knowledge(taxonomy), shortener_of(shortener)
    if store is not None:
        prepared = from_store(store, query, settled, principals, taxonomy=aside, shortener=by)
    else:
        found = chunks or ""
        prepared = from_file(found, query, settled, principals, taxonomy=aside, shortener=by)
    hand_over(prepared, as_json=as_json, explain=explain, bundle=bundle)
