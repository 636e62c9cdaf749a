"""`foveate compact`, `expand` and `observed`: lists that fit, originals, counts that are right."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli import output
from foveate.cli.options import Json, ModelName, Principals, TokenizerName


def compact(
    *,
    messages: Annotated[
        str, typer.Option(metavar="IN", help="Message lists as JSON Lines; - is stdin.")
    ],
    out: Annotated[
        str, typer.Option(metavar="OUT", help="Fitted lists as JSON Lines; - is stdout.")
    ] = "-",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Tokens of a list's contents and arguments, and of its tools "
            "(default: the window of --model).",
        ),
    ] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="Tool schemas, a JSON list, for every list.")
    ] = None,
    tokenizer: TokenizerName = None,
    model: ModelName = None,
    bundle: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a bundle for `foveate replay`; one list only."),
    ] = None,
    originals: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the tool results that leave, for expand."),
    ] = None,
) -> None:
    """Fit the message lists of agents into a token budget.

    A line is {"id","messages":[...]} with optional "tools", "query", "pinned" (places of messages
    that stay) and "form" (openai, responses, anthropic, gemini). It gives a line with the "id", the
    "messages" that fit, their "token_count" and a decision for every message. A list that cannot
    fit gives {"id","error":{"type","message"}}, and the others continue. If none fits, the exit
    code is 4 where only the budget was too small, else 3.
    """
    from foveate.cli.compact_run import compact_file

    code = compact_file(
        messages,
        out,
        budget=budget,
        tools=tools,
        tokenizer=tokenizer,
        model=model,
        bundle=bundle,
        originals=originals,
    )
    if code:
        raise typer.Exit(code)


def expand(
    handle: Annotated[
        str, typer.Argument(metavar="HANDLE", help="The handle, as a note or the ledger names it.")
    ],
    *,
    originals: Annotated[
        str, typer.Option(metavar="FILE", help="File of originals, of compact or of the service.")
    ],
    query: Annotated[
        str, typer.Option(metavar="Q", help="What to show of it, where not all fits.")
    ] = "",
    budget: Annotated[
        int, typer.Option(metavar="N", min=1, help="Tokens of it at the most.")
    ] = 2_000,
    tokenizer: Annotated[
        str, typer.Option(metavar="T", help="Tokenizer that counts.")
    ] = "cl100k_base",
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Tenant that it was kept for.")] = "",
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Show the original of a tool result that compact left out or shortened.

    All of it, or of a longer one what fits the query, verbatim.
    """
    from foveate.cli.compact_run import expand_original

    shown = expand_original(
        handle,
        originals,
        query=query,
        budget=budget,
        tokenizer=tokenizer,
        tenant=tenant,
        principals=principal or (),
    )
    if as_json:
        output.write_json(shown)
    else:
        output.write_text(shown["text"])


def observed(
    request: Annotated[
        str,
        typer.Argument(
            metavar="REQUEST",
            help="The request as it was sent, with messages, tools and system prompt, as JSON.",
        ),
    ],
    *,
    usage: Annotated[
        str, typer.Option("--usage", metavar="FILE", help="The response, or its usage, as JSON.")
    ],
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="T", help="What counted until now (default: cl100k_base); not with --before."
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before", metavar="FILE", help="What this command wrote the time before with --json."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn from what a provider counted for a request.

    Prints the name of a tokenizer that counts this request at no less, and others like it, for
    `--tokenizer` of any command. With --json, also what it was learned from: keep that for
    --before, so that the next one remembers up to 32 requests.
    """
    from foveate.cli.compact_run import observe_files

    learned = observe_files(request, usage, tokenizer=tokenizer, before=before)
    output.write_result(learned, [learned["tokenizer"]], as_json=as_json)
