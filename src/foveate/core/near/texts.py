"""What the finders and the definition need to know of the candidates, in order of preference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from foveate.core.text.facts import facts
from foveate.core.text.words import words
from foveate.core.types import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.near.bags import Ints

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = -(10**18)


def changed_at(candidate: Candidate) -> int:
    """When the text was last changed, in microseconds; the unknown is before everything."""
    moment = candidate.chunk.modified_at
    return UNKNOWN if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Candidates side by side: each field holds one entry a text, in one order.

    `dates` are equal where age decides nothing.
    """

    candidates: tuple[Candidate, ...]
    spelled: tuple[tuple[str, ...], ...]
    dates: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many words each text has."""
        return tuple(len(own) for own in self.spelled)

    def facts(self, i: int) -> tuple[str, ...]:
        """Text i's facts, read each time."""
        return facts(self.candidates[i].text, self.spelled[i])

    def taken(self, order: Sequence[int]) -> Texts:
        """The same texts in another order."""
        moved = {f.name: tuple(getattr(self, f.name)[i] for i in order) for f in fields(self)}
        return replace(self, **moved)

    def fragment(self, part: int, whole: int) -> bool:
        """Whether all words of `part` are in `whole`, as often as in `part`, and it has more.

        Between texts of different dates there are no fragments: the newer one wins.
        """
        small, large = self.spelled[part], self.spelled[whole]
        if self.dates[part] != self.dates[whole] or len(small) >= len(large):
            return False
        return Counter(small) <= Counter(large)

    def versions(self, i: int, others: Ints) -> NDArray[np.bool_]:
        """Which of the others are the same document or source as text i, at another known time."""
        import numpy as np

        mine, date = self.candidates[i].chunk, self.dates[i]
        return np.array(
            [
                UNKNOWN != self.dates[k] != date != UNKNOWN
                and (theirs.document_id == mine.document_id or theirs.source == mine.source)
                for k in others.tolist()
                if (theirs := self.candidates[k].chunk)
            ],
            dtype=bool,
        )


def read(candidates: Sequence[Candidate], *, dated: bool) -> Texts:
    """Find every candidate's words; `dated`: and when it was changed."""
    spelled = tuple(words(candidate.text) for candidate in candidates)
    return Texts(
        candidates=tuple(candidates),
        spelled=spelled,
        dates=tuple(changed_at(c) for c in candidates) if dated else (0,) * len(spelled),
    )
