"""The header and separator of a candidate, to be counted before its place is known.

The marker is as wide as any can be, and the block before is of the same document or of another;
right `behind` one of the same document, a header may leave the name out. If
the format names the fields a header reads, candidates with equal fields share one header.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import replace
from operator import attrgetter

from foveate.core.blocks import block_from_candidate, rendition_text
from foveate.core.contracts import Tokenizer
from foveate.core.render import Renderer
from foveate.core.renditions import rendition_chunks
from foveate.core.request import Inputs, Recipe, Request
from foveate.core.token_counter import TokenCounter, no_header_key
from foveate.core.types import Block, BlockPosition, Candidate
from foveate.core.zones import Budget

_FIELD_PATHS = {
    name: f"chunk.{name}" for name in ("source", "title", "section", "page", "row", "line")
}
_FIELD_PATHS["score"] = "given_score"


def build_request(
    inputs: Inputs,
    budget: Budget,
    tokenizer: Tokenizer,
    renderer: Renderer,
    known: MutableMapping[str, int],
) -> Request:
    """What the stages may look at, with a counter of texts as this recipe renders them."""
    most = max(99, len(inputs.candidates) + len(inputs.neighbours))
    return Request(
        query=inputs.query,
        budget=budget,
        token_counter=TokenCounter(
            tokenizer=tokenizer,
            body=renderer.render_text,
            header=header_renderer(inputs.recipe, renderer, most),
            count_cache=known,
            header_key=header_key(inputs.recipe),
        ),
        principals=inputs.principals,
        neighbours=inputs.neighbours,
        supplements=inputs.supplements,
        intent=inputs.intent,
        query_embedding=inputs.query_embedding,
        instant=inputs.instant,
        language=inputs.language,
        offers=inputs.offers,
    )


def header_renderer(
    recipe: Recipe, renderer: Renderer, most: int
) -> Callable[[Candidate, BlockPosition], str]:
    """Writes what stands around a candidate's text at a place; markers go up to `most`."""

    def render_header(candidate: Candidate, place: BlockPosition) -> str:
        marker = 1 if place == "first" else most
        block = block_from_candidate(candidate, rendition_text(candidate), marker, recipe)
        return _render_overhead(renderer, block, place)

    return render_header


def header_key(recipe: Recipe) -> Callable[[Candidate], Hashable]:
    """Tells candidates apart whose headers may differ; None: this one's is its own."""
    names = recipe.format.reads
    if names is None or recipe.include_metadata or not _FIELD_PATHS.keys() >= set(names):
        return no_header_key
    read = attrgetter("origin", "origin", *(_FIELD_PATHS[name] for name in names))  # never just one

    def key(candidate: Candidate) -> Hashable:
        if candidate.origin == "supplement":
            return None  # it has a header of its own
        if candidate.parts and candidate.shown is not None:
            first = rendition_chunks(candidate, candidate.shown)[0]
            candidate = replace(candidate, chunk=first)
        values: Hashable = read(candidate)
        return values

    return key


def _render_overhead(renderer: Renderer, block: Block, place: BlockPosition) -> str:
    if place == "first":
        return renderer.overhead(block)
    if place == "behind":
        return renderer.overhead(block, block)
    joined = place == "same" and not renderer.format.drops_repeats
    other = replace(block, document_id="", source="", title="")
    return renderer.overhead(block, block if joined else other)
