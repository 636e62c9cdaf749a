"""Analyses: what depends on a text alone, as bytes that a store may keep.

An analysis is sealed with its version and the text's content hash. One that is damaged, of another
text or of another version is not used. The seal is a digest and no signature: a writer of the store
is trusted. The version holds a digest of a sample's analysis, so it changes with the code.
"""

from __future__ import annotations

from blake3 import blake3

VERSION_PREFIX = "reading-"
"""How every version begins; the language follows, and a digest after the last hyphen."""
CHECKSUM_SIZE = 16


def language_prefix(version: str) -> str:
    """What the versions of one language have in common; of another's version, what it has."""
    return version.rpartition("-")[0]


def is_intact(data: bytes, content_hash: str, version: str) -> bool:
    """Whether these are the bytes that were sealed for this text under this version."""
    return len(data) > CHECKSUM_SIZE and data[:CHECKSUM_SIZE] == _checksum(
        data[CHECKSUM_SIZE:], content_hash, version
    )


def _checksum(data: bytes, content_hash: str, version: str) -> bytes:
    return blake3(f"{version}\n{content_hash}\n".encode() + data).digest(CHECKSUM_SIZE)
