"""Many texts' sets of items as arrays of numbers, the rarest item first.

Not an index: `postings.py` is. Rules: items are words; an item that one
text alone has cannot be shared, so it is counted (`sizes`, `lonely`) and left out of `items`;
the numbers depend on the texts and their order and on nothing else.

Rarest first is what makes the prefix filter of Bayardo, Ma and Srikant (2007) work: two sets
that share many items share one of the few rarest of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bags:
    """`items[starts[i]:starts[i + 1]]` are text i's shared items, rarest first, ascending."""

    sizes: Ints
    lonely: Ints
    starts: Ints
    items: Ints
    universe: int

    def of(self, i: int) -> Ints:
        """Text i's shared items."""
        return self.items[self.starts[i] : self.starts[i + 1]]

    def overlaps(self, i: int, others: Ints) -> Ints:
        """How many items text i has in common with each of `others`; one pass over theirs."""
        import numpy as np

        mine = np.zeros(self.universe, dtype=bool)
        mine[self.of(i)] = True
        first, lengths = self.starts[others], self.starts[others + 1] - self.starts[others]
        ends = np.cumsum(lengths)
        running = np.concatenate(([0], np.cumsum(mine[self.items[_places(first, lengths)]])))
        overlaps: Ints = running[ends] - running[ends - lengths]
        return overlaps


def _places(first: Ints, lengths: Ints) -> Ints:
    """`first[0], first[0] + 1, …` for `lengths[0]` of them, then the same for the next."""
    import numpy as np

    ends = np.cumsum(lengths)
    places: Ints = np.repeat(first - ends + lengths, lengths) + np.arange(lengths.sum())
    return places


def word_bags(spelled: Sequence[Sequence[str]]) -> Bags:
    """The texts' sets of words."""
    return _bags(*_numbered(spelled), len(spelled))


def _numbered(texts: Sequence[Collection[str]]) -> tuple[Ints, Ints]:
    """Every word's number, by first appearance, and the text it stands in."""
    import numpy as np

    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths = [len(words) for words in texts]
    flat = map(numbers.__getitem__, chain.from_iterable(texts))
    codes = np.fromiter(flat, dtype=np.int64, count=sum(lengths))
    return codes, np.repeat(np.arange(len(texts)), lengths)


def _bags(codes: Ints, owners: Ints, texts: int) -> Bags:
    """Sort by item, drop repeats within a text, number the shared items from the rarest on."""
    import numpy as np

    if texts * (int(codes.max(initial=0)) + 1) >= 2**63:
        codes = np.unique(codes, return_inverse=True)[1]
    keys = codes * max(1, texts) + owners
    keys.sort()
    keys = keys[_fresh(keys)]
    codes, owners = np.divmod(keys, max(1, texts))
    item = np.cumsum(_fresh(codes)) - 1
    holders = np.bincount(item)
    place = np.empty(len(holders), dtype=np.int64)
    place[np.argsort(holders, kind="stable")] = np.arange(len(holders))
    alone = int(np.count_nonzero(holders == 1))
    universe = len(holders) - alone
    shared = holders[item] > 1
    keys = owners[shared] * max(1, universe) + place[item[shared]] - alone
    keys.sort()
    sizes = np.bincount(owners, minlength=texts)
    many = np.bincount(owners[shared], minlength=texts)
    return Bags(
        sizes=sizes,
        lonely=sizes - many,
        starts=np.concatenate(([0], np.cumsum(many))),
        items=keys % max(1, universe),
        universe=universe,
    )


def _fresh(ascending: Ints) -> NDArray[np.bool_]:
    """Where a value is not the one before it."""
    import numpy as np

    fresh = np.ones(len(ascending), dtype=bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return fresh
