"""A text cut at what fits: behind a sentence or a record, or at a token (SPEC S9)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from foveate.core.renditions import join_chunk_spans, shapes_of
from foveate.core.text.graphemes import last_word_boundary
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.shapes.shape import Shape
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Rendition, Span

LONGEST_TOKEN = 64  # characters; more text than this per token is never looked at


def truncate_candidate(
    candidate: Candidate,
    room: int | None,
    characters: int | None,
    *,
    at: str,
    counter: TokenCounter,
    language: str = "en",
) -> Rendition | None:
    """The longest beginning of the candidate that fits `room` tokens and `characters`; or None.

    It ends behind a sentence or a record, or at a token boundary on request (`at`), never inside a
    word of a script that has spaces or inside a grapheme. What is kept is counted as it will be
    rendered, the mark included that tells the reader how many records are left out.
    """
    reach = len(candidate.text)
    if room is not None:
        reach = min(reach, max(room, 0) * LONGEST_TOKEN)
    if characters is not None:
        reach = min(reach, max(characters, 0))
    text = candidate.text[:reach]
    is_whole = at == "sentence"
    ends: Sequence[int] = range(1, len(text) + 1)
    if is_whole:
        whole = len(candidate.text.rstrip())  # which did not fit, or nothing would be cut
        ends = [end for end in _unit_ends(candidate, text, language) if end < whole]

    def cut_at(end: int) -> tuple[str, tuple[Span, ...]]:
        spans = [(0, len(text[:end].rstrip()))]
        return join_chunk_spans(candidate.chunk, spans, candidate.parts)

    def fits(end: int) -> bool:
        shown, _ = cut_at(end)
        if characters is not None and len(counter.body(shown)) > characters:
            return False
        return room is None or counter.count_uncached(shown) <= room

    end = _last_that_fits(ends, fits)
    if not is_whole:
        end = last_word_boundary(candidate.text, end)
        while end > 0 and not fits(end):
            end = last_word_boundary(candidate.text, end - 1)
    size = len(text[:end].rstrip())
    if not size or size == len(candidate.text):
        return None
    shown, spans = cut_at(end)
    return Rendition(kind="truncated", text=shown, spans=spans, value=size / len(candidate.text))


def _unit_ends(candidate: Candidate, text: str, language: str) -> list[int]:
    """Where sentences of the text end, or in its shapes the records, rows, lines and turns."""
    shapes = shapes_of(candidate.chunk)
    ends = [end for _, end in sentence_spans(text, language)]
    if not shapes:
        return ends
    starts = [shape.start for shape in shapes]
    prose = [e for e in ends if (n := bisect_left(starts, e)) == 0 or e > shapes[n - 1].end]
    inside = [b for shape in shapes for _, b in shape.spans if _first_row(shape) < b <= len(text)]
    return sorted({*prose, *inside})


def _first_row(shape: Shape) -> int:
    """Where what is counted begins: the names of columns alone say nothing (SPEC V4)."""
    return min((found.spans[0][0] for found in shape.counted if found.spans), default=shape.start)


def _last_that_fits(ends: Sequence[int], fits: Callable[[int], bool]) -> int:
    """Binary search for the last end that fits; 0 where none does."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(ends[middle - 1]):
            low = middle
        else:
            high = middle - 1
    return ends[low - 1] if low else 0
