"""Which pairs may match at all: those whose facts agree.

Not the facts themselves (`text/facts.py`). Rules: a guard first narrows many kept texts to those
that might agree, in one step over arrays (a thousand rows of one template that differ in their
number alone must not be compared pair by pair), then judges a pair exactly. `waived(i, others)`
says for which pairs the facts need not agree; None: for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from foveate.core.near.postings import Postings
from foveate.core.text.facts import covers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.near.bags import Ints

    Waived: TypeAlias = Callable[[int, Ints], NDArray[np.bool_]]


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

    def __init__(self, facts: Sequence[tuple[str, ...]], waived: Waived | None = None) -> None:
        import numpy as np

        numbers: dict[tuple[str, ...], int] = {}
        self._class: Ints = np.array([numbers.setdefault(f, len(numbers)) for f in facts], np.int64)
        self._waived = waived

    def among(self, i: int, others: Ints) -> Ints:
        """Those with text i's facts, and the waived."""
        fine: NDArray[np.bool_] = self._class[others] == self._class[i]
        return others[fine if self._waived is None else fine | self._waived(i, others)]

    def agrees(self, i: int, other: int) -> bool:
        """`among` has decided it."""
        return True

    def keep(self, i: int) -> None:
        """Nothing to remember."""


class Covered:
    """All facts of the text that leaves must stand, in their order, in the one that stays."""

    def __init__(self, facts: Sequence[tuple[str, ...]], waived: Waived | None = None) -> None:
        numbers: dict[str, int] = {}
        self._facts = facts
        self._items = [
            [numbers.setdefault(fact, len(numbers)) for fact in dict.fromkeys(own)] for own in facts
        ]
        self._holders = Postings(len(facts))
        self._waived = waived

    def among(self, i: int, others: Ints) -> Ints:
        """Those that hold text i's rarest fact, and the waived."""
        import numpy as np

        rarest = self._holders.fewest(self._items[i])
        if rarest is None:
            return others
        fine = np.isin(others, self._holders.holding([rarest]), assume_unique=True)
        return others[fine if self._waived is None else fine | self._waived(i, others)]

    def agrees(self, i: int, other: int) -> bool:
        """Whether the other text covers text i's facts, or need not."""
        import numpy as np

        if covers(self._facts[other], self._facts[i]):
            return True
        return self._waived is not None and bool(self._waived(i, np.array([other]))[0])

    def keep(self, i: int) -> None:
        """Remember which facts the text holds."""
        self._holders.add(i, self._items[i])
