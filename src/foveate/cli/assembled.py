"""What `foveate assemble` does, once its flags are read: settle, assemble, hand over."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from foveate import plugins
from foveate.assembler import Assembler, prepare_candidates
from foveate.cli import output
from foveate.cli.files import called, text_lines, written
from foveate.cli.models import model_named
from foveate.core.candidates import candidates_from_jsonl
from foveate.core.errors import BadInput, BadOption, BadRequest
from foveate.core.replay import bundle_of
from foveate.core.types import Supplement
from foveate.core.wire import context_to_json
from foveate.plan import Plan, plan
from foveate.prepare import Prepared
from foveate.shortener import Shortener
from foveate.stored import opened
from foveate.taxonomy import Taxonomy, gated, taxonomy_in


def settle(
    *,
    query: str,
    recipe: str,
    budget: int | None,
    tokenizer: str | None,
    model: str | None,
    format: str | None,
    order: str | None,
) -> Plan:
    """The plan that the flags ask for."""
    if tokenizer is not None and model is not None:
        raise BadOption("give --tokenizer or --model, not both: a model brings its tokenizer")
    return plan(
        recipe=recipe,
        budget=budget,
        tokenizer=tokenizer,
        model=model,
        format=format,
        order=order,
        query=query,
    )


def side_knowledge(path: Path | None) -> Taxonomy | None:
    """The taxonomy of that file, if one is given."""
    return taxonomy_in(path) if path is not None else None


class Unranked(UserWarning):
    """Candidates came without scores: what their order was meant to say is lost."""


def shortener_of(name: str | None) -> Shortener | None:
    """The model that is asked for shorter versions, by its name."""
    return Shortener(model=model_named(name)) if name is not None else None


def from_file(
    name: str,
    query: str,
    settled: Plan,
    principals: tuple[str, ...],
    *,
    taxonomy: Taxonomy | None = None,
    shortener: Shortener | None = None,
) -> Prepared:
    """Candidates from a file of JSON Lines; whatever is wrong in it names the file."""
    lines, name = text_lines(name), called(name)
    try:
        candidates = candidates_from_jsonl(lines)
    except BadRequest as error:
        said = str(error)
        raise BadInput(said if said.startswith(f"{name}: ") else f"{name}: {said}") from error
    if not candidates:
        raise BadInput(f"{name}: holds no candidates; give one JSON object a line")
    if len(candidates) > 1 and not any(candidate.score for candidate in candidates):
        warnings.warn(
            f"{name}: no candidate has a score, so their order means nothing; give each a score "
            "(1 / rank will do)",
            Unranked,
            stacklevel=2,
        )
    intent, supplements = "", tuple[Supplement, ...]()
    if taxonomy is not None:
        settled = replace(settled, recipe=gated(settled.recipe, taxonomy))
        intent, supplements = taxonomy.about(query)
    return prepare_candidates(
        query,
        candidates,
        settled,
        principals=principals,
        intent=intent,
        supplements=supplements,
        shortener=shortener,
    )


def from_store(
    url: str,
    query: str,
    settled: Plan,
    principals: tuple[str, ...],
    *,
    taxonomy: Taxonomy | None = None,
    shortener: Shortener | None = None,
) -> Prepared:
    """Candidates that a store finds for the query."""
    with opened(url) as (store, embedder):
        assembler = Assembler(
            store=store,
            embedder=embedder,
            plan=settled,
            taxonomy=taxonomy,
            shortener=shortener,
        )
        return assembler.prepare(query, principals=principals)


def hand_over(prepared: Prepared, *, as_json: bool, explain: bool, bundle: str | None) -> None:
    """The bundle first: where it cannot be written, nothing is printed."""
    if bundle is not None:
        write_bundle(prepared, bundle)
    if as_json:
        output.write_json(context_to_json(prepared.context))
    else:
        output.write_text(prepared.context.text)
    output.flush()
    if explain:
        from foveate.cli.show import explained

        lines = explained(prepared.context, output.terminal_width())
        output.print_lines(["", *lines], sys.stderr)


def write_bundle(prepared: Prepared, name: str) -> None:
    """All that a replay needs, in one file."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    made = bundle_of(prepared.inputs, prepared.context, plugins.known(), when=when)
    with written(name) as file:
        file.write(f"{output.as_json(made)}\n".encode())
