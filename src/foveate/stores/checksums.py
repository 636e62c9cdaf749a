"""Checksums of stored rows as a reader gets them, and the error for those that do not match.

A CRC finds damage up to 32 bits long; it is no signature. A row that is looked up by a text has a
second key made of it, and what many rows share has a sum over the rows, so that a hidden row is
missed too. Errors name no value: the reader may not be allowed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from marshal import dumps
from typing import Any
from zlib import crc32

from blake3 import blake3

from foveate.core.errors import ExternalError

_FORM = 2
"""Of marshal: in this version every value has one form, in each release of Python."""
MASK = (1 << 62) - 1
"""Sums are taken modulo 2^62, so that two of them can be added in 64 bits."""


class StoreDamaged(ExternalError):
    """Something in a store is not as it was written."""


def damage(what: str) -> StoreDamaged:
    """The error for a part of a store that is not as it was written."""
    return StoreDamaged(
        f"the store is damaged: {what}; foveate store check says where, "
        "then open a backup or index the documents into a new store"
    )


def checksum(values: Sequence[Any]) -> int:
    """Of strings, whole numbers, bytes and None, in this order.

    >>> checksum(("a", 1, None)) == checksum(("a", True, None)) != checksum(("a", 1, ""))
    True
    """
    return crc32(dumps(tuple(map(_plain, values)), _FORM))


def intact(rows: Iterable[tuple[Any, ...]], what: str) -> Iterator[tuple[Any, ...]]:
    """The rows, each checked against the checksum at its end; raises for damage."""
    for row in rows:
        if crc32(dumps(row[:-1], _FORM)) != row[-1]:
            raise damage(what)
        yield row


def second_key(text: str) -> int:
    """Under which a row is found too if its text is damaged, or the index of it."""
    digest = blake3(text.encode(errors="surrogatepass")).digest(8)
    return int.from_bytes(digest, "big", signed=True)


def sum_of_places(term: str, total: int, count: int) -> int:
    """Of a term's places, whatever rows they stand in: how many they are, and what they add up to.

    >>> sum_of_places("a", 7, 2) == (sum_of_places("a", 3, 1) + sum_of_places("a", 4, 1)) & MASK
    True
    """
    return (total + count * crc32(term.encode())) & MASK


def _plain(value: Any) -> Any:
    """The value as marshal knows it: no subclass and no truth value."""
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) else value
