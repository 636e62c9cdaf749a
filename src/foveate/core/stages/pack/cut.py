"""A text shortened to fit: at a sentence end, or at a token boundary on request.

Never inside a word of a script that has spaces, never inside a grapheme. What is kept is counted
as it will be rendered, the mark that tells the reader included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveate.core.text.graphemes import last_word_boundary
from foveate.core.text.sentences import sentence_spans
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Rendition

MARK = " […]"
LONGEST_TOKEN = 64  # characters; more text than this per token is never looked at


def truncate_candidate(
    candidate: Candidate,
    room: int | None,
    characters: int | None,
    *,
    at: str,
    gauge: TokenCounter,
    language: str = "en",
) -> Rendition | None:
    """The longest beginning of the candidate that fits `room` tokens and `characters`; or None."""
    reach = len(candidate.text)
    if room is not None:
        reach = min(reach, max(room, 0) * LONGEST_TOKEN)
    if characters is not None:
        reach = min(reach, max(characters, 0))
    text = candidate.text[:reach]
    ends = sentence_ends(text, language) if at == "sentence" else range(1, len(text) + 1)

    def fits(end: int) -> bool:
        shown = text[:end].rstrip() + MARK
        if characters is not None and len(gauge.body(shown)) > characters:
            return False
        return room is None or gauge.count_uncached(shown) <= room

    end = _last_that_fits(ends, fits)
    if at != "sentence":
        end = last_word_boundary(candidate.text, end)
        while end > 0 and not fits(end):
            end = last_word_boundary(candidate.text, end - 1)
    kept = candidate.text[:end].rstrip()
    if not kept or len(kept) == len(candidate.text):
        return None
    return Rendition(
        kind="truncated",
        text=kept + MARK,
        spans=((0, len(kept)),),
        value=len(kept) / len(candidate.text),
    )


def sentence_ends(text: str, language: str) -> list[int]:
    """Where sentences end."""
    return [end for _, end in sentence_spans(text, language)]


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
