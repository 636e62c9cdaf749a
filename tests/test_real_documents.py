"""Every recipe on real documents: the language reference inside CPython, and real evaluation sets.

The sets are read where FOVEATE_DATA names their folder; the reference is always there.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from pydoc_data.topics import topics  # type: ignore[import-not-found]
from typing import Any, TypeAlias

import pytest
from bench.lookup import ENDS, MARK

from foveate.core.errors import BudgetTooSmall
from foveate.core.recipes import builtin_recipes
from foveate.core.render import Renderer
from foveate.core.types import Block
from foveate.ingest.chunk import each_chunk
from foveate.pipeline.assembler import assemble
from foveate.providers import tokenizers

CL100K = tokenizers.load_tokenizer("cl100k_base")
QUESTIONS = {
    "with": "How does the with statement call __enter__ and __exit__?",
    "for": "When is the else clause of a loop run?",
    "naming": "What is a free variable?",
}


Pool: TypeAlias = tuple[str, list[dict[str, Any]]]


@cache
def documents() -> dict[str, str]:
    """The texts that chunks are cut from, by document."""
    return {name: topics[name] for name in sorted(topics)}


def _reference() -> Iterator[Pool]:
    """Questions about the language, each with the chunks of the topic and of two others."""
    names = sorted(documents())
    for n, (topic, question) in enumerate(QUESTIONS.items()):
        rows = []
        for rank, name in enumerate((topic, names[n], names[n + 20])):
            text = documents()[name]
            for k, piece in enumerate(each_chunk(text, (), _counts)):
                rows.append(
                    {
                        "id": f"{name}#{k}",
                        "document_id": name,
                        "source": f"{name}.txt",
                        "sequence": k,
                        "start": piece.start,
                        "end": piece.end,
                        "text": text[piece.start : piece.end],
                        "score": 1 / (rank + 1) - k / 1000,
                    }
                )
        yield question, rows


def _sets() -> Iterator[Pool]:
    """The first record of each real set, if there are any; the fuzzer tries thousands of others."""
    folder = os.environ.get("FOVEATE_DATA")
    for path in sorted(Path(folder, "dev").glob("*.jsonl.gz")) if folder else ():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for _, line in zip(range(1), lines, strict=False):
                record = json.loads(line)
                rows = [
                    {
                        "id": c["id"],
                        "document_id": c["doc_id"],
                        "source": c["source"],
                        "title": c["title"],
                        "sequence": c["sequence"],
                        "text": c["text"],
                        "score": c["score"],
                    }
                    for c in record["chunks"]
                ]
                yield record["question"], rows


@cache
def pools(*, real: bool) -> tuple[Pool, ...]:
    """Questions with their chunks: of the reference, and `real` ones of the sets as well."""
    return (*_reference(), *(_sets() if real else ()))


def _counts(texts: list[str]) -> list[int]:
    return [CL100K.count(text) for text in texts]


@pytest.mark.parametrize("recipe", sorted(builtin_recipes()))
def test_promises_on_real_documents(recipe: str) -> None:
    """B1, R3: within the budget on the real count, read back exactly, at three budgets."""
    form = builtin_recipes()[recipe].format
    renderer = Renderer(format=form, label=builtin_recipes()[recipe].summary_label)
    fitted = 0
    for question, rows in pools(real=True):
        for budget in (300, 1200, 5000):
            try:
                context = assemble(question, rows, recipe=recipe, budget=budget)
            except BudgetTooSmall:
                continue
            fitted += 1
            parsed = [p.text for p in renderer.parse(context.text)]

            assert CL100K.count(context.text) == context.token_count <= budget
            assert parsed == texts_as_parsed(recipe, context.blocks)

    assert fitted >= 6


def texts_as_parsed(recipe: str, blocks: Sequence[Block]) -> list[str]:
    """The texts of the blocks; `doc` has one header for all of a document, and no other mark."""
    if recipe != "cfs-021":
        return [block.text for block in blocks]
    groups = groupby(blocks, key=lambda block: block.document_id)
    return ["\n".join(block.text for block in group) for _, group in groups]


@pytest.mark.parametrize("recipe", ["default", "document-first", "citations", "summarise"])
def test_spans_lead_into_real_documents(recipe: str) -> None:
    """C2: the spans of every citation hold, in the document, the words that the context shows."""
    for question, rows in pools(real=False):
        for block in assemble(question, rows, recipe=recipe, budget=3000).blocks:
            text = documents()[block.document_id]
            shown = [text[a:b] for a, b in block.document_spans]

            assert block.document_spans
            assert shown == MARK.split(ENDS.sub("", block.text))
