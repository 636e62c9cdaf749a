"""Analyses: what depends on a text alone, as bytes that a store may keep.

An analysis is sealed with its version and the text's content hash. One that is damaged, of another
text or of another version is not used. The seal is a digest and no signature: a writer of the store
is trusted. The version holds a digest of a sample's analysis, so it changes with the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct

from blake3 import blake3

from foveate.core.stages.compress import index_codec as evidence
from foveate.core.stages.compress.sentence_index import compute_index as index_of
from foveate.core.stages.dedup import signature
from foveate.core.text import facts
from foveate.core.text.profile import keep_profile, text_profile

FORMAT_VERSION = b"1"
"""Of the bytes, and of all that the sample does not show: whoever changes either, changes this."""
VERSION_PREFIX = "reading-"
"""How every version begins; the language follows, and a digest after the last hyphen."""
CHECKSUM_SIZE = 16
LENGTHS_HEADER = Struct("<III")
SAMPLE = (
    """# Weirs & locks

The weir, built by Dr. A. Ames in 1871, holds 5.5 m of water. It isn't old! "Is it?" he asked.
Z. B. die Wehre (3,5 m) fielen ggf. aus; l'écluse « n'est pas » là. Esto cuesta 1.000 €.
You need:

1. a rope, 12 mm;
   - of hemp (not of steel), cafés' naïve façades;
2. no hook.

```python
if (!open_gate(1)) return a - 1
```

| gate | year |
|------|------|
| upper | 1871 |

水坝挡住河水。它建于一八七一年。ダムは水を止めます。กขค ที่นี่ 강은 없다. नदी यहाँ है। \u202eabc
"""
    + "The same words come again, and the same words come again. " * 9
)


@lru_cache(maxsize=64)
def analysis_version(language: str, engine: str = "") -> str:
    """The version of readings in this language; `engine`: what else they are worked out with."""
    said = blake3(b"\n".join((FORMAT_VERSION, language.encode(), engine.encode())))
    return f"{VERSION_PREFIX}{language}-{said.update(_encode_parts(SAMPLE, language)).hexdigest(8)}"


def language_prefix(version: str) -> str:
    """What the versions of one language have in common; of another's version, what it has."""
    return version.rpartition("-")[0]


def encode_analysis(text: str, content_hash: str, language: str, version: str) -> bytes:
    """The text's reading, worked out and sealed."""
    data = _encode_parts(text, language)
    return _checksum(data, content_hash, version) + data


def is_intact(data: bytes, content_hash: str, version: str) -> bool:
    """Whether these are the bytes that were sealed for this text under this version."""
    return len(data) > CHECKSUM_SIZE and data[:CHECKSUM_SIZE] == _checksum(
        data[CHECKSUM_SIZE:], content_hash, version
    )


def load_analyses(readings: Mapping[str, bytes], language: str, version: str) -> set[str]:
    """Take in intact analyses by content hash; the hashes that were taken in."""
    taken = set()
    for content_hash, data in readings.items():
        parts = _decode_parts(data, language) if is_intact(data, content_hash, version) else None
        if parts is not None:
            known = text_profile(content_hash)
            known.kept, known.changed = parts, True
            keep_profile(content_hash, known)
            taken.add(content_hash)
    return taken


def is_known(content_hash: str, language: str) -> bool:
    """Whether the text with this hash need not be read."""
    kept = text_profile(content_hash)
    return language in kept.indexes or evidence.PROFILE_KEY + language in kept.kept


def _encode_parts(text: str, language: str) -> bytes:
    parts = (
        evidence.encode_index(index_of(text, language), len(text)),
        signature.encode_signature(signature.compute_signature(text)),
        facts.encode_facts(facts.extract_facts(text)),
    )
    return LENGTHS_HEADER.pack(*map(len, parts)) + b"".join(parts)


def _decode_parts(data: bytes, language: str) -> dict[str, bytes] | None:
    at = CHECKSUM_SIZE + LENGTHS_HEADER.size
    if len(data) < at:
        return None
    names = (evidence.PROFILE_KEY + language, signature.PROFILE_KEY, facts.PROFILE_KEY)
    found = {}
    for name, length in zip(names, LENGTHS_HEADER.unpack_from(data, CHECKSUM_SIZE), strict=True):
        found[name] = data[at : at + length]
        at += length
    return found if at == len(data) else None


def _checksum(data: bytes, content_hash: str, version: str) -> bytes:
    return blake3(f"{version}\n{content_hash}\n".encode() + data).digest(CHECKSUM_SIZE)
