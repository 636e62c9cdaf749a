"""Embedders over HTTP: OpenAI's protocol and Ollama's.

An answer is checked before use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from foveate.core.errors import ExternalError
from foveate.providers.chat.http_client import (
    ProviderError,
    check_address,
    check_key,
    ollama_url,
    post_json,
    read_key,
)


def unit_rows(vectors: Any, *, expected: int, whose: str) -> Any:
    """The answer's vectors as float32 rows of length 1; raises `ExternalError`."""
    import numpy as np

    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExternalError(f"{whose}: the answer's vectors are not rows of numbers") from None
    if rows.ndim != 2 or len(rows) != expected or not rows.shape[1]:
        raise ExternalError(f"{whose}: shape {rows.shape} came for {expected} texts")
    if not np.isfinite(rows).all():
        raise ExternalError(f"{whose}: a vector holds a number that is not finite")
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


class _RemoteEmbedder:
    """A model behind HTTP; the length of its vectors is asked once, when it is first needed."""

    prefix: ClassVar[str]
    batch_size: ClassVar[int]

    def __init__(self, model: str, url: str, timeout: float) -> None:
        self.model = model
        self._url = check_address(url, "base_url", "api_key")
        self._timeout = timeout
        self._dimensions = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self._url!r})"

    @property
    def name(self) -> str:
        """Protocol and model."""
        return f"{self.prefix}:{self.model}"

    @property
    def dimensions(self) -> int:
        """Length of one vector; the first time, one request."""
        if not self._dimensions:
            self.embed(["dimensions"])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), dimensions), rows of length 1; raises `ExternalError`."""
        import numpy as np

        size = self.batch_size
        parts = [self._embed_batch(list(texts[i : i + size])) for i in range(0, len(texts), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _embed_batch(self, texts: list[str]) -> Any:
        try:
            vectors = self._fetch_vectors(texts)
        except (KeyError, TypeError, ValueError):
            raise ExternalError(f"{self.name}: the answer holds no embeddings") from None
        rows = unit_rows(vectors, expected=len(texts), whose=self.name)
        self._dimensions = rows.shape[1]
        return rows

    def _fetch_vectors(self, texts: list[str]) -> Any:
        raise NotImplementedError

    def _post(self, path: str, texts: list[str], key: str = "", **more: str) -> Any:
        url, headers = f"{self._url}{path}", {"authorization": f"Bearer {key}"} if key else {}
        record = {"model": self.model, "input": texts, **more}
        try:
            return post_json(url, record, headers=headers, timeout=self._timeout)
        except ProviderError as error:
            raise ExternalError(f"{url} {error.why}") from None


class OpenAIEmbedder(_RemoteEmbedder):
    """A hosted model. Address and key: arguments, or `OPENAI_BASE_URL` and `OPENAI_API_KEY`."""

    prefix, batch_size = "openai", 128

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        default = os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        super().__init__(model, base_url or default, timeout)
        self._key = read_key("OPENAI_API_KEY") if api_key is None else check_key(api_key, "api_key")

    def _fetch_vectors(self, texts: list[str]) -> Any:
        answer = self._post("/embeddings", texts, self._key, encoding_format="float")
        # The protocol numbers its answers; nothing promises their order.
        data = sorted(answer["data"], key=lambda item: int(item["index"]))
        return [item["embedding"] for item in data]


class OllamaEmbedder(_RemoteEmbedder):
    """A local model. Address: the argument, or `OLLAMA_HOST`, or port 11434 of this machine."""

    prefix, batch_size = "ollama", 32

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 120.0) -> None:
        super().__init__(model, base_url or ollama_url(), timeout)

    def _fetch_vectors(self, texts: list[str]) -> Any:
        return self._post("/api/embed", texts)["embeddings"]
