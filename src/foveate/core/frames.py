"""What stands around a candidate's text, header and separator, to be weighed before it is placed.

The marker and the block before it are not known yet: the marker is as wide as any can be, the
block before is of the same document or of another. Rule: where the format says which fields a
header reads, one header is made for all candidates that have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from foveate.core.blocks import block_of, shown_chunks, shown_text
from foveate.core.gauge import unknown
from foveate.core.render import Renderer
from foveate.core.text.sanitise import SHORT, plain
from foveate.core.types import Block, Candidate, Chunk, Place, Recipe

_FIELDS = {name: f"chunk.{name}" for name in ("source", "title", "section", "page", "row", "line")}
_FIELDS["score"] = "score"

Frame = Callable[[Candidate, Place], str]
Shape = Callable[[Candidate], Hashable]


class Frames(NamedTuple):
    """What stands around a candidate's text at a place, and what of the candidate decides it.

    Candidates of one `shape` have the same frames; None: of that one nothing is known.
    """

    text: Frame
    shape: Shape


class Seen(NamedTuple):
    """What a header can read of a passage that is shown in part: its first chunk that is shown."""

    origin: str
    chunk: Chunk
    score: float


def frames(recipe: Recipe, renderer: Renderer, most: int) -> Frames:
    """The frames that this recipe makes; markers go up to `most`."""

    def anew(candidate: Candidate, place: Place) -> str:
        block = block_of(candidate, shown_text(candidate), 1 if place == "first" else most, recipe)
        return _around(renderer, block, place)

    names: tuple[str, ...] | None = getattr(recipe.format, "reads", None)
    if names is None or recipe.include_metadata or not _FIELDS.keys() >= set(names):
        return Frames(anew, unknown)
    read = attrgetter("origin", "origin", *(_FIELDS[name] for name in names))  # never just one
    framed = _framing(renderer, names)

    def shape(candidate: Candidate) -> tuple[Any, ...] | None:
        seen: Candidate | Seen = candidate
        if candidate.parts and candidate.shown is not None:
            first = shown_chunks(candidate, candidate.shown)[0]
            seen = Seen(candidate.origin, first, candidate.score)
        values: tuple[Any, ...] = read(seen)
        for value in values:
            if value == "supplement" or (isinstance(value, str) and len(value) > SHORT):
                return None  # it has a header of its own, or would fill the memory
        return values

    def remembered(candidate: Candidate, place: Place) -> str:
        values = shape(candidate)
        if values is None:
            return anew(candidate, place)
        return framed(place, 1 if place == "first" else most, *values[2:])

    return Frames(remembered, shape)


@lru_cache(maxsize=64)
def _framing(renderer: Renderer, names: tuple[str, ...]) -> Callable[..., str]:
    """Makes a frame of a place, a marker and the values of these fields; each once."""

    @lru_cache(maxsize=4096, typed=True)
    def framed(place: Place, marker: int, *values: Any) -> str:
        texts = (plain(value) if isinstance(value, str) else value for value in values)
        fields: dict[str, Any] = {"source": "", **dict(zip(names, texts, strict=True))}
        return _around(renderer, Block(marker=marker, text="", document_id="this", **fields), place)

    return framed


def _around(renderer: Renderer, block: Block, place: Place) -> str:
    if place == "first":
        return renderer.overhead(block)
    other = replace(block, document_id="", source="", title="")
    return renderer.overhead(block, block if place == "same" else other)
