"""What is known of the sentences of some chunks, found again in a passage that is made of them.

Where chunks are stitched, the text is new, and most of its sentences are not. Rules: a sentence is
found by its own text, and the sentences of a block by the block's; so whatever is found is what
would be worked out, however the passage was put together. What is not found is worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from foveate.core.evidence.index import Index, indexed, indexed_as
from foveate.core.evidence.packed import KEPT, unpacked
from foveate.core.evidence.units import Units, units_of
from foveate.core.text.profile import Profile, profile
from foveate.core.text.sentences import BlockKind, alone, unit_spans
from foveate.core.types import Chunk, Span


class Place(NamedTuple):
    """Where a unit's terms and words stand: in `of`, from `term` to `last_term`, and so on."""

    of: Index
    term: int
    last_term: int
    word: int
    last_word: int


class Shelf(NamedTuple):
    """A text's prose by the text of the block, its units by their own."""

    prose: dict[tuple[BlockKind, str], tuple[Span, ...]]
    units: dict[str, Place]


def shelf_of(text: str, index: Index) -> Shelf:
    """All that the index knows of the text."""
    spans = index.units.spans
    terms, words = [0, *accumulate(index.lengths)], [0, *accumulate(index.widths)]
    units = {
        text[a:b]: Place(index, terms[u], terms[u + 1], words[u], words[u + 1])
        for u, (a, b) in enumerate(spans)
    }
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
    return Shelf(prose, units)


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
    units = units_of(text, language, partial(_split, shelves))
    return _filled(text, units, shelves)


def _shelf(chunk: Chunk, language: str) -> Shelf | None:
    """The chunk's shelf, if its index is known."""
    kept = profile(chunk.content_hash)
    shelf = kept.shelves.get(language)
    if shelf is None and (index := _known(chunk.text, kept, language)) is not None:
        shelf = kept.shelves[language] = shelf_of(chunk.text, index)
    return shelf


def _split(
    shelves: Sequence[Shelf], text: str, span: Span, kind: BlockKind, language: str
) -> Sequence[Span]:
    """The units of a block, as they are known."""
    start, end = span
    block = kind, text[start:end]
    for shelf in shelves:
        found = shelf.prose.get(block)
        if found is not None:
            return [(start + a, start + b) for a, b in found]
    return unit_spans(text, span, kind, language)


def _filled(text: str, units: Units, shelves: Sequence[Shelf]) -> Index:
    """An index of these units; those that follow on each other where they are known in one go."""
    import numpy as np

    runs: list[Place] = []
    lengths: list[int] = []
    widths: list[int] = []
    for a, b in units.spans:
        own = text[a:b]
        found = next((p for shelf in shelves if (p := shelf.units.get(own)) is not None), None)
        place = _anew(own) if found is None else found
        lengths.append(place.last_term - place.term)
        widths.append(place.last_word - place.word)
        if runs and _follows(place, last := runs[-1]):
            runs[-1] = Place(place.of, last.term, place.last_term, last.word, place.last_word)
        else:
            runs.append(place)
    if not runs:
        return indexed(text, units)
    return indexed_as(
        units,
        np.concatenate([p.of.terms[p.term : p.last_term] for p in runs]),
        lengths,
        np.concatenate([p.of.words[p.word : p.last_word] for p in runs]),
        widths,
    )


def _follows(place: Place, last: Place) -> bool:
    """Whether the one begins where the other ends."""
    same = place.of is last.of
    return same and place.term == last.last_term and place.word == last.last_word


def _anew(own: str) -> Place:
    index = indexed(own, Units(((0, len(own)),), (0,)))
    return Place(index, 0, index.lengths[0], 0, index.widths[0])
