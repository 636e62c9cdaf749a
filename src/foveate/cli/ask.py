"""`foveate ask`: a question to a model, answered from a store, with checked citations."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from foveate.cli import options
from foveate.cli.options import STORE

ENVIRONMENT = "FOVEATE_MODEL"


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    *,
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="The store to answer from.")
    ] = str(STORE),
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="M",
            envvar=ENVIRONMENT,
            show_envvar=False,
            help="openai:MODEL, ollama:MODEL, anthropic:MODEL, each also as MODEL@URL, or "
            "gguf:FILE; else the environment's FOVEATE_MODEL.",
        ),
    ] = None,
    prompt: Annotated[
        str,
        typer.Option(
            "--prompt", metavar="P", help="grounded, strict, soft, voice, or a file (.md, .txt)."
        ),
    ] = "grounded",
    channel: Annotated[
        Literal["text", "voice"],
        typer.Option("--channel", help="voice: no markers, sources are found by what is said."),
    ] = "text",
    language: Annotated[
        str, typer.Option("--language", metavar="L", help="Of the prompt: en, nl, de or fr.")
    ] = "en",
    recipe: options.RecipeName = "default",
    budget: options.Tokens = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Tokens for the answer.")
    ] = 1024,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", metavar="N", min=1, help="Tokens that the model holds [the registry's]."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds for the answer.")
    ] = 120.0,
    principal: options.Principals = None,
    as_json: options.Json = False,
    bundle: options.Bundle = None,
) -> None:
    """Ask a model a question about a store.

    The answer is printed as it arrives, then the sources that it cites, and what is wrong with its
    citations. Keys are read from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, and
    FOVEATE_MODEL_KEY for an address of your own.
    """
    if not model:
        raise typer.BadParameter(
            "name a model: --model openai:MODEL, ollama:MODEL, anthropic:MODEL (MODEL@URL for an "
            f"address of your own) or gguf:FILE, or set {ENVIRONMENT}"
        )
    from foveate.answer.ask import Asking
    from foveate.cli.asked import answered, settled_for

    settled = settled_for(
        question,
        model,
        Asking(
            prompt=prompt,
            channel=channel,
            language=language,
            max_tokens=max_tokens,
            timeout=timeout,
            window=window,
        ),
        recipe=recipe,
        budget=budget,
    )
    answered(
        question,
        settled,
        store=store,
        principals=tuple(principal or ()),
        as_json=as_json,
        bundle=bundle,
    )
