"""Where the chunks of a document are: packed beside its row, so that none is missed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import TypeAlias

Place: TypeAlias = tuple[int, int, int]
"""A chunk's sequence, row id and audience."""

_PLACE = Struct("<qqq")


def encode_places(places: Iterable[Place]) -> bytes:
    """A document's places as they are kept."""
    return b"".join(_PLACE.pack(*place) for place in places)


def decode_places(data: bytes) -> list[Place]:
    """The places that were packed."""
    return list(_PLACE.iter_unpack(data))


def chunks_within(
    documents: Mapping[str, Sequence[Place]], places: Iterable[tuple[str, int]], window: int
) -> list[tuple[int, int]]:
    """(row id, audience) of the chunks within `window` of the (document id, sequence) places."""
    wanted: dict[str, list[int]] = {}
    for name, sequence in sorted(places):
        wanted.setdefault(name, []).append(sequence)
    found: list[tuple[int, int]] = []
    for name in wanted.keys() & documents.keys():
        near = (place for place in documents[name] if is_near(wanted[name], place[0], window))
        found += [place[1:] for place in near]
    return found


def is_near(places: Sequence[int], at: int, window: int) -> bool:
    """Whether one of these places, ascending, is within the window."""
    next_ = bisect_left(places, at - window)
    return next_ < len(places) and places[next_] <= at + window
