"""What `foveate compact`, `expand` and `observed` do, once their flags are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.cli import output
from foveate.cli.assemble_run import load_model_facts
from foveate.cli.failures import BUDGET, INPUT, name_file_in_errors
from foveate.cli.files import (
    STDIO,
    display_name,
    open_output,
    read_json,
    read_text_lines,
    refuse_same_file,
)
from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, BadOption
from foveate.pipeline.bill import LoggedRequest, parse_request
from foveate.pipeline.compact import DEFAULT_TOKENIZER, OriginalStore, expand
from foveate.pipeline.compact_json import (
    CompactRequests,
    check_tools,
    compaction_bundle,
    expanded_to_json,
)
from foveate.pipeline.observed import observe

USAGE_KEYS = ("usage", "usage_metadata", "usageMetadata")


def compact_file(
    messages: str,
    out: str,
    *,
    budget: int | None,
    tools: str | None,
    tokenizer: str | None,
    model: str | None,
    bundle: str | None,
    originals: str | None,
) -> int:
    """Write a line for every line of the file; the exit code.

    Raises `BadInput` for a line that is no JSON.
    """
    for written in (out, originals):
        refuse_same_file(messages, written)
    if tokenizer is not None and model is not None and budget is None:
        raise BadOption("give --budget with --tokenizer; a model's window is in its own tokens")
    if budget is None and model is None:
        raise BadOption("give --budget N, or --model M to use its window")
    facts = load_model_facts(model)
    if tokenizer is not None or facts is None:
        counter = plugins.tokenizer(tokenizer or DEFAULT_TOKENIZER)
    else:
        counter = plugins.tokenizer(facts.tokenizer)
    schemas = check_tools(read_json(tools)) if tools is not None else ()
    requests = CompactRequests(budget=budget, tokenizer=counter, model=facts, tools=schemas)
    if bundle is not None:
        _write_bundle(messages, bundle, requests)
    if originals is not None:
        with closing(OriginalStore(originals)) as store:
            return _write_answers(messages, out, replace(requests, originals=store))
    return _write_answers(messages, out, requests)


def _write_answers(messages: str, out: str, requests: CompactRequests) -> int:
    fitted = refused = 0
    code = BUDGET
    with open_output(out) as file:
        for request in _requests(messages):
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


def expand_original(
    handle: str,
    originals: str,
    *,
    query: str,
    budget: int,
    tokenizer: str,
    tenant: str,
    principals: Sequence[str],
) -> dict[str, Any]:
    """What is shown of an original in this file; raises `BadInput` if it is not there."""
    if not Path(originals).is_file():  # opening it would make one
        raise BadInput(f"{originals}: no such file; foveate compact --originals FILE writes one")
    counter = plugins.tokenizer(tokenizer)
    with closing(OriginalStore(originals)) as store:
        text = expand(
            handle,
            store,
            query=query,
            budget=budget,
            tokenizer=counter,
            tenant=tenant,
            principals=principals,
        )
    return expanded_to_json(handle, text, counter)


def observe_files(
    request: str, usage: str, *, tokenizer: str | None, before: str | None
) -> dict[str, Any]:
    """What is learned from a logged request and the response to it, or the usage in it."""
    sent = read_request(request)
    answer = read_json(usage)
    for key in USAGE_KEYS:
        if isinstance(answer, dict) and isinstance(answer.get(key), dict):
            answer = answer[key]
    known = read_json(before) if before is not None else None
    if known is not None and not (
        isinstance(known, dict) and isinstance(known.get("start"), str) and "observations" in known
    ):
        raise BadInput(f"{before}: is not what foveate observed --json wrote")
    try:
        return observe(
            answer,
            sent.messages,
            load=plugins.tokenizer,
            tokenizer=tokenizer,
            before=known,
            tools=sent.tools or (),
            system=sent.system or "",
        )
    except BadInput as error:
        name = request if error.field in ("messages", "tools") else usage
        with name_file_in_errors(display_name(name)):
            raise


def read_request(name: str) -> LoggedRequest:
    """A logged request from a file, in the spelling of any provider."""
    value = read_json(name)
    with name_file_in_errors(display_name(name)):
        return parse_request(value)


def _requests(name: str) -> Iterator[Any]:
    for number, line in enumerate(read_text_lines(name), 1):
        if line.strip():
            try:
                yield parse_json(line)
            except BadInput as error:
                raise BadInput(f"{display_name(name)}: line {number}: {error}") from None


def _write_bundle(name: str, bundle: str, requests: CompactRequests) -> None:
    """All that a replay of the file's one list needs."""
    refuse_same_file(name, bundle)
    found = list(_requests(name))
    if len(found) != 1 or name == STDIO:
        raise BadOption("--bundle is for a file with one list")
    made = requests.compact(found[0])
    with open_output(bundle) as file:
        file.write(f"{output.encode_json(compaction_bundle(made))}\n".encode())
