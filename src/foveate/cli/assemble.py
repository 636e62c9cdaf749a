"""`foveate search` and `foveate assemble`."""

from __future__ import annotations

from typing import Any

import typer

from foveate.cli import options, output


def search(
    question: options.Question = None,
    *,
    query: options.Query = None,
    store: options.SearchedStore = str(options.STORE),
    limit: options.SearchLimit = 10,
    principal: options.Principals = None,
    as_json: options.Json = False,
) -> None:
    """Search a store by meaning and by words.

    The best come first. Texts that match alike are in the order of their sources, then of their
    places in them. A score adds up 1 / (60 + rank) by meaning and by words.
    """
    asked = options.one_question(question, query)
    from foveate.cli.show import search_lines
    from foveate.pipeline.assembler import Assembler
    from foveate.pipeline.flow import search_to_json
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    with open_store_with_embedder(store) as (opened, embedder):
        assembler = Assembler(store=opened, embedder=embedder)
        found = assembler.search(asked, limit=limit, principals=tuple(principal or ()))
    lines = search_lines(found, output.terminal_width())
    output.write_result(search_to_json(asked, found), lines, as_json=as_json)


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
    language: options.Language = "en",
    compressor: options.CompressorName = None,
    principal: options.Principals = None,
    limit: options.SearchLimit = 20,
    taxonomy: options.TaxonomyFile = None,
    as_json: options.Json = False,
    citations: options.Citations = False,
    explain: options.Explain = False,
    explain_all: options.ExplainAll = False,
    bundle: options.Bundle = None,
) -> None:
    """Assemble the context for a question.

    Its candidates come from a store, or from a file with --chunks. Only the context goes to
    stdout, byte for byte. --citations and --explain write to stderr, so that it can be piped.
    """
    asked_for = options.one_question(question, query)
    if chunks is not None and store is not None:
        raise typer.BadParameter("give either --chunks FILE or --store URL")
    from foveate.cli.assemble_run import (
        assemble_file,
        assemble_store,
        load_compressor,
        load_model_facts,
        write_explanation,
        write_result,
    )
    from foveate.cli.files import refuse_same_file
    from foveate.core.errors import BadOption
    from foveate.pipeline.options import AssembleOptions
    from foveate.pipeline.taxonomy import load_taxonomy

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
        language=language,
        principals=tuple(principal or ()),
        limit=limit,
    )
    ports: dict[str, Any] = {
        "options": asked,
        "taxonomy": load_taxonomy(taxonomy) if taxonomy is not None else None,
        "compressor": load_compressor(compressor),
    }
    if chunks is None:
        result = assemble_store(store or str(options.STORE), asked_for, **ports)
    else:
        result = assemble_file(chunks, asked_for, **ports)
    write_result(result, as_json=as_json, bundle=bundle)
    write_explanation(result, citations=citations, explain=explain, everything=explain_all)
