"""Embedders by name. The vendor's package is imported when its name is asked for."""

from __future__ import annotations

from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Embedder

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
    if provider == "hashing":
        from foveate.providers.embedders.local import HashingEmbedder

        return HashingEmbedder()
    if provider == "ollama":
        from foveate.providers.embedders.remote import OllamaEmbedder

        return OllamaEmbedder(model)
    if provider == "openai":
        from foveate.providers.embedders.remote import OpenAIEmbedder

        return OpenAIEmbedder(model)
    if provider == "sentence-transformers":
        from foveate.providers.embedders.local import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model)
    from foveate.providers.embedders.local import WordLlamaEmbedder

    return WordLlamaEmbedder()
