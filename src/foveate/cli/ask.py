"""`foveate ask`: a question to a model, answered from a store, with checked citations."""

from __future__ import annotations

import sys

import typer

from foveate.cli import options


def ask(
    question: options.AskQuestion = None,
    *,
    store: options.SearchedStore = str(options.STORE),
    model: options.AskModel = None,
    prompt: options.PromptName = "grounded",
    channel: options.Channel = "text",
    language: options.PromptLanguage = "en",
    recipe: options.AskRecipe = None,
    budget: options.Tokens = None,
    max_tokens: options.MaxTokens = 1024,
    window: options.Window = None,
    timeout: options.Timeout = 120.0,
    temperature: options.Temperature = 0.0,
    limit: options.AskLimit = None,
    taxonomy: options.TaxonomyFile = None,
    continued: options.ConversationFile = None,
    summariser: options.SummariserName = None,
    principal: options.Principals = None,
    as_json: options.Json = False,
    bundle: options.Bundle = None,
) -> None:
    """Answer a question from a store with a model.

    The answer is printed as it arrives, followed by its sources and by faults in its citations.
    API keys are read from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, and
    FOVEATE_MODEL_KEY for a server at a URL of your own.

    With --continue FILE the model also reads the earlier turns in FILE, and the new turn is added
    to it; only its owner may read FILE. Without a question, on a terminal, the command asks for one
    question after another until Ctrl-D.
    """
    if not model:
        raise typer.BadParameter(
            f"name a model: --model {options.MODEL_SYNTAX}; or set {options.MODEL_VARIABLE}"
        )
    talks = continued is not None or question is None
    if talks and taxonomy is not None:
        raise typer.BadParameter("--taxonomy is for a single question")
    _check_options(question, talks=talks, as_json=as_json, bundle=bundle, summariser=summariser)
    from foveate.answer.ask import AskOptions, resolve_for_model
    from foveate.cli.ask_run import run_ask
    from foveate.cli.assemble_run import load_model
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
    who = tuple(principal or ())
    if question is None or talks:
        from foveate.cli.conversation import run_conversation

        run_conversation(
            question,
            model,
            how,
            store=store,
            recipe=recipe or "agent-session",
            budget=budget,
            principals=who,
            limit=limit or 20,
            summariser=summariser,
            file=continued,
            as_json=as_json,
        )
        return
    side_knowledge = load_taxonomy(taxonomy) if taxonomy is not None else None
    asked = AssembleOptions(
        recipe=recipe or "default", budget=budget, limit=limit or 20, principals=who
    )
    reader = load_model(model)
    resolved, how = resolve_for_model(model, question, asked, how, advice=options.WINDOW_ADVICE)
    run_ask(
        question,
        reader,
        resolved,
        how,
        store=store,
        taxonomy=side_knowledge,
        as_json=as_json,
        bundle=bundle,
    )


def _check_options(
    question: str | None, *, talks: bool, as_json: bool, bundle: str | None, summariser: str | None
) -> None:
    if question is None and not (sys.stdin is not None and sys.stdin.isatty()):
        raise typer.BadParameter("ask a question, or run it on a terminal to have a conversation")
    if question is None and as_json:
        raise typer.BadParameter("--json takes a question; --continue FILE goes on with the next")
    if talks and bundle is not None:
        raise typer.BadParameter("--bundle is of one question; --continue keeps a conversation")
    if summariser is not None and not talks:
        raise typer.BadParameter("--summariser is for a conversation: --continue FILE")
