"""Finds the cells of a sheet that say what a claim says, in the passage that supports it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from foveate.answer.figures import normalise_numbers
from foveate.answer.places import document_ranges_in_block, map_offsets
from foveate.core.text.terms import query_terms
from foveate.core.types import Block, Context, Span

_ENOUGH = 0.5
"""Of a cell's words are in the claim, or of the claim's in a longer cell."""


def stated_cells(claim: str, passage: Span, context: Context) -> tuple[str, ...]:
    """The addresses of the cells whose values the claim states; `passage`: a range of the context.

    Those that the question names already (`valve V-17`) count if the claim states no other.
    """
    stated, asked = _normalised_terms(claim), _normalised_terms(context.query)
    new: list[str] = []
    known: list[str] = []
    for block in context.blocks:
        if block.span[0] <= passage[0] and passage[1] <= block.span[1]:
            for address, text in _cells_within(passage, block, context):
                value = _normalised_terms(text.partition(": ")[2] or text)
                if _states(stated, value, stated - asked):
                    (known if value <= asked else new).append(address)
    return tuple(new or known)


def _cells_within(passage: Span, block: Block, context: Context) -> Iterator[tuple[str, str]]:
    """The addresses of the cells in the passage of the block, and what of each is there.

    A block that was read from JSON has no spans of its own; its citation has them.
    """
    entry = next((one for one in context.citations if block.span in one.context_spans), None)
    if entry is None or not entry.cells:
        return
    if not block.document_spans and len(entry.context_spans) == 1:
        block = replace(block, document_spans=entry.document_spans)
    places = map_offsets(context.text[slice(*block.span)], block.text)
    if places is None:
        return
    first, last = (places[at - block.span[0]] for at in passage)
    ranges = list(zip(document_ranges_in_block(block), block.document_spans, strict=False))
    for cell in entry.cells:
        start, end = cell.span
        for (here, _), (a, b) in ranges:
            low = here + max(start, a) - a
            high = here + min(end, b) - a
            if max(low, first) < min(high, last):
                yield cell.address, block.text[low:high]


def _states(stated: AbstractSet[str], value: AbstractSet[str], new: AbstractSet[str]) -> bool:
    """Whether the claim states the value: its numbers and half of it, or it holds what is new."""
    shared = stated & value
    numbers = {term for term in value if any(map(str.isdigit, term))}
    if shared and numbers <= stated and len(shared) >= _ENOUGH * len(value):
        return True
    figures = {term for term in new if any(map(str.isdigit, term))}
    return bool(new) and figures <= value and len(new & value) >= _ENOUGH * len(new)


def _normalised_terms(text: str) -> frozenset[str]:
    """The words of a text that say something, its numbers in one spelling."""
    return frozenset(query_terms(normalise_numbers(text)))
