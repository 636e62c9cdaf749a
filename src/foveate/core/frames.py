"""What stands around a candidate's text, header and separator, to be weighed before it is placed.

The marker and the block before it are not known yet: the marker is as wide as any can be, the
block before is of the same document or of another. Rule: where the format says which fields a
header reads, one header is made for all candidates that have the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from foveate.core.blocks import block_of, shown_text
from foveate.core.render import Renderer
from foveate.core.text.sanitise import SHORT, plain
from foveate.core.types import Block, Candidate, Place, Recipe

_FIELDS = {name: f"chunk.{name}" for name in ("source", "title", "section", "page", "row", "line")}
_FIELDS["score"] = "score"

Frame = Callable[[Candidate, Place], str]


def frames(recipe: Recipe, renderer: Renderer, most: int) -> Frame:
    """All that stands around a candidate's text at a place; markers go up to `most`."""

    def anew(candidate: Candidate, place: Place) -> str:
        block = block_of(candidate, shown_text(candidate), 1 if place == "first" else most, recipe)
        return _around(renderer, block, place)

    names: tuple[str, ...] | None = getattr(recipe.format, "reads", None)
    if names is None or recipe.include_metadata or not _FIELDS.keys() >= set(names):
        return anew
    read = attrgetter("origin", "shown", *(_FIELDS[name] for name in names))

    def remembered(candidate: Candidate, place: Place) -> str:
        origin, shown, *values = read(candidate)
        in_part = shown is not None and candidate.parts
        if in_part or origin == "supplement" or any(map(_long, values)):
            return anew(candidate, place)
        return _framed(renderer, place, 1 if place == "first" else most, names, *values)

    return remembered


def _long(value: object) -> bool:
    """Whether this is no short title, and would fill the memory."""
    return isinstance(value, str) and len(value) > SHORT


@lru_cache(maxsize=16_384, typed=True)
def _framed(
    renderer: Renderer, place: Place, marker: int, names: tuple[str, ...], *values: Any
) -> str:
    texts = (plain(value) if isinstance(value, str) else value for value in values)
    fields: dict[str, Any] = {"source": "", **dict(zip(names, texts, strict=True))}
    return _around(renderer, Block(marker=marker, text="", document_id="this", **fields), place)


def _around(renderer: Renderer, block: Block, place: Place) -> str:
    if place == "first":
        return renderer.overhead(block)
    other = replace(block, document_id="", source="", title="")
    return renderer.overhead(block, block if place == "same" else other)
