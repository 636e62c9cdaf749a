"""`foveate search`, `foveate assemble` and `foveate assemble-batch`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from foveate.cli import options
from foveate.cli.options import (
    STORE,
    EngineName,
    Json,
    Principals,
    Query,
    Question,
    RayAddress,
    SearchedStore,
    SearchLimit,
    Workers,
    one_question,
)


def search(
    question: Question = None,
    *,
    query: Query = None,
    store: SearchedStore = str(STORE),
    limit: SearchLimit = 10,
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Search a store by meaning and by words.

    The best come first. Texts that match alike are in the order of their sources, then of their
    places in them. A score adds up 1 / (60 + rank) by meaning and by words.
    """
    asked = one_question(question, query)
    from foveate.cli import output
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
        load_model_facts,
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
    write_result(result, as_json=as_json, explain=explain, bundle=bundle)


def assemble_batch(
    *,
    requests: Annotated[
        str,
        typer.Option("--in", metavar="REQUESTS", help="A .jsonl file, a folder of them, or -."),
    ],
    contexts: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="CONTEXTS",
            help="The same kind; - is stdout. A missing folder is created.",
        ),
    ],
    engine: EngineName = "local",
    workers: Workers = None,
    address: RayAddress = None,
    redo: Annotated[
        bool, typer.Option("--anew", help="Answer all partitions again, finished ones too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request is {"id","query","chunks":[...],"budget","recipe"} with optional "tokenizer",
    "model", "format", "order", "principals" and "messages". An answer is the "id" with the output
    of assemble --json. A refused request gives {"id","error":{"type","message"}}, and the others
    continue. A line holds one request. If all are refused, the exit code is 4 where only budgets
    were too small, else 3.

    If REQUESTS is a folder, each file is a partition, and its answers are a file of the same name.
    A finished partition is skipped the next time. A partition that cannot be read (exit code 3),
    or whose worker died four times (5), is reported, and the others continue.
    """
    from foveate.batch.engines import check_engine, open_engine
    from foveate.batch.partitions import FileAccess, partitions
    from foveate.batch.run import run_partitions
    from foveate.cli import batch_run, files
    from foveate.cli.output import progress_bar

    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    check_engine(engine, workers, address)
    files.refuse_same_file(requests, contexts)
    found = partitions(requests, contexts)
    access = FileAccess(read_lines=files.read_lines, open_atomic=files.open_output)
    with open_engine(engine, workers, address) as fleet, progress_bar() as on_progress:
        report = run_partitions(found, fleet, access, redo=redo, on_progress=on_progress)
    if found[0].note_path is None:
        batch_run.raise_failure(report)
    if code := batch_run.print_report(report, as_json=as_json):
        raise typer.Exit(code)
