"""Embedders by name. The vendor's package is imported when its name is asked for."""

from __future__ import annotations

from pkgutil import resolve_name

from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Embedder

_PLACES = {
    "hashing": "local:HashingEmbedder",
    "ollama": "remote:OllamaEmbedder",
    "openai": "remote:OpenAIEmbedder",
    "sentence-transformers": "local:SentenceTransformersEmbedder",
    "wordllama": "local:WordLlamaEmbedder",
}
NAMES = ("hashing", "ollama:MODEL", "openai:MODEL", "sentence-transformers:MODEL", "wordllama")


def load_embedder(name: str = "wordllama") -> Embedder:
    """The embedder of this name; raises `UnknownName`, `BadOption`, or `MissingExtra`.

    `wordllama` works offline; `hashing` needs nothing and knows words by their spelling alone;
    `openai:MODEL` (any endpoint of that protocol), `ollama:MODEL` and
    `sentence-transformers:MODEL` (a model that is on this machine) name a model after the colon.

    >>> load_embedder("hashing").name
    'hashing-256@1'
    """
    provider, colon, model = name.partition(":")
    known = {full.partition(":")[0]: full for full in NAMES}
    if provider not in known:
        raise UnknownName("embedder", name, NAMES)
    if bool(model) != (":" in known[provider]) or (colon and not model):
        raise BadOption(f"embedder {name!r}; write {known[provider]}")
    made: Embedder = resolve_name(f"{__name__}.{_PLACES[provider]}")(*([model] if model else []))
    return made
