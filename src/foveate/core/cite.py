"""Blocks, as rendered, → citations: marker n in the text is entry n in the list, always."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

from foveate.core.types import Block, Citation

SNIPPET_LENGTH = 200  # characters

T = TypeVar("T")


def citations_from_blocks(
    blocks: Sequence[Block], label: Callable[[Block], str]
) -> tuple[Citation, ...]:
    """One entry a marker, in marker order; supplements are not citable."""
    by_marker: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "chunk":
            by_marker.setdefault(block.marker, []).append(block)
    return tuple(
        _citation_from_blocks(by_marker[n], label(by_marker[n][0])) for n in sorted(by_marker)
    )


def _citation_from_blocks(blocks: Sequence[Block], label: str) -> Citation:
    first = blocks[0]
    return Citation(
        marker=first.marker,
        label=label,
        source=first.source,
        title=first.title,
        document_id=first.document_id,
        chunk_ids=_unique_in_order([b.chunk_ids for b in blocks]),
        page=first.page,
        pages=tuple(sorted(_unique_in_order([b.pages for b in blocks]))),
        section=first.section,
        row=first.row,
        line=first.line,
        document_spans=tuple(chain.from_iterable([b.document_spans for b in blocks])),
        context_spans=tuple([b.span for b in blocks]),
        snippet=first.text[:SNIPPET_LENGTH],
        corroborating=_unique_in_order([b.corroborating for b in blocks]),
    )


def _unique_in_order(lists: list[tuple[T, ...]]) -> tuple[T, ...]:
    if len(lists) == 1:
        (only,) = lists
        return only if len(only) <= 1 else tuple(dict.fromkeys(only))
    return tuple(dict.fromkeys(chain.from_iterable(lists)))
