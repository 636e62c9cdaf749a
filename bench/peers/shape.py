"""Which chunks a workload has, before any has a text: kinds, documents, copies.

Of n chunks 55 % are `base`, 20 % `adjacent` (they begin with the end of the chunk before them),
10 % `exact` copies and 15 % `near` copies of one of those. There are n/5 documents. Half of the
exact copies and all near ones are mirrored: the same text in another document, with the offsets
of the original. That is a trap on purpose: offsets are claims.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["base", "adjacent", "exact", "near"]
MIRRORED = 100  # sequence numbers of mirrored copies begin here


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A chunk to be. `parent`: the chunk before an adjacent one, or the original of a copy.

    `group` is the same for all copies of one text.
    """

    uid: int
    kind: Kind
    document: int
    sequence: int
    group: int
    parent: int | None = None


def documents(n: int) -> int:
    """How many documents there are."""
    return max(2, n // 5)


def shape(n: int, dice: Random) -> tuple[Slot, ...]:
    """All slots: originals by document and sequence, then the copies."""
    exact, near = round(n * 0.10), round(n * 0.15)
    originals = _originals(n - exact - near, round(n * 0.20), documents(n), dice)
    slots = list(originals)
    for number in range(exact + near):
        original = dice.choice(originals)
        kind: Kind = "exact" if number < exact else "near"
        copy = replace(original, uid=len(slots), kind=kind, parent=original.uid)
        if kind == "near" or dice.random() < 0.5:
            elsewhere = (original.document + dice.randrange(1, documents(n))) % documents(n)
            copy = replace(copy, document=elsewhere, sequence=MIRRORED + number)
        slots.append(copy)
    return tuple(slots)


def _originals(n: int, adjacent: int, many: int, dice: Random) -> tuple[Slot, ...]:
    """Base chunks dealt out evenly, adjacent ones at random, never first in their document."""
    plans: list[list[Kind]] = [[] for _ in range(many)]
    for number in range(n - adjacent):
        plans[number % many].append("base")
    for _ in range(adjacent):
        plan = dice.choice([p for p in (dice.choice(plans) for _ in range(8)) if p] or plans[:1])
        plan.insert(dice.randint(1, len(plan)), "adjacent")
    slots: list[Slot] = []
    for document, plan in enumerate(plans):
        for sequence, kind in enumerate(plan):
            uid = len(slots)
            parent = uid - 1 if kind == "adjacent" else None
            slots.append(
                Slot(
                    uid=uid,
                    kind=kind,
                    document=document,
                    sequence=sequence,
                    group=uid,
                    parent=parent,
                )
            )
    return tuple(slots)
