"""How far a retriever's scores decide, before the words of the question do (SPEC J1).

Scores of any kind are read by their shape: sorted, they fall, and the largest fall between two
neighbours, as a share of the whole range and beyond what evenly spaced scores have, says how
clearly the chunks above it are set apart. On the development sets, the chunks above a fall of 0.3
or more hold evidence in nine of ten questions, above 0.5 in 97 of 100, and above 0.2 or less in six
of ten. If the words of the question speak clearly for other chunks, only a part of the budget is
given to those set apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.compress.table import Numbers

CLEAR = (0.2, 0.5)
"""The fall at which separation begins to count, and from which on it counts in full."""
BONUS = 12.0
"""Log-odds that a unit of such a chunk gains: more than words tell apart, so it comes first."""
DOUBT = (6.0, 9.0)
"""Log-odds by which the words prefer another chunk: where doubt begins, and where it is full."""
DOUBTED_SHARE = 0.25
"""The share of the budget that comes first in full doubt.

Over 13 development sets at 500 and 1,000 tokens, right scores then lose 0.025 of the evidence, and
cutting by score 0.035. Scores that are right in 60 % of the questions lose 0.118, and cutting by
score 0.207. On half the questions of evinf, fetaqa and jaquad, 0.4 gains 0.001 with right scores
and loses 0.006 with the others.
"""


class Separation(NamedTuple):
    """What the scores decide. `gain`: log-odds by unit; the rest is for the trace."""

    gain: Numbers
    clarity: float = 0.0
    doubt: float = 0.0

    @property
    def decided_by(self) -> str:
        """What carried the choice: `scores`, `scores and words`, or `words`."""
        if self.clarity <= 0:
            return "words"
        return "scores" if self.clarity >= 1 and self.doubt <= 0 else "scores and words"


def clarity_by_chunk(scores: Sequence[float]) -> Numbers:
    """How clearly the scores set each chunk apart, from 0 to 1: 0 for all chunks below the fall."""
    import numpy as np

    values = np.array(scores, dtype=np.float64)
    found = np.zeros(len(values))
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    reach = falling[0] - falling[-1] if len(values) > 2 else 0.0  # two scores are always apart
    if not 0 < reach < np.inf:
        return found
    falls = (falling[:-1] - falling[1:])[: len(values) // 2] / reach
    at, even = int(falls.argmax()), 1 / (len(values) - 1)
    beyond = (float(falls[at]) - even) / (1 - even)  # few scores fall far without saying anything
    found[order[: at + 1]] = _between(beyond, CLEAR)
    return found


def separate(
    scores: Sequence[float], chunks: NDArray[np.int64], words: Numbers, sizes: Numbers, room: float
) -> Separation:
    """The log-odds that units gain by the scores.

    By unit: `chunks`, the number of its chunk in `scores`; `words`, its log-odds by words alone;
    `sizes`, its characters. `room`: about how many characters the budget holds.
    """
    import numpy as np

    clear = clarity_by_chunk(scores)[chunks] if len(chunks) else np.zeros(0)
    units = np.flatnonzero(clear)
    if not len(units):
        return Separation(np.zeros(len(chunks)))
    doubt = _between(float(words.max() - words[units].max()), DOUBT)
    if doubt > 0:
        best = units[np.argsort(-words[units], kind="stable")]
        before = np.cumsum(sizes[best]) - sizes[best]
        units = best[before < room * (1 - doubt * (1 - DOUBTED_SHARE))]
    gain = np.zeros(len(chunks))
    gain[units] = BONUS * clear[units]
    return Separation(gain, float(clear.max()), doubt)


def _between(value: float, bounds: tuple[float, float]) -> float:
    """0 up to the lower bound, 1 from the upper one, linear between."""
    low, high = bounds
    return min(max((value - low) / (high - low), 0.0), 1.0)
