"""`foveate ask`: a question to a model, answered from a store, with checked citations."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli import options, output
from foveate.core.errors import ExternalError


def ask(
    question: Annotated[str, options.argument("QUESTION", "The question.")],
    *,
    store: options.SearchedStore = str(options.STORE),
    model: options.AskModel = None,
    prompt: options.PromptName = "grounded",
    channel: options.Channel = "text",
    language: options.PromptLanguage = "en",
    recipe: options.RecipeName = "default",
    budget: options.Tokens = None,
    max_tokens: options.MaxTokens = 1024,
    window: options.Window = None,
    timeout: options.Timeout = 120.0,
    temperature: options.Temperature = 0.0,
    limit: options.SearchLimit = 20,
    taxonomy: options.TaxonomyFile = None,
    principal: options.Principals = None,
    citations: options.Citations = False,
    as_json: options.Json = False,
    bundle: options.Bundle = None,
) -> None:
    """Answer a question from a store with a model.

    The answer is printed as it arrives, followed by its sources and by faults in its citations.
    API keys are read from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, and
    FOVEATE_MODEL_KEY for a server at a URL of your own.
    """
    if not model:
        raise typer.BadParameter(
            f"name a model: --model {options.MODEL_SYNTAX}; or set {options.MODEL_VARIABLE}"
        )
    from foveate.answer.ask import AskOptions, ask_events, resolve_for_model
    from foveate.answer.ask import ask as ask_model
    from foveate.answer.wire import answer_to_json
    from foveate.cli.ask_output import print_answer
    from foveate.cli.assemble_run import (
        assemble_store,
        load_model,
        note_what_is_missing,
        write_bundle,
        write_explanation,
    )
    from foveate.pipeline.options import AssembleOptions
    from foveate.pipeline.taxonomy import load_taxonomy

    how = AskOptions(
        prompt=prompt,
        channel=channel,
        language=language,
        max_tokens=max_tokens,
        timeout=timeout,
        window=window,
        temperature=temperature,
    )
    side_knowledge = load_taxonomy(taxonomy) if taxonomy is not None else None
    asked = AssembleOptions(
        recipe=recipe,
        budget=budget,
        limit=limit,
        principals=tuple(principal or ()),
    )
    reader = load_model(model)
    resolved, how = resolve_for_model(model, question, asked, how, advice="say it with --window N")
    result = assemble_store(store, question, options=resolved.options, taxonomy=side_knowledge)
    if bundle is not None:  # before the model is asked
        write_bundle(result, bundle)
    context = result.context
    note_what_is_missing(context)
    write_explanation(result, citations=citations)
    try:
        if as_json:
            output.write_json(answer_to_json(ask_model(context, reader, how), context))
        else:
            print_answer(ask_events(context, reader, how), context)
    except ExternalError as error:
        done = f"the context is kept in {bundle}" if bundle else "--bundle FILE keeps the context"
        raise ExternalError(f"{error}; {done}") from None
