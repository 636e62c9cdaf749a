"""A model on an Ollama server: `POST {base_url}/api/embed`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from foveate.core.errors import ExternalError
from foveate.providers.embedders.remote import batches, check_url, post_json, unit_rows

_BATCH_SIZE = 32


class OllamaEmbedder:
    """A local model. Address: the argument, or `OLLAMA_HOST`, or port 11434 of this machine.

    The length of its vectors is asked of the server once, when it is first needed.
    """

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 120.0) -> None:
        self.model = model
        self._url = check_url(base_url or _read_host())
        self._timeout = timeout
        self._dimensions = 0

    def __repr__(self) -> str:
        return f"OllamaEmbedder({self.model!r}, base_url={self._url!r})"

    @property
    def name(self) -> str:
        """Server and model."""
        return f"ollama:{self.model}"

    @property
    def dimensions(self) -> int:
        """Length of one vector; the first time, one request."""
        if not self._dimensions:
            self.embed(["dimensions"])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), dimensions), rows of length 1; raises `ExternalError`."""
        import numpy as np

        parts = [self._embed_batch(batch) for batch in batches(texts, _BATCH_SIZE)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _embed_batch(self, texts: list[str]) -> Any:
        payload = {"model": self.model, "input": texts}
        answer = post_json(f"{self._url}/api/embed", payload, timeout=self._timeout)
        try:
            vectors = answer["embeddings"]
        except (KeyError, TypeError):
            raise ExternalError(f"{self.name}: the answer holds no embeddings") from None
        rows = unit_rows(vectors, expected=len(texts), whose=self.name)
        self._dimensions = rows.shape[1]
        return rows


def _read_host() -> str:
    """`OLLAMA_HOST` as Ollama itself reads it: the scheme and the port may be left out."""
    host = os.environ.get("OLLAMA_HOST") or "127.0.0.1"
    url = host if "://" in host else f"http://{host}"
    bare = ":" not in url.rpartition("//")[2].rpartition("]")[2]
    return f"{url}:11434" if bare and "://" not in host else url
