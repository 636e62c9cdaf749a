"""`foveate compact` and `expand`: lists that fit, and originals of what left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foveate.cli import output
from foveate.cli.failures import BUDGET, INPUT
from foveate.cli.options import Json, ModelName, Principals, TokenizerName, argument, option
from foveate.core.errors import BadInput, BadOption, name_in_errors

if TYPE_CHECKING:
    from foveate.pipeline.compact_json import CompactRequests

LINE_RULE = 'a line must be a whole list, [message, …] or {"id", "messages"}'


def compact(
    *,
    messages: Annotated[str, option("IN", "Message lists as JSON Lines; - is stdin.")],
    out: Annotated[str, option("OUT", "Fitted lists as JSON Lines; - is stdout.")] = "-",
    budget: Annotated[
        int | None,
        option(
            "N",
            "Tokens of a list's contents and arguments, and of its tools "
            "(default: the window of --model).",
            min=1,
        ),
    ] = None,
    tools: Annotated[
        str | None, option("FILE", "Tool schemas, a JSON list, for every list.")
    ] = None,
    tools_budget: Annotated[
        int | None,
        option(
            "N", "Tokens of the tools: the likely ones whole, find_tools for the others.", min=1
        ),
    ] = None,
    tokenizer: TokenizerName = None,
    model: ModelName = None,
    bundle: Annotated[
        str | None,
        option("FILE", "Write a bundle for `foveate replay`; one list only."),
    ] = None,
    originals: Annotated[
        str | None,
        option("FILE", "Keep the tool results that leave, for expand."),
    ] = None,
) -> None:
    """Fit the message lists of agents into a token budget.

    A line is a list of messages, or {"id","messages":[...]} with optional "tools", "query",
    "pinned" (places of messages that stay) and "form" (openai, responses, anthropic, gemini). It
    gives a line with the "id", the "messages" that fit, their "token_count" and a decision for
    every message. A list that cannot fit gives {"id","error":{"type","message"}}, and the others
    continue. If none fits, the exit code is 4 where only the budget was too small, else 3.
    """
    from contextlib import closing, nullcontext
    from dataclasses import replace

    from foveate import plugins
    from foveate.cli.assemble_run import load_model_facts
    from foveate.cli.files import read_json, refuse_same_file
    from foveate.pipeline.compact import OriginalStore
    from foveate.pipeline.compact_json import CompactRequests, check_tools

    for written in (out, originals):
        refuse_same_file(messages, written)
    if tokenizer is not None and model is not None and budget is None:
        raise BadOption("give --budget with --tokenizer; a model's window is in its own tokens")
    if budget is None and model is None:
        raise BadOption("give --budget N, or --model M to use its window")
    counter = plugins.tokenizer(tokenizer) if tokenizer is not None else None
    facts = load_model_facts(model)
    schemas = check_tools(read_json(tools)) if tools is not None else ()
    requests = CompactRequests(
        budget=budget, tokenizer=counter, model=facts, tools=schemas, tools_budget=tools_budget
    )
    if bundle is not None:
        _write_bundle(messages, bundle, requests)
    keeper = nullcontext() if originals is None else closing(OriginalStore(originals))
    with keeper as store:
        code = _write_answers(messages, out, replace(requests, originals=store))
    if code:
        raise typer.Exit(code)


def _write_answers(messages: str, out: str, requests: CompactRequests) -> int:
    """Write a line for every line of the file; the exit code."""
    from foveate.cli.files import display_name, open_output

    fitted = refused = 0
    code = BUDGET
    with open_output(out) as file:
        for request in _read_requests(messages):
            answer = requests.answer(request)
            if "error" not in answer:
                fitted += 1
            else:
                refused += 1
                code = code if "needed" in answer["error"] else INPUT
            file.write(f"{output.encode_json(answer)}\n".encode())
    if not fitted + refused:
        raise BadInput(f"{display_name(messages)}: holds no message lists; give one a line")
    output.write_note(f"message lists: {fitted} fitted, {refused} refused")
    return 0 if fitted else code


def _write_bundle(name: str, bundle: str, requests: CompactRequests) -> None:
    """All that a replay of the file's one list needs."""
    from foveate.cli.files import STDIO, open_output, refuse_same_file
    from foveate.pipeline.compact_json import compaction_bundle

    refuse_same_file(name, bundle)
    found = list(_read_requests(name))
    if len(found) != 1 or name == STDIO:
        raise BadOption("--bundle is for a file with one list")
    made = requests.compact(found[0])
    with open_output(bundle) as file:
        file.write(f"{output.encode_json(compaction_bundle(made))}\n".encode())


def _read_requests(name: str) -> Iterator[Any]:
    """The lines as JSON; raises `BadInput` for one that is none, or is one message of a list."""
    from foveate.cli.files import display_name, read_text_lines
    from foveate.core.candidates import parse_json

    for number, line in enumerate(read_text_lines(name), 1):
        if not line.strip():
            continue
        where = f"{display_name(name)}: line {number}"
        with name_in_errors(where):
            request = parse_json(line)
        if isinstance(request, dict) and "role" in request and "messages" not in request:
            raise BadInput(f"{where}: this is one message; {LINE_RULE}")
        yield request


def expand(
    handle: Annotated[
        str,
        argument(
            "[HANDLE]", "The handle, as a note or the ledger names it; none: search with --query."
        ),
    ] = "",
    *,
    originals: Annotated[str, option("FILE", "File of originals, of compact or of the service.")],
    query: Annotated[str, option("Q", "What to show of it, where not all fits.")] = "",
    budget: Annotated[int, option("N", "Tokens of it at the most.", min=1)] = 2_000,
    tokenizer: Annotated[str, option("T", "Tokenizer that counts.")] = "cl100k_base",
    tenant: Annotated[str, option("NAME", "Tenant that it was kept for.")] = "",
    principal: Principals = None,
    as_json: Json = False,
) -> None:
    """Show the original of a tool result that compact left out or shortened.

    All of it, or of a longer one what fits the query, verbatim.
    """
    from contextlib import closing
    from pathlib import Path

    from foveate import plugins
    from foveate.pipeline.compact import OriginalStore
    from foveate.pipeline.compact import expand as expand_handle
    from foveate.pipeline.compact_json import expanded_to_json

    if not Path(originals).is_file():  # opening it would make one
        raise BadInput(f"{originals}: no such file; foveate compact --originals FILE writes one")
    counter = plugins.tokenizer(tokenizer)
    with closing(OriginalStore(originals)) as store:
        text = expand_handle(
            handle,
            store,
            query=query,
            budget=budget,
            tokenizer=counter,
            tenant=tenant,
            principals=principal or (),
        )
    if as_json:
        output.write_json(expanded_to_json(handle, text, counter))
    else:
        output.write_text(text)
