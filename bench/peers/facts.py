"""The question that a workload is about, and the facts that answer it: planted, so that they count.

The facts speak of a lock that does not exist, in sentences of our own: none can be in the prose
by chance. Where each is planted:

    top    in a chunk among the best ranked, which has no copy
    near   in one copy only of a near duplicate: whoever keeps the other copy loses it
    deep   in a chunk that the plain ranking reaches only after the budget of 8,000 tokens is full
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bench.peers.shape import Slot

Where: TypeAlias = Literal["top", "near", "deep"]

QUERY = (
    "How is the Ambermere lock run: who opens the gates, what does the passage cost, "
    "how deep is the chamber, and when is the lock closed?"
)
FIRST_FILL = 22  # chunks of 350 tokens in 8,000

TOLD: tuple[tuple[Where, str], ...] = (
    (
        "top",
        "The gates of the Ambermere lock are opened by the warden Ilse Torvald and her deputy.",
    ),
    ("near", "A passage through the Ambermere lock costs 17 crowns for a boat of up to 12 metres."),
    ("deep", "The chamber of the Ambermere lock is 6.4 metres deep when the upper basin is full."),
    ("top", "The Ambermere lock is closed from 3 November until the ice has left the lower basin."),
    (
        "deep",
        "Boats with a draught of more than 2 metres may not enter the Ambermere lock at night.",
    ),
    (
        "near",
        "The deputy of the Ambermere lock keeps the second key in the toll house on the quay.",
    ),
    ("top", "Since 1931 the lower gate of the Ambermere lock has been driven by a turbine."),
    (
        "deep",
        "On market days the passage of the Ambermere lock is free before eight in the morning.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sentence, where it was planted and in which slots."""

    text: str
    where: Where
    uids: tuple[int, ...]


def plant(slots: Sequence[Slot], ranks: Mapping[int, int]) -> tuple[Fact, ...]:
    """Choose a chunk for each fact that there is room for; `ranks`: uid to place in the ranking."""
    members: dict[int, list[Slot]] = {}
    for slot in slots:
        members.setdefault(slot.group, []).append(slot)
    alone = sorted(ranks[group[0].uid] for group in members.values() if len(group) == 1)
    by_rank = {rank: uid for uid, rank in ranks.items()}
    free: dict[Where, list[int]] = {
        "top": [by_rank[rank] for rank in alone if rank < FIRST_FILL],
        "deep": [by_rank[rank] for rank in alone if 1.3 * FIRST_FILL <= rank < 2 * FIRST_FILL],
        "near": _fuller_copies(members.values(), ranks),
    }
    wanted: dict[Where, int] = {}
    for where, _ in TOLD:
        wanted[where] = wanted.get(where, 0) + 1
    homes = {where: iter(_spread(free[where], many)) for where, many in wanted.items()}
    found = []
    for where, text in TOLD:
        uid = next(homes[where], None)
        if uid is not None:
            found.append(Fact(text=text, where=where, uids=(uid,)))
    return tuple(found)


def _fuller_copies(groups: Iterable[list[Slot]], ranks: Mapping[int, int]) -> list[int]:
    """The near copies of pairs that both stand among the best, best pair first."""
    pairs = []
    for group in groups:
        if len(group) == 2 and group[1].kind == "near":
            places = sorted(ranks[slot.uid] for slot in group)
            if places[0] < FIRST_FILL:
                pairs.append((places[1], group[1].uid))
    return [uid for _, uid in sorted(pairs)]


def _spread(uids: list[int], many: int) -> list[int]:
    """So many of them, evenly apart."""
    if len(uids) <= many:
        return uids
    return [uids[(2 * i + 1) * len(uids) // (2 * many)] for i in range(many)]
