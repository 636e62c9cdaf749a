"""What `foveate assemble` does, once its flags are read: settle, assemble, hand over."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from foveate import plugins
from foveate.cli import output
from foveate.cli.files import display_name, open_output, read_text_lines
from foveate.core.candidates import candidates_from_jsonl
from foveate.core.context_json import context_to_json
from foveate.core.errors import BadInput, InvalidRequest
from foveate.core.replay import build_bundle
from foveate.core.types import Context
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.reason_messages import evidence_messages
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.ports import Model

if TYPE_CHECKING:
    from foveate.models import Model as Facts
    from foveate.pipeline.compressor import Compressor


def load_model_facts(name: str | None) -> Facts | None:
    """Window and tokenizer of a model, whose name is written as for `load_model` or alone."""
    if name is None:
        return None
    from foveate.answer.answer_budget import find_answer_model
    from foveate.models import model as find_model
    from foveate.providers.chat import registry_name

    advice = "if it has a larger one, give --budget N in place of --model"
    return find_answer_model(name) or find_model(registry_name(name), advice=advice)


def load_model(name: str) -> Model:
    """The model; raises `ExternalError` if its `check` finds that a package or key is missing."""
    model = plugins.model(name)
    check = getattr(model, "check", None)
    if check is not None:
        check()
    return model


def load_compressor(name: str | None) -> Compressor | None:
    """The model that writes shorter versions, if one is named."""
    if name is None:
        return None
    from foveate.pipeline.compressor import Compressor

    return Compressor(model=load_model(name))


def assemble_file(name: str, query: str, **ports: Any) -> AssemblyResult:
    """The context of candidates in a file of JSON Lines; its errors name the file.

    `ports`: the options and other fields of an `Assembler`.
    """
    lines, name = read_text_lines(name), display_name(name)
    try:
        candidates = candidates_from_jsonl(lines)
    except InvalidRequest as error:
        message = str(error).removeprefix(f"{name}: ")
        raise BadInput(f"{name}: {message}{_document_hint(name)}") from error
    return Assembler(**ports).run(query, candidates)


def _document_hint(name: str) -> str:
    """What to do with documents that are taken for candidates; empty for other files."""
    path = Path(name)
    if not path.is_dir() and (not path.is_file() or "json" in path.suffix):
        return ""
    return f"; documents are indexed first: foveate index {quote(name)}"


def assemble_store(url: str, query: str, **ports: Any) -> AssemblyResult:
    """The context of what a store finds for the query."""
    with open_store_with_embedder(url) as (store, embedder):
        return Assembler(store=store, embedder=embedder, **ports).run(query)


def write_result(result: AssemblyResult, *, as_json: bool, bundle: str | None) -> None:
    """The bundle first: where it cannot be written, nothing is printed."""
    if bundle is not None:
        write_bundle(result, bundle)
    if as_json:
        output.write_json(context_to_json(result.context))
    else:
        output.write_text(result.context.text)
    output.flush()
    note_what_is_missing(result.context)


def write_explanation(
    result: AssemblyResult, *, citations: bool, explain: bool = False, everything: bool = False
) -> None:
    """On stderr: the citations, and what became of the candidates, in short or all of it."""
    if not (citations or explain or everything):
        return
    from foveate.cli.show import citation_lines, explain_all_lines, explain_lines

    assert result.inputs is not None  # the command line has no cache
    context, width, found = result.context, output.terminal_width(), result.inputs.candidates
    lines = ["", *citation_lines(context, width)] if citations and not everything else []
    if explain or everything:
        lines += ["", *(explain_all_lines if everything else explain_lines)(context, found, width)]
    output.print_lines(lines, sys.stderr)


def note_what_is_missing(context: Context) -> None:
    """Say on stderr which identifier is not shown, and why a context is empty, if it is."""
    for message in evidence_messages(context):
        output.write_note(message)
    if context.text:
        return
    why = context.trace[0].notes.get("no_candidates", "")
    reasons = Counter(
        d.reason for entry in context.trace for d in entry.decisions if d.action == "dropped"
    )
    listed = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
    output.write_note(f"the context is empty: {why or 'all candidates were dropped: ' + listed}")


def write_bundle(result: AssemblyResult, name: str) -> None:
    """All that a replay needs, in one file."""
    assert result.inputs is not None  # the command line has no cache
    when = datetime.now(UTC).isoformat(timespec="seconds")
    made = build_bundle(result.inputs, result.context, plugins.component_registry(), when=when)
    with open_output(name) as file:
        file.write(f"{output.encode_json(made)}\n".encode())
