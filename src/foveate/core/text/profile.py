"""What is known about a text, worked out once: kept by content hash, for as long as it is in use.

Everything here is a pure function of the text, so that remembering it can change no result. A
profile starts empty; whoever needs a part fills it in and finds it there the next time. Two
threads may fill the same part at once: both write the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

REMEMBERED = 16_384  # texts


@dataclass(slots=True, eq=False)
class Profile:
    """The parts that are worked out so far."""


@lru_cache(maxsize=REMEMBERED)
def profile(content_hash: str) -> Profile:
    """The profile of the text with this hash; the least recently used ones are forgotten."""
    return Profile()
