"""From similarity that is the same both ways to who may leave for whom: jaccard and semantic."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from foveate.core.stages.dedup.resolve_duplicates import Match

if TYPE_CHECKING:
    from foveate.core.stages.dedup.compared_texts import Texts
    from foveate.core.stages.dedup.guard import Guard


class Similar(Protocol):
    """Says which kept texts a text is similar to, in the order they were kept."""

    compared: int

    def similar(self, i: int) -> list[Match]:
        """The kept texts that text i is similar to; those the guard forbids may be missing."""

    def keep(self, i: int) -> None:
        """Text i is kept."""


class SymmetricFinder:
    """A finder over similar texts: the first that a text may leave for, then the fullest."""

    def __init__(self, texts: Texts, search: Similar, guard: Guard) -> None:
        self._texts = texts
        self._search = search
        self._guard = guard
        self._found: list[Match] = []
        self._later: defaultdict[int, list[Match]] = defaultdict(list)

    @property
    def compared(self) -> int:
        """How many pairs were compared in full."""
        return self._search.compared

    def earlier(self, i: int) -> Match | None:
        """The first kept text that text i may leave for."""
        self._found = self._search.similar(i)
        return next((match for match in self._found if self._may_leave(i, match.other)), None)

    def keep(self, i: int) -> None:
        """Text i is kept; of those it is similar to, some may leave for it."""
        self._search.keep(i)
        for match in self._found:
            same = self._texts.same_date(match.other, i)
            if same and self._may_leave(match.other, i):
                self._later[match.other].append(Match(i, match.similarity))

    def later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The fullest of the later texts that stay and that text i may leave for."""
        staying = [match for match in self._later.get(i, ()) if match.other not in left]
        return min(staying, key=self._fullest, default=None)

    def _fullest(self, match: Match) -> tuple[int, int]:
        return -len(self._texts.words(match.other)), match.other

    def _may_leave(self, i: int, other: int) -> bool:
        return self._guard.allows(i, other) and not self._texts.fragment(other, i)
