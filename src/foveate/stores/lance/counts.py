"""Token counts as a store on Lance keeps them: each with its checksum. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from foveate.stores.checksums import checksum


def as_known(fingerprint: str, counts: Mapping[str, int]) -> dict[str, bytes]:
    """Token counts by content hash as they are kept: each with its checksum."""
    return {
        name: f"{number} {checksum((fingerprint, name, int(number)))}".encode()
        for name, number in counts.items()
    }


def counted_of(fingerprint: str, name: str, data: bytes) -> int | None:
    """The token count that was kept; None for a damaged one."""
    number = data.partition(b" ")[0]
    if number.isdigit() and as_known(fingerprint, {name: int(number)})[name] == data:
        return int(number)
    return None
