"""`foveate assemble`: a question and its candidates, or a store, to the context that is sent."""

from __future__ import annotations

import typer

from foveate.cli import options


def assemble(
    question: options.Question = None,
    *,
    query: options.Query = None,
    chunks: options.Chunks = None,
    store: options.StoreUrl = None,
    recipe: options.RecipeName = "default",
    budget: options.Tokens = None,
    tokenizer: options.TokenizerName = None,
    model: options.ModelName = None,
    format: options.FormatName = None,
    order: options.OrderName = None,
    compressor: options.CompressorName = None,
    principal: options.Principals = None,
    limit: options.SearchLimit = 20,
    taxonomy: options.TaxonomyFile = None,
    as_json: options.Json = False,
    explain: options.Explain = False,
    bundle: options.Bundle = None,
) -> None:
    """Assemble the context for a question.

    Its candidates come from a store, or from a file with --chunks. Only the context goes to
    stdout, byte for byte. --explain writes to stderr, so that the context can be piped.
    """
    asked_for = options.one_question(question, query)
    if chunks is not None and store is not None:
        raise typer.BadParameter("give either --chunks FILE or --store URL")
    from foveate.cli.assemble_run import (
        assemble_file,
        assemble_store,
        load_compressor,
        load_taxonomy,
        write_result,
    )
    from foveate.cli.files import refuse_same_file
    from foveate.cli.models import load_model_facts
    from foveate.core.errors import BadOption
    from foveate.pipeline.options import AssembleOptions

    refuse_same_file(chunks, bundle)
    if tokenizer is not None and model is not None:
        raise BadOption("give --tokenizer or --model, not both: a model brings its tokenizer")
    asked = AssembleOptions(
        recipe=recipe,
        budget=budget,
        tokenizer=tokenizer,
        model=load_model_facts(model),
        format=format,
        order=order,
        principals=tuple(principal or ()),
        limit=limit,
    )
    aside, by = load_taxonomy(taxonomy), load_compressor(compressor)
    if chunks is None:
        url = store or str(options.STORE)
        prepared = assemble_store(url, asked_for, asked, taxonomy=aside, compressor=by)
    else:
        prepared = assemble_file(chunks, asked_for, asked, taxonomy=aside, compressor=by)
    write_result(prepared, as_json=as_json, explain=explain, bundle=bundle)
