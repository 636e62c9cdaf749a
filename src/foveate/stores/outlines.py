"""What each document is held to: where its chunks are, and its checksum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, TypeAlias

from foveate.stores.checksums import checksum
from foveate.stores.rows import DOCUMENT_FIELDS

Place: TypeAlias = tuple[int, int, int]
"""A chunk's sequence, row id and audience."""

_PLACE = Struct("<qqq")


def outline(number: int, row: Mapping[str, Any], places: Iterable[Place]) -> tuple[Any, ...]:
    """A document's outline as a row, with its checksums."""
    first = (number, row["document_id"], encode_places(places))
    return (*first, checksum(first), row_checksum(number, row))


def encode_places(places: Iterable[Place]) -> bytes:
    """A document's places as they are kept."""
    return b"".join(_PLACE.pack(*place) for place in places)


def decode_places(data: bytes) -> list[Place]:
    """The places that were packed."""
    return list(_PLACE.iter_unpack(data))


def chunks_within(
    outlines: Mapping[str, Sequence[Place]], places: Iterable[tuple[str, int]], window: int
) -> list[tuple[int, int]]:
    """(row id, audience) of the chunks within `window` of the (document id, sequence) places."""
    wanted: dict[str, list[int]] = {}
    for name, sequence in sorted(places):
        wanted.setdefault(name, []).append(sequence)
    found: list[tuple[int, int]] = []
    for name, outline in outlines.items():
        found += [place[1:] for place in outline if is_near(wanted[name], place[0], window)]
    return found


def is_near(places: Sequence[int], at: int, window: int) -> bool:
    """Whether one of these places, ascending, is within the window."""
    next_ = bisect_left(places, at - window)
    return next_ < len(places) and places[next_] <= at + window


def row_checksum(number: int, row: Mapping[str, Any]) -> int:
    """Of a document's row; its text has a hash in it."""
    return checksum((number, *(row[field] for field in DOCUMENT_FIELDS), row["audience"]))
