"""The offline default: WordLlama's static vectors, which come inside its package.

Rules: never the network (its own folder is the cache, downloads are off); lower-cased first (an
upper-cased copy of a text would look unrelated); each text is embedded by itself, so that its
vector does not depend on its neighbours in a batch.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import fsum, sqrt
from pathlib import Path
from typing import Any

from foveate.core.errors import ExternalError, MissingExtra

_MODEL = "l2_supercat"
_DIMENSIONS = 256


class WordLlamaEmbedder:
    """256 dimensions, about a millisecond a chunk; weights distilled from Llama 2 (MIT)."""

    copies = True

    def __init__(self) -> None:
        self._table, self._tokenizer, version = _load_weights()
        self._name = f"wordllama/{_MODEL}-{_DIMENSIONS}@{version}"

    def __repr__(self) -> str:
        return "WordLlamaEmbedder()"

    def __reduce__(self) -> tuple[type[WordLlamaEmbedder], tuple[()]]:
        """Made again in another process: the weights are there too."""
        return WordLlamaEmbedder, ()

    @property
    def name(self) -> str:
        """Model and version of the package that holds its weights."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of one vector."""
        return _DIMENSIONS

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), 256), rows of length 1 (of 0 for a text without tokens)."""
        import numpy as np

        rows = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            ids = self._tokenizer.encode(text.lower(), add_special_tokens=False).ids
            row[:] = _mean_direction(self._table, ids)
        return rows


def _mean_direction(table: Any, ids: Sequence[int]) -> Any:
    """The direction of the mean, rounded once: half floats add up exactly in double precision."""
    import numpy as np

    kept = [i for i in ids if i < len(table)]
    total = table[kept].sum(axis=0, dtype=np.float64)
    length = sqrt(fsum((total * total).tolist()))
    return total / (length or 1.0)


def _load_weights() -> tuple[Any, Any, str]:
    try:
        with _preserve_root_logger():
            import wordllama
    except ImportError:
        raise MissingExtra("wordllama", "local") from None
    try:
        folder = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(_MODEL, cache_dir=folder, disable_download=True)
    except (OSError, ValueError) as error:
        raise ExternalError(f"wordllama: its weights cannot be read: {error}") from error
    model.tokenizer.no_padding()
    model.tokenizer.no_truncation()
    return model.embedding, model.tokenizer, str(wordllama.__version__)


@contextmanager
def _preserve_root_logger() -> Iterator[None]:
    """Importing wordllama configures the root logger, which is the application's to configure."""
    logger = logging.getLogger()
    handlers, level = list(logger.handlers), logger.level
    try:
        yield
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)
