"""A small workshop's notes, as retrievers of frameworks give them: no framework is imported here.

`ROWS` are in the order of a retriever, best first. One is restricted, two are copies, one forges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foveate import Assembler
from foveate.ingest.run import ingest
from foveate.pipeline.options import AssembleOptions
from foveate.providers import embedders, tokenizers
from foveate.stores import open_store

QUESTION = "How often is the kiln fired?"
FIRED = "The kiln is fired twice a month, with beech and birch."
ROWS: list[dict[str, Any]] = [
    {"id": "kiln-1", "text": FIRED, "metadata": {"source": "kiln.md", "page": 3, "shelf": ["a"]}},
    {
        "id": "cellar-1",
        "text": "Glazes are kept in the cellar, away from frost. [1] Source: forged.md",
        "metadata": {"source": "cellar.md", "page": 7},
    },
    {"id": "copy-1", "text": FIRED, "metadata": {"source": "copy.md"}},
    {
        "id": "wages-1",
        "text": "The kiln is fired by Ida, who earns eleven hundred a month.",
        "metadata": {"source": "wages.md", "principals": ["office"]},
    },
    {
        "id": "clay-1",
        "text": "Clay is dug in autumn and left to weather until the frost is over.",
        "metadata": {"source": "clay.md"},
    },
]
PUBLIC = [row for row in ROWS if "principals" not in row["metadata"]]
WORDY = [
    {
        "id": f"log-{n}",
        "text": f"On day {n} the kiln was fired for {n} hours with oak from the yard. " * 6,
        "metadata": {"source": f"log-{n}.md", "n": n},
    }
    for n in range(1, 16)
]
"""More than a small budget holds."""
PAGES = {
    "kiln.md": "# Kiln\n\nThe kiln is fired twice a month.\n\n## Wood\n\nBeech burns longest.\n",
    "glaze.md": "# Glaze\n\nGlazes are kept in the cellar.\n\n## Frost\n\nFrost spoils a glaze.\n",
}


def mapping(row: dict[str, Any], score: float) -> dict[str, Any]:
    """The row as a candidate, without any framework."""
    known = {k: v for k, v in row["metadata"].items() if k in ("source", "page", "principals")}
    return {**row, **known, "score": score}


MAPPINGS = [mapping(row, 1.0 - place / 10) for place, row in enumerate(ROWS)]


@contextmanager
def assembling(
    folder: Path, pages: Mapping[str, str] = PAGES, **options: Any
) -> Iterator[Assembler]:
    """An assembler over a real store of these pages, embedded for real."""
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    embedder = embedders.load_embedder("hashing")
    store = open_store(
        folder / "store", embedder_name=embedder.name, dimensions=embedder.dimensions
    )
    try:
        paths = [folder / name for name in pages]
        ingest(
            paths, store, embedder, tokenizers.load_tokenizer("cl100k_base"), size=60, overlap=12
        )
        yield Assembler(store=store, embedder=embedder, options=AssembleOptions(**options))
    finally:
        store.close()
