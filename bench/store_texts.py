"""The corpus of `bench_store`: texts, vectors and questions, streamed, the same for the same seed.

Texts are made from the Python language reference that comes with CPython: sentences that follow one
another, and rare names between them. Vectors are drawn as embeddings are found to lie: around a
thousand centres, in 32 directions out of 256, with a little noise in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pydoc_data.topics import topics
from random import Random
from typing import Any

import numpy as np

from foveate.core.types import Chunk
from foveate.ports import Document

DIMENSIONS, IN_DOCUMENT, SENTENCES, NAMES, QUERIES = 256, 10, 12, 4, 100
REFERENCE = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))
LINES = [line for line in re.split(r"(?<=[.:]) ", REFERENCE) if 20 < len(line) < 400]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A document and its chunks."""

    document: Document
    chunks: tuple[Chunk, ...]


def pieces(count: int, seed: int) -> Iterator[Piece]:
    """Documents of ten chunks of some 250 words."""
    random = Random(seed)  # noqa: S311
    for number in range(count // IN_DOCUMENT):
        texts = [_text(random) for _ in range(IN_DOCUMENT)]
        name = f"d{number:07}"
        document = Document(id=name, source=f"{name}.md", text="".join(texts))
        chunks = [
            Chunk(text=text, id=f"{name}-{i}", document_id=name, source=f"{name}.md", sequence=i)
            for i, text in enumerate(texts)
        ]
        yield Piece(document=document, chunks=tuple(chunks))


def hundreds(count: int, seed: int) -> Iterator[tuple[list[Piece], Any]]:
    """A hundred documents at a time, with their vectors: (documents, chunks, dimensions)."""
    todo, random = pieces(count, seed), np.random.default_rng(seed)
    while some := list(islice(todo, 100)):
        rows = vectors(random, len(some) * IN_DOCUMENT)
        yield some, rows.reshape(len(some), IN_DOCUMENT, DIMENSIONS)


def vectors(random: np.random.Generator, count: int) -> Any:
    """So many rows, float64."""
    fixed = np.random.default_rng(0)
    centres, directions = fixed.standard_normal((1000, 32)), fixed.standard_normal((32, DIMENSIONS))
    inner = centres[random.integers(1000, size=count)] + 0.6 * random.standard_normal((count, 32))
    return inner @ directions / 32**0.5 + 0.2 * random.standard_normal((count, DIMENSIONS))


def _text(random: Random) -> str:
    at = random.randrange(len(LINES) - SENTENCES)
    # Names by rank, few of them often and most of them hardly ever.
    names = [f"name{int(random.paretovariate(0.6)) % 200_000}" for _ in range(NAMES)]
    return " ".join([*LINES[at : at + SENTENCES], *names]) + " "


def questions(seed: int) -> list[str]:
    """Eight words in a row of a sentence, and a name."""
    random = Random(seed)  # noqa: S311
    found = []
    while len(found) < QUERIES:
        words = random.choice(LINES).split()
        if len(words) >= 8:
            at = random.randrange(len(words) - 7)
            found.append(" ".join([*words[at : at + 8], f"name{random.randrange(1, 2000)}"]))
    return found


class Known:
    """An embedder that knows the vector of every question."""

    name, dimensions = "random-256", DIMENSIONS

    def __init__(self, vectors: dict[str, Any]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Any:
        """Looked up."""
        return np.stack([self._vectors[text] for text in texts])
