"""Embedders on this machine that use no network: hashing, WordLlama and sentence-transformers.

Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import fsum, sqrt
from pathlib import Path
from typing import Any, ClassVar

from blake3 import blake3

from foveate.core.errors import BadOption, ExternalError, MissingExtra

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingEmbedder:
    """Vectors of `dimensions` numbers; the counts are whole, so every machine gives the same."""

    dimensions: int = 256
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a length that no vector has."""
        if self.dimensions < 1:
            raise BadOption(f"hashing: dimensions is {self.dimensions}; it must be 1 or more")

    @property
    def name(self) -> str:
        """Method, size and version."""
        return f"hashing-{self.dimensions}@1"

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), dimensions), rows of length 1 (of 0 for a text of no word).

        >>> HashingEmbedder(dimensions=8).embed(["two words", ""]).shape
        (2, 8)
        """
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature, count in Counter(_features(text)).items():
                bits = int.from_bytes(blake3(feature.encode()).digest(8), "little")
                sign = 1 if bits & 1 else -1
                row[(bits >> 1) % self.dimensions] += sign * count
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _features(text: str) -> list[str]:
    features: list[str] = []
    for word in _WORD.findall(text.casefold()):
        marked = f"<{word}>"
        features.append(marked)
        features.extend(marked[i : i + 3] for i in range(len(marked) - 2))
    return features


_SPACED = re.compile(r" *\n?[^ \n]+| *\n| +")
_SPACE_MARK = "\u2581"
"""What the tokenizer writes for a space; a text that holds it is read as a whole."""
_LONGEST_WORD = 32
"""Characters of a word whose tokens are kept."""
_WORDS = 16_384
"""Words whose tokens are kept: some 4 MB."""
_MODEL = "l2_supercat"
_DIMENSIONS = 256


class WordLlamaEmbedder:
    """256 dimensions, about a millisecond a chunk; weights distilled from Llama 2 (MIT)."""

    copies = True

    def __init__(self) -> None:
        self._table, self._tokenizer, version = _load_weights()
        self._name = f"wordllama/{_MODEL}-{_DIMENSIONS}@{version}"
        added = self._tokenizer.get_added_tokens_decoder().values()
        self._specials = (_SPACE_MARK, *(token.content for token in added))
        self._word_ids = lru_cache(maxsize=_WORDS)(self._spaced)

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
            row[:] = _mean_direction(self._table, self._ids(text.lower()))
        return rows

    def _ids(self, text: str) -> Sequence[int]:
        """The tokens of a text, word by word: no token goes on behind the end of one."""
        if text.endswith(" ") or any(special in text for special in self._specials):
            return self._encode(text)
        ids: list[int] = []
        short, long = self._word_ids, self._spaced
        for word in _SPACED.findall(f" {text}"):
            ids += short(word) if len(word) <= _LONGEST_WORD else long(word)
        return ids

    def _spaced(self, word: str) -> list[int]:
        """The tokens of a word with its space, which the tokenizer puts in front of any text."""
        return self._encode(word[1:]) if word[0] == " " else self._encode(word)[1:]

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _mean_direction(table: Any, ids: Sequence[int]) -> Any:
    """The direction of the mean, rounded once: half floats add up exactly in double precision."""
    import numpy as np

    rows = np.asarray(ids, dtype=np.int64)
    total = table[rows[rows < len(table)]].sum(axis=0, dtype=np.float64)
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
