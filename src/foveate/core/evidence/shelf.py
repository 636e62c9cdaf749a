"""What is known of the sentences of some chunks, found again in a passage that is made of them.

Where chunks are stitched, the text is new, and most of its sentences are not. Rules: a sentence is
found by its own text, and the sentences of a block by the block's; so whatever is found is what
would be worked out, however the passage was put together. What is not found is worked out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple, TypeAlias

from foveate.core.evidence.index import Index, indexed, indexed_as
from foveate.core.evidence.packed import KEPT, unpacked
from foveate.core.evidence.units import Units, units_of
from foveate.core.text.profile import Profile, profile
from foveate.core.text.sentences import BlockKind, alone, unit_spans
from foveate.core.types import Chunk, Span

Prose: TypeAlias = Mapping[tuple[BlockKind, str], tuple[Span, ...]]


class Shelf(NamedTuple):
    """A text's blocks of prose by their own text, and its units' places in `of` by theirs.

    `terms`, `words`: where each unit's begin there, and where the last one's end.
    """

    of: Index
    prose: Prose
    units: dict[str, int]
    terms: tuple[int, ...]
    words: tuple[int, ...]


def shelf_of(text: str, index: Index) -> Shelf:
    """All that the index knows of the text."""
    spans = index.units.spans
    prose: dict[tuple[BlockKind, str], tuple[Span, ...]] = {}
    at = 0
    for start, end, kind in index.units.prose:
        while at < len(spans) and spans[at][0] < start:
            at += 1
        first = at
        while at < len(spans) and spans[at][1] <= end:
            at += 1
        if alone(block := text[start:end]):
            prose[kind, block] = tuple([(a - start, b - start) for a, b in spans[first:at]])
    return Shelf(
        index,
        prose,
        {text[a:b]: u for u, (a, b) in enumerate(spans)},
        (0, *accumulate(index.lengths)),
        (0, *accumulate(index.widths)),
    )


def index_of(text: str, content_hash: str, language: str, chunks: Sequence[Chunk] = ()) -> Index:
    """The index of the text with this content hash; `chunks`: those that it was put together of.

    Worked out once: what is known of the text, or of the chunks' sentences, is not read again.
    """
    kept = profile(content_hash)
    found = kept.indexes.get(language) or _known(text, kept, language)
    if found is None:
        found = gathered(text, chunks, language) if chunks else None
        found = kept.indexes[language] = found or worked_out(text, language)
    return found


def worked_out(text: str, language: str) -> Index:
    """The index from the text alone."""
    return indexed(text, units_of(text, language))


def _known(text: str, kept: Profile, language: str) -> Index | None:
    """The text's index, if it is known: in its profile, or in what was kept of it."""
    found = kept.indexes.get(language)
    data = kept.kept.get(KEPT + language) if found is None else None
    if data is not None and (found := unpacked(data, text)) is not None:
        kept.indexes[language] = found
    return found


def gathered(text: str, chunks: Sequence[Chunk], language: str) -> Index | None:
    """The index of a text that these chunks were put together to; None if nothing is known."""
    shelves = [shelf for chunk in chunks if (shelf := _shelf(chunk, language)) is not None]
    if not shelves:
        return None
    prose = dict(chain.from_iterable([shelf.prose.items() for shelf in shelves]))
    return _filled(text, units_of(text, language, partial(_split, prose)), shelves)


def _shelf(chunk: Chunk, language: str) -> Shelf | None:
    """The chunk's shelf, if its index is known."""
    kept = profile(chunk.content_hash)
    shelf = kept.shelves.get(language)
    if shelf is None and (index := _known(chunk.text, kept, language)) is not None:
        shelf = kept.shelves[language] = shelf_of(chunk.text, index)
    return shelf


def _split(prose: Prose, text: str, span: Span, kind: BlockKind, language: str) -> Sequence[Span]:
    """The units of a block, as they are known."""
    start, end = span
    found = prose.get((kind, text[start:end]))
    if found is not None:
        return [(start + a, start + b) for a, b in found]
    return unit_spans(text, span, kind, language)


def _filled(text: str, units: Units, shelves: Sequence[Shelf]) -> Index:
    """An index of these units; those that follow on each other where they are known in one go."""
    import numpy as np

    lengths: list[int] = []
    widths: list[int] = []
    terms, words = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.uint32)]
    shelf, first, after = shelves[0], 0, 0  # of which units are being taken, and which
    for a, b in units.spans:
        own = text[a:b]
        place = shelf.units.get(own)
        if place is None or place != after:
            terms.append(shelf.of.terms[shelf.terms[first] : shelf.terms[after]])
            words.append(shelf.of.words[shelf.words[first] : shelf.words[after]])
            shelf, place = _found(own, shelves)
            first = place
        after = place + 1
        lengths.append(shelf.of.lengths[place])
        widths.append(shelf.of.widths[place])
    terms.append(shelf.of.terms[shelf.terms[first] : shelf.terms[after]])
    words.append(shelf.of.words[shelf.words[first] : shelf.words[after]])
    return indexed_as(units, np.concatenate(terms), lengths, np.concatenate(words), widths)


def _found(own: str, shelves: Sequence[Shelf]) -> tuple[Shelf, int]:
    """Where the unit is known, or worked out."""
    for shelf in shelves:
        place = shelf.units.get(own)
        if place is not None:
            return shelf, place
    return _anew(own), 0


def _anew(own: str) -> Shelf:
    return shelf_of(own, indexed(own, Units(((0, len(own)),), (0,))))
