"""Which pairs may match at all: those whose facts agree.

Not the facts themselves (`text/facts.py`); they are read when first asked for, once a text.
Rules: a guard first narrows many kept texts to those that might agree, in one step over arrays (a
thousand rows of one template that differ in their number alone must not be judged pair by pair),
then judges a pair exactly. `waived(i, others)` says for which pairs the facts need not agree;
None: for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from foveate.core.near.postings import Postings
from foveate.core.text.facts import covers, facts
from foveate.core.text.shingles import shingles, stretch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.near.bags import Ints

    Waived: TypeAlias = Callable[[int, Ints], NDArray[np.bool_]]

Facts: TypeAlias = Callable[[int], tuple[str, ...]]
_FEW = 16


class Guard(Protocol):
    """Says which of the kept texts text i may be dropped for."""

    def among(self, i: int, others: Ints) -> Ints:
        """Those of `others` that might agree; none that does is missing."""

    def agrees(self, i: int, other: int) -> bool:
        """Whether text i may be dropped for one of those."""

    def keep(self, i: int) -> None:
        """Text i is kept."""


class Open:
    """Every pair may match."""

    def among(self, i: int, others: Ints) -> Ints:
        """All of them."""
        return others

    def agrees(self, i: int, other: int) -> bool:
        """Always."""
        return True

    def keep(self, i: int) -> None:
        """Nothing to remember."""


class Equal:
    """Both texts must have the same facts in the same order."""

    def __init__(self, texts: int, facts: Facts, waived: Waived | None = None) -> None:
        import numpy as np

        self._facts = facts
        self._waived = waived
        self._numbers: dict[tuple[str, ...], int] = {}
        self._kind: Ints = np.full(texts, -1, dtype=np.int64)

    def among(self, i: int, others: Ints) -> Ints:
        """Those with text i's facts, and the waived."""
        for unread in (i, *others[self._kind[others] < 0].tolist()):
            self._kind[unread] = self._numbers.setdefault(self._facts(unread), len(self._numbers))
        fine: NDArray[np.bool_] = self._kind[others] == self._kind[i]
        return others[fine if self._waived is None else fine | self._waived(i, others)]

    def agrees(self, i: int, other: int) -> bool:
        """`among` has decided it."""
        return True

    def keep(self, i: int) -> None:
        """Nothing to remember."""


class Covered:
    """All facts of the text that leaves must stand, in their order, in the one that stays.

    And where that one says the same, it must say no other: within the shortest stretch that holds
    the triples they share, the facts are those of the text that leaves. So "you may enter" does
    not leave for "you may not enter". Where both are of one length, neither contains the other:
    their facts must be the same.
    """

    def __init__(
        self, spelled: Sequence[Sequence[str]], facts: Facts, waived: Waived | None = None
    ) -> None:
        self._spelled = spelled
        self._facts = cache(facts)
        self._waived = waived
        self._numbers: dict[str, int] = {}
        self._holders = Postings(len(spelled))
        self._unposted: list[int] = []

    def among(self, i: int, others: Ints) -> Ints:
        """Those that hold text i's rarest fact, and the waived; all of a few."""
        import numpy as np

        if len(others) <= _FEW:
            return others
        for kept in self._unposted:
            self._holders.add(kept, self._items(kept))
        self._unposted.clear()
        rarest = self._holders.fewest(self._items(i))
        if rarest is None:
            return others
        holders = self._holders.holding([rarest])
        fine = np.isin(others, () if holders is None else holders)
        return others[fine if self._waived is None else fine | self._waived(i, others)]

    def agrees(self, i: int, other: int) -> bool:
        """Whether the other text covers text i's facts, or need not."""
        import numpy as np

        if self._facts(i) == self._facts(other) or self._contained(i, other):
            return True
        return self._waived is not None and bool(self._waived(i, np.array([other]))[0])

    def _contained(self, i: int, other: int) -> bool:
        mine, theirs = self._spelled[i], self._spelled[other]
        if len(mine) == len(theirs) or not covers(self._facts(other), self._facts(i)):
            return False
        first, last = stretch(theirs, frozenset(shingles(mine)))
        return facts(" ".join(theirs[first:last])) == facts(" ".join(mine))

    def keep(self, i: int) -> None:
        """Remember to post its facts when they are needed."""
        self._unposted.append(i)

    def _items(self, i: int) -> list[int]:
        numbers = self._numbers
        return [numbers.setdefault(f, len(numbers)) for f in dict.fromkeys(self._facts(i))]
