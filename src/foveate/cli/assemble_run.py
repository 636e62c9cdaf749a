"""What `foveate assemble` does, once its flags are read: settle, assemble, hand over."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from foveate import plugins
from foveate.cli import output
from foveate.cli.files import display_name, open_output, read_text_lines
from foveate.cli.models import load_model
from foveate.core.candidates import candidates_from_jsonl
from foveate.core.context_json import context_to_json
from foveate.core.errors import BadInput, InvalidRequest
from foveate.core.replay import build_bundle
from foveate.pipeline import taxonomy as taxonomies
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.compressor import Compressor
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.options import AssembleOptions
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.pipeline.taxonomy import Taxonomy


def load_taxonomy(path: Path | None) -> Taxonomy | None:
    """The taxonomy of that file, if one is given."""
    return taxonomies.load_taxonomy(path) if path is not None else None


def load_compressor(name: str | None) -> Compressor | None:
    """The model that is asked for shorter versions, by its name."""
    return Compressor(model=load_model(name)) if name is not None else None


def assemble_file(
    name: str,
    query: str,
    options: AssembleOptions,
    *,
    taxonomy: Taxonomy | None = None,
    compressor: Compressor | None = None,
) -> AssemblyResult:
    """Candidates from a file of JSON Lines; whatever is wrong in it names the file."""
    lines, name = read_text_lines(name), display_name(name)
    try:
        candidates = candidates_from_jsonl(lines)
    except InvalidRequest as error:
        said = str(error)
        raise BadInput(said if said.startswith(f"{name}: ") else f"{name}: {said}") from error
    if not candidates:
        raise BadInput(f"{name}: holds no candidates; give one JSON object a line")
    assembler = Assembler(options=options, taxonomy=taxonomy, compressor=compressor)
    return assembler.run(query, candidates)


def assemble_store(
    url: str,
    query: str,
    options: AssembleOptions,
    *,
    taxonomy: Taxonomy | None = None,
    compressor: Compressor | None = None,
) -> AssemblyResult:
    """Candidates that a store finds for the query."""
    with open_store_with_embedder(url) as (store, embedder):
        assembler = Assembler(
            store=store,
            embedder=embedder,
            options=options,
            taxonomy=taxonomy,
            compressor=compressor,
        )
        return assembler.run(query)


def write_result(
    result: AssemblyResult, *, as_json: bool, explain: bool, bundle: str | None
) -> None:
    """The bundle first: where it cannot be written, nothing is printed."""
    if bundle is not None:
        write_bundle(result, bundle)
    if as_json:
        output.write_json(context_to_json(result.context))
    else:
        output.write_text(result.context.text)
    output.flush()
    if explain:
        from foveate.cli.show import explain_lines

        lines = explain_lines(result.context, output.terminal_width())
        output.print_lines(["", *lines], sys.stderr)


def write_bundle(result: AssemblyResult, name: str) -> None:
    """All that a replay needs, in one file."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    assert result.inputs is not None  # the command line has no cache
    made = build_bundle(result.inputs, result.context, plugins.component_registry(), when=when)
    with open_output(name) as file:
        file.write(f"{output.encode_json(made)}\n".encode())
