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

from foveate.core.stages.compress.index_codec import PROFILE_KEY, decode_index
from foveate.core.stages.compress.unit_index import Index, build_index, index_from_arrays
from foveate.core.stages.compress.units import Units, units_of
from foveate.core.text.profile import Profile, text_profile
from foveate.core.text.sentences import BlockKind, is_context_free, unit_spans
from foveate.core.types import Chunk, Span

LANGUAGES = 8  # in which what is known of one text is kept

Prose: TypeAlias = Mapping[tuple[BlockKind, str], tuple[Span, ...]]


class SentenceIndex(NamedTuple):
    """A text's blocks of prose by their own text, and its units' places in `of` by theirs.

    `terms`, `words`: where each unit's begin there, and where the last one's end.
    """

    of: Index
    prose: Prose
    units: dict[str, int]
    terms: tuple[int, ...]
    words: tuple[int, ...]


def build_sentence_index(text: str, index: Index) -> SentenceIndex:
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
        if is_context_free(block := text[start:end]):
            prose[kind, block] = tuple([(a - start, b - start) for a, b in spans[first:at]])
    return SentenceIndex(
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
    kept = text_profile(content_hash)
    found = kept.indexes.get(language) or _cached_index(text, kept, language)
    if found is None:
        found = index_from_chunks(text, chunks, language) if chunks else None
        found = found or compute_index(text, language)
        kept.add(kept.indexes, language, found, most=LANGUAGES)
    return found


def compute_index(text: str, language: str) -> Index:
    """The index from the text alone."""
    return build_index(text, units_of(text, language))


def _cached_index(text: str, kept: Profile, language: str) -> Index | None:
    """The text's index, if it is known: in its profile, or in what was kept of it."""
    found = kept.indexes.get(language)
    data = kept.kept.get(PROFILE_KEY + language) if found is None else None
    if data is not None and (found := decode_index(data, text)) is not None:
        kept.add(kept.indexes, language, found, most=LANGUAGES)
    return found


def index_from_chunks(text: str, chunks: Sequence[Chunk], language: str) -> Index | None:
    """The index of a text that these chunks were put together to; None if nothing is known."""
    shelves = [
        shelf for chunk in chunks if (shelf := _chunk_sentence_index(chunk, language)) is not None
    ]
    if not shelves:
        return None
    prose = dict(chain.from_iterable([shelf.prose.items() for shelf in shelves]))
    return _assemble_index(text, units_of(text, language, partial(_split, prose)), shelves)


def _chunk_sentence_index(chunk: Chunk, language: str) -> SentenceIndex | None:
    """The chunk's shelf, if its index is known."""
    kept = text_profile(chunk.content_hash)
    shelf = kept.shelves.get(language)
    if shelf is None and (index := _cached_index(chunk.text, kept, language)) is not None:
        shelf = kept.add(
            kept.shelves, language, build_sentence_index(chunk.text, index), most=LANGUAGES
        )
    return shelf


def _split(prose: Prose, text: str, span: Span, kind: BlockKind, language: str) -> Sequence[Span]:
    """The units of a block, as they are known."""
    start, end = span
    found = prose.get((kind, text[start:end]))
    if found is not None:
        return [(start + a, start + b) for a, b in found]
    return unit_spans(text, span, kind, language)


def _assemble_index(text: str, units: Units, shelves: Sequence[SentenceIndex]) -> Index:
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
            shelf, place = _find_unit(own, shelves)
            first = place
        after = place + 1
        lengths.append(shelf.of.lengths[place])
        widths.append(shelf.of.widths[place])
    terms.append(shelf.of.terms[shelf.terms[first] : shelf.terms[after]])
    words.append(shelf.of.words[shelf.words[first] : shelf.words[after]])
    return index_from_arrays(units, np.concatenate(terms), lengths, np.concatenate(words), widths)


def _find_unit(own: str, shelves: Sequence[SentenceIndex]) -> tuple[SentenceIndex, int]:
    """Where the unit is known, or worked out."""
    for shelf in shelves:
        place = shelf.units.get(own)
        if place is not None:
            return shelf, place
    return _analyse_unit(own), 0


def _analyse_unit(own: str) -> SentenceIndex:
    return build_sentence_index(own, build_index(own, Units(((0, len(own)),), (0,))))
