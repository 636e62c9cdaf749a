"""A sentence-transformers model that is already on this machine; nothing is downloaded.

https://sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from foveate.core.errors import ExternalError


class SentenceTransformersEmbedder:
    """A model by name (from its cache) or by folder."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._encoder = _load_encoder(model)

    def __repr__(self) -> str:
        return f"SentenceTransformersEmbedder({self.model!r})"

    @property
    def name(self) -> str:
        """Library and model."""
        return f"sentence-transformers:{self.model}"

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        return int(self._encoder.get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), dimensions), rows of length 1."""
        import numpy as np

        rows = self._encoder.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dimensions)


def _load_encoder(model: str) -> Any:
    try:
        vendor = import_module("sentence_transformers")
    except ImportError:  # no extra of ours brings it: half a gigabyte, and one knows which build
        raise ExternalError(
            "sentence-transformers is not installed; run: pip install sentence-transformers"
        ) from None
    try:
        return vendor.SentenceTransformer(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ExternalError(
            f"sentence-transformers: {model!r} is not on this machine; download it first"
        ) from error
