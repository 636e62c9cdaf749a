"""A context as pieces, one a block, for frameworks that pass on documents instead of a text.

A piece is the block as it is in the context, with header and marker. `fit_pieces` counts the joined
pieces and assembles again if they are over the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foveate.core.assemble import assemble
from foveate.core.context_json import value_to_json
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.render import Renderer, renderer_for_recipe
from foveate.core.request import Inputs
from foveate.core.types import Block, Chunk, Context
from foveate.core.zones import Budget
from foveate.pipeline.flow import AssemblyResult

METADATA_KEY = "foveate"
"""Where a framework's metadata holds what is known of a piece."""
PIECE_SEPARATOR = "\n\n"
"""What frameworks put between documents where nothing else is said."""
BLOCK_FIELDS = (
    *("kind", "rendition", "score", "source", "title", "document_id", "chunk_ids", "page", "pages"),
    *("section", "sections", "row", "line", "document_spans", "corroborating"),
)
CHUNK_FIELDS = ("source", "title", "section", "page", "row", "line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block for a framework.

    `text`: as it is in the context. `id`, `metadata`: of its first chunk. `citation_metadata`: its
    citation as plain data.
    """

    text: str
    id: str
    score: float
    marker: int
    metadata: dict[str, Any]
    citation_metadata: dict[str, Any]

    @property
    def full_metadata(self) -> dict[str, Any]:
        """The chunk's metadata, and what is known of the piece under the key `foveate`."""
        return {**self.metadata, METADATA_KEY: self.citation_metadata}


def build_pieces(made: AssemblyResult, *, named: bool = False) -> tuple[Piece, ...]:
    """The context's blocks in order.

    `named`: add source, title, page and the like to the metadata, for chunks of a store.
    """
    inputs, context = inputs_of(made), made.context
    renderer = renderer_for_recipe(inputs.recipe)
    chunks = {c.chunk.id: c.chunk for c in inputs.candidates}
    chunks.update((chunk.id, chunk) for chunk in inputs.neighbours)
    labels = {citation.marker: citation.label for citation in context.citations}
    taken: dict[str, int] = {}
    found = []
    for block, text, body in _split_blocks(context, renderer):
        own = [chunks[i] for i in block.chunk_ids if i in chunks]
        name = block.chunk_ids[0] if block.chunk_ids else block.document_id
        taken[name] = taken.get(name, 0) + 1
        found.append(
            Piece(
                text=text,
                id=name if taken[name] == 1 else f"{name}#{taken[name]}",
                score=block.score,
                marker=block.marker,
                metadata=_chunk_metadata(own[0], named=named) if own else {},
                citation_metadata={
                    "marker": block.marker,
                    "label": labels.get(block.marker, ""),
                    **{name: value_to_json(getattr(block, name)) for name in BLOCK_FIELDS},
                    "span": [body, body + block.span[1] - block.span[0]],
                    "others": [
                        {"id": c.id, "metadata": _remove_own_metadata(c.metadata)} for c in own[1:]
                    ],
                },
            )
        )
    return tuple(found)


def group_by_marker(found: Sequence[Piece], gap: str = PIECE_SEPARATOR) -> tuple[Piece, ...]:
    """One piece a marker, in the order of the markers: piece n is `[n]`.

    Blocks of one marker are joined; side knowledge, which cannot be cited, is left out.
    """
    together: dict[int, list[Piece]] = {}
    for piece in found:
        if piece.marker:
            together.setdefault(piece.marker, []).append(piece)
    return tuple(
        replace(same[0], text=gap.join(piece.text for piece in same))
        for _, same in sorted(together.items())
    )


def fit_pieces(
    made: AssemblyResult, tokenizer: Tokenizer, gap: str = PIECE_SEPARATOR
) -> AssemblyResult:
    """The result, assembled again in less room until the joined pieces keep the budget.

    Raises `BudgetTooSmall` if nothing fits.
    """
    budget, text = inputs_of(made).budget, join_pieces(made, gap)
    if text == made.context.text:
        return made
    within = made
    small, large = 0, budget.documents or budget.characters or 0
    while not _is_within_budget(text, budget, tokenizer):
        # What stands between grows with the pieces, so that their share of it is a good guess.
        room = large * len(within.context.text) // len(text)
        if not small < room < large:
            room = (small + large) // 2
        if room == small:
            tokens = budget.documents is not None
            raise BudgetTooSmall(
                budget.documents or budget.characters or 0,
                tokenizer.count(text) if tokens else len(text),
                unit="tokens" if tokens else "characters",
            )
        try:
            again = _assemble_with_room(made, tokenizer, room)
        except BudgetTooSmall:
            small = room
        else:
            within, text, large = again, join_pieces(again, gap), room
    return within


def join_pieces(made: AssemblyResult, gap: str = PIECE_SEPARATOR) -> str:
    """The pieces, as a framework puts them together."""
    return gap.join(
        text
        for _, text, _ in _split_blocks(made.context, renderer_for_recipe(inputs_of(made).recipe))
    )


def common_context(held: Iterable[Context | None], what: str) -> Context | None:
    """The one context of these blocks; None if they have none. Raises `BadInput` for several."""
    found = list({id(context): context for context in held if context is not None}.values())
    if any(other != found[0] for other in found[1:]):  # each may have been copied by itself
        raise BadInput(f"these {what} are blocks of several contexts; take those of one")
    return found[0] if found else None


def inputs_of(result: AssemblyResult) -> Inputs:
    """The inputs; a result that came from a cache has none and is a mistake here."""
    if result.inputs is None:
        raise BadInput("this context came from a cache; assemble it with cached=False")
    return result.inputs


def _is_within_budget(text: str, budget: Budget, tokenizer: Tokenizer) -> bool:
    if budget.characters is not None and len(text) > budget.characters:
        return False
    return budget.documents is None or tokenizer.count(text) <= budget.documents


def _assemble_with_room(made: AssemblyResult, tokenizer: Tokenizer, room: int) -> AssemblyResult:
    inputs = inputs_of(made)
    budget = inputs.budget
    name = "characters" if budget.documents is None else "documents"
    inputs = replace(inputs, budget=replace(budget, **{name: room}))
    return AssemblyResult(inputs=inputs, context=assemble(inputs, tokenizer))


def _split_blocks(context: Context, renderer: Renderer) -> list[tuple[Block, str, int]]:
    """Each block with its piece of the text and the offset of its body in that."""
    blocks = sorted(context.blocks, key=lambda block: block.span)
    found = []
    for place, block in enumerate(blocks):
        previous = blocks[place - 1] if place else None
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        before, after = renderer.pieces(block, previous, following)
        head = len(before) - len(renderer.format.separator(previous, block))
        start, end = block.span
        found.append((block, context.text[start - head : end + len(after)], head))
    return found


def _chunk_metadata(chunk: Chunk, *, named: bool) -> dict[str, Any]:
    names = CHUNK_FIELDS if named else ()
    known = {name: value for name in names if (value := getattr(chunk, name)) not in (None, "")}
    return known | _remove_own_metadata(chunk.metadata)


def _remove_own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata without that of an earlier assembly."""
    return {key: _copy_nested(value) for key, value in metadata.items() if key != METADATA_KEY}


def _copy_nested(value: Any) -> Any:
    """A copy of nested lists and objects, so that changes do not reach the input."""
    if type(value) is dict:
        return {key: _copy_nested(one) for key, one in value.items()}
    return [_copy_nested(one) for one in value] if type(value) is list else value
