"""Analyses of a request's texts, from the store or computed; only speed depends on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from foveate.core.request import Inputs, Recipe
from foveate.core.stages.compress import Compress
from foveate.core.text_analysis import analysis_version, encode_analysis, is_known, load_analyses
from foveate.core.types import Chunk
from foveate.ports import AnalysisStore, SearchStore, WritableStore

DEFAULT_LANGUAGE = "en"
"""The language that questions to a store are asked in, as far as sentences go."""


@lru_cache(maxsize=64)
def current_version(language: str = DEFAULT_LANGUAGE) -> str:
    """The version of the readings that this process makes and believes."""
    from importlib.metadata import version as version_in_use

    return analysis_version(language, f"sentencex {version_in_use('sentencex')}")


def analyse_chunks(chunks: Iterable[Chunk]) -> dict[str, bytes]:
    """The readings of these chunks, by content hash; one that comes again is read once."""
    found = {c.content_hash: c for c in chunks}
    return {content_hash: _analyse_chunk(c, DEFAULT_LANGUAGE) for content_hash, c in found.items()}


def save_to_store(store: WritableStore, found: Mapping[str, bytes]) -> None:
    """Let the store keep what was made of chunks, if it can; best effort."""
    if found and isinstance(store, AnalysisStore):
        store.keep(current_version(), found)


def find_unknown_texts(inputs: Inputs, store: SearchStore) -> dict[str, Chunk]:
    """The texts that the recipe reads and this process does not know, by content hash."""
    if not _uses_sentences(inputs.recipe) or not isinstance(store, AnalysisStore):
        return {}
    chunks = [*(c.chunk for c in inputs.candidates), *inputs.neighbours]
    language = inputs.language
    return {c.content_hash: c for c in chunks if not is_known(c.content_hash, language)}


def load_or_compute(
    chunks: Mapping[str, Chunk], stored: Mapping[str, bytes], language: str
) -> dict[str, bytes]:
    """Take in what a store has of these texts, and read those that it has not; the new readings."""
    own = current_version(language)
    taken = load_analyses({h: stored[h] for h in chunks if h in stored}, language, own)
    fresh = {h: _analyse_chunk(chunk, language) for h, chunk in chunks.items() if h not in taken}
    load_analyses(fresh, language, own)
    return fresh


def _analyse_chunk(chunk: Chunk, language: str) -> bytes:
    return encode_analysis(chunk.text, chunk.content_hash, language, current_version(language))


def _uses_sentences(recipe: Recipe) -> bool:
    return any(isinstance(s, Compress) and s.offer == "sentences" for s in recipe.stages)
