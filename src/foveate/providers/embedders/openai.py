"""Any endpoint that speaks OpenAI's embeddings protocol: `POST {base_url}/embeddings`.

https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from foveate.core.errors import ExternalError
from foveate.providers.embedders.remote import batches, check_url, post_json, unit_rows

_BATCH_SIZE = 128


class OpenAIEmbedder:
    """A hosted model. Address and key: arguments, or `OPENAI_BASE_URL` and `OPENAI_API_KEY`.

    The length of its vectors is asked of the endpoint once, when it is first needed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self.model = model
        default = os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        self._url = check_url(base_url or default)
        self._key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key
        self._timeout = timeout
        self._dimensions = 0

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model!r}, base_url={self._url!r})"

    @property
    def name(self) -> str:
        """Protocol and model."""
        return f"openai:{self.model}"

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
        payload = {"model": self.model, "input": texts, "encoding_format": "float"}
        answer = post_json(f"{self._url}/embeddings", payload, key=self._key, timeout=self._timeout)
        try:
            # The protocol numbers its answers; nothing promises their order.
            data = sorted(answer["data"], key=lambda item: int(item["index"]))
            vectors = [item["embedding"] for item in data]
        except (KeyError, TypeError, ValueError):
            raise ExternalError(f"{self.name}: the answer holds no embeddings") from None
        rows = unit_rows(vectors, expected=len(texts), whose=self.name)
        self._dimensions = rows.shape[1]
        return rows
