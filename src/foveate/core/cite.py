"""Blocks, as rendered, → citations: marker n in the text is entry n in the list, always."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from foveate.core.made import maker
from foveate.core.types import Block, Citation, Source

SNIPPET = 200  # characters

made = maker(Citation)


def citations_of(blocks: Sequence[Block], label: Callable[[Block], str]) -> tuple[Citation, ...]:
    """One entry a marker, in marker order; supplements are not citable."""
    by_marker: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "chunk":
            by_marker.setdefault(block.marker, []).append(block)
    return tuple(_entry(by_marker[n], label(by_marker[n][0])) for n in sorted(by_marker))


def _entry(blocks: Sequence[Block], label: str) -> Citation:
    first = blocks[0]
    return made(
        marker=first.marker,
        label=label,
        source=first.source,
        title=first.title,
        document_id=first.document_id,
        chunk_ids=tuple(dict.fromkeys(chain.from_iterable(b.chunk_ids for b in blocks))),
        page=first.page,
        pages=tuple(sorted({page for b in blocks for page in b.pages})),
        section=first.section,
        row=first.row,
        line=first.line,
        document_spans=tuple(chain.from_iterable(b.document_spans for b in blocks)),
        context_spans=tuple(b.span for b in blocks),
        snippet=first.text[:SNIPPET],
        corroborating=_corroborating(blocks),
    )


def _corroborating(blocks: Sequence[Block]) -> tuple[Source, ...]:
    found = chain.from_iterable(b.corroborating for b in blocks)
    return tuple(dict.fromkeys(found))
