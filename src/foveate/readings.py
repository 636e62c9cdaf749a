"""Readings at the edge: fetched from a store for the texts of a request, or worked out.

Rules: only speed depends on them, and a store without `readings` and `keep` works. One round trip
for all texts of a request, and none where this process knows them already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from foveate.core.readings import is_known, learn, reading_of, version_of
from foveate.core.stages.compress import Compress
from foveate.core.types import Chunk, Inputs, Recipe
from foveate.ports import Store

LANGUAGE = "en"
"""The language that questions to a store are asked in, as far as sentences go."""


@cache
def version(language: str = LANGUAGE) -> str:
    """The version of the readings that this process makes and believes."""
    from importlib.metadata import version as version_in_use

    return version_of(language, f"sentencex {version_in_use('sentencex')}")


def made(chunks: Iterable[Chunk]) -> dict[str, bytes]:
    """The readings of these chunks, by content hash."""
    return {c.content_hash: _reading(c, LANGUAGE) for c in chunks}


def keep(store: Store, found: Mapping[str, bytes]) -> None:
    """Let the store keep what was made of chunks, if it can; best effort."""
    if found and hasattr(store, "keep"):
        store.keep(version(), found)


def wanted(inputs: Inputs, store: Store) -> dict[str, Chunk]:
    """The texts that the recipe reads and this process does not know, by content hash."""
    if not _reads(inputs.recipe) or not hasattr(store, "readings"):
        return {}
    chunks = [*(c.chunk for c in inputs.candidates), *inputs.neighbours]
    language = inputs.language
    return {c.content_hash: c for c in chunks if not is_known(c.content_hash, language)}


def learned(
    chunks: Mapping[str, Chunk], stored: Mapping[str, bytes], language: str
) -> dict[str, bytes]:
    """Take in what a store has of these texts, and read those that it has not; the new readings."""
    own = version(language)
    taken = learn({h: stored[h] for h in chunks if h in stored}, language, own)
    fresh = {h: _reading(chunk, language) for h, chunk in chunks.items() if h not in taken}
    learn(fresh, language, own)
    return fresh


def _reading(chunk: Chunk, language: str) -> bytes:
    return reading_of(chunk.text, chunk.content_hash, language, version(language))


def _reads(recipe: Recipe) -> bool:
    """Whether the recipe weighs sentences, which is what reading costs most for."""
    return any(isinstance(s, Compress) and s.offer == "sentences" for s in recipe.stages)
