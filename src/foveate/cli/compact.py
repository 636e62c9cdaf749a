"""`foveate compact`: message lists of agents, one a line, fitted into a budget."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import ModelName, TokenizerName


def compact(
    *,
    messages: Annotated[
        str,
        typer.Option("--messages", metavar="IN", help="Message lists as JSON Lines; - is stdin."),
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="OUT", help="Fitted lists as JSON Lines; - is stdout.")
    ] = "-",
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="N",
            min=1,
            help="Tokens of a list's contents and arguments, and of its tools "
            "(default: the window of --model).",
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option("--tools", metavar="FILE", help="Tool schemas, a JSON list, for every list."),
    ] = None,
    tokenizer: TokenizerName = None,
    model: ModelName = None,
    bundle: Annotated[
        str | None,
        typer.Option(
            "--bundle", metavar="FILE", help="Write a bundle for `foveate replay`; one list only."
        ),
    ] = None,
) -> None:
    """Fit the message lists of agents into a token budget.

    A line is {"id","messages":[...]} with optional "tools", "query", "pinned" (places of messages
    that stay) and "form" (openai, responses, anthropic, gemini). It gives a line with the "id", the
    "messages" that fit, their "token_count" and a decision for every message. A list that cannot
    fit gives {"id","error":{"type","message"}}, and the others continue.
    """
    from foveate.cli.compact_run import compact_file

    compact_file(
        messages, out, budget=budget, tools=tools, tokenizer=tokenizer, model=model, bundle=bundle
    )
