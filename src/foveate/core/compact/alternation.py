"""Who speaks in turn: strict chat templates refuse two messages of one side in a row.

Calls and the results of tools count as nothing in between.
"""

from __future__ import annotations

from collections.abc import Iterable

from foveate.core.compact.entries import Entry, EntryRole
from foveate.core.text.shapes.gaps import ELISION

BRIDGE = ELISION.strip()
"""What the other side says between two messages whose answers left."""


def takes_turn(entry: Entry) -> bool:
    """Whether a person or the model speaks, and calls no tool."""
    is_item = entry.role == "assistant" and entry.kinds and not entry.said
    return entry.role in ("user", "assistant") and not (entry.calls or entry.results or is_item)


def is_bridge(entry: Entry) -> bool:
    """Whether it is what stood between two messages of an earlier list."""
    return entry.said == BRIDGE and takes_turn(entry)


def missing_turns(entries: Iterable[Entry], before: EntryRole = "other") -> dict[int, EntryRole]:
    """By index, the entries before which a turn of the other side is missing, and that side."""
    found: dict[int, EntryRole] = {}
    for entry in filter(takes_turn, entries):
        if entry.role == before:
            found[entry.index] = "assistant" if before == "user" else "user"
        before = entry.role
    return found
