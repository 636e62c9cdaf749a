"""Embedders over HTTP: OpenAI's protocol and Ollama's.

A key goes into one header and nowhere else; redirects are refused; an answer is checked before use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any, ClassVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from foveate.core.errors import BadOption, ExternalError


class NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to wherever the answer points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse."""


def check_url(url: str) -> str:
    """The URL without its last slash; raises `BadOption` unless it is http(s) with a host."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadOption(f"base_url is {url!r}; give http://HOST or https://HOST")
    if parts.username or parts.password:
        raise BadOption("base_url holds a user name or a password; give the key as api_key")
    return url.rstrip("/")


def post_json(url: str, payload: Mapping[str, Any], *, key: str = "", timeout: float = 60.0) -> Any:
    """Send JSON, get JSON; `key` as a bearer token; raises `ExternalError`."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = Request(url, data=json.dumps(payload).encode(), headers=headers)  # noqa: S310 - checked
    try:
        with build_opener(NoRedirect).open(request, timeout=timeout) as answer:
            return json.load(answer)
    except HTTPError as error:
        with error:
            hint = _HINTS.get(error.code, "look at the server's log")
        raise ExternalError(f"{url} answered {error.code}; {hint}") from None
    except (URLError, OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ExternalError(f"{url} cannot be reached: {reason}; is the server up?") from None
    except ValueError:
        raise ExternalError(f"{url} did not answer with JSON; is it the right address?") from None


_HINTS = {
    401: "check the API key",
    403: "check what the API key may do",
    404: "check the address and the model's name",
    429: "too many requests or no quota left; try again later",
}


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


def batches(texts: Sequence[str], size: int) -> list[list[str]]:
    """The texts in runs of at most `size`.

    >>> batches(["a", "b", "c"], 2)
    [['a', 'b'], ['c']]
    """
    return [list(texts[i : i + size]) for i in range(0, len(texts), size)]


class _RemoteEmbedder:
    """A model behind HTTP; the length of its vectors is asked once, when it is first needed."""

    prefix: ClassVar[str]
    batch_size: ClassVar[int]

    def __init__(self, model: str, url: str, timeout: float) -> None:
        self.model = model
        self._url = check_url(url)
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

        parts = [self._embed_batch(batch) for batch in batches(texts, self.batch_size)]
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
        self._key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key

    def _fetch_vectors(self, texts: list[str]) -> Any:
        payload = {"model": self.model, "input": texts, "encoding_format": "float"}
        answer = post_json(f"{self._url}/embeddings", payload, key=self._key, timeout=self._timeout)
        # The protocol numbers its answers; nothing promises their order.
        data = sorted(answer["data"], key=lambda item: int(item["index"]))
        return [item["embedding"] for item in data]


class OllamaEmbedder(_RemoteEmbedder):
    """A local model. Address: the argument, or `OLLAMA_HOST`, or port 11434 of this machine."""

    prefix, batch_size = "ollama", 32

    def __init__(self, model: str, *, base_url: str | None = None, timeout: float = 120.0) -> None:
        super().__init__(model, base_url or _read_host(), timeout)

    def _fetch_vectors(self, texts: list[str]) -> Any:
        payload = {"model": self.model, "input": texts}
        return post_json(f"{self._url}/api/embed", payload, timeout=self._timeout)["embeddings"]


def _read_host() -> str:
    """`OLLAMA_HOST` as Ollama itself reads it: the scheme and the port may be left out."""
    host = os.environ.get("OLLAMA_HOST") or "127.0.0.1"
    url = host if "://" in host else f"http://{host}"
    bare = ":" not in url.rpartition("//")[2].rpartition("]")[2]
    return f"{url}:11434" if bare and "://" not in host else url
