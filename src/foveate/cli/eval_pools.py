"""The pools that `foveate eval thresholds` sweeps: a file, golden cases, or all of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveate import plugins
from foveate.cli.failures import name_file_in_errors
from foveate.cli.files import display_name, read_text_lines
from foveate.core.candidates import candidates_from_jsonl
from foveate.core.errors import BadInput
from foveate.core.types import Candidate
from foveate.evals.read import read_cases
from foveate.pipeline.store_with_embedder import open_store_with_embedder

Pools = list[tuple[Candidate, ...]]

_ALL_NEIGHBOURS = 2**31
"""A window around a document's first chunk that reaches its last."""


def load_pools(chunks: str | None, cases: Sequence[str], store: str | None) -> Pools:
    """A pool a case, or one pool of all chunks; raises `BadInput` where there is none."""
    if cases:
        return [case.candidates() for case in read_cases(cases)]
    if store is not None:
        return [_load_store(store)]
    name = chunks or ""
    lines = read_text_lines(name)
    with name_file_in_errors(display_name(name)):
        found = candidates_from_jsonl(lines)
        if not found:
            raise BadInput("holds no chunks; give one JSON object a line")
    return [found]


def _load_store(url: str) -> tuple[Candidate, ...]:
    """All that anybody may read of a store."""
    with open_store_with_embedder(url) as (store, _):
        places = [(document, 0) for document, _hash in store.documents()]
        found = tuple(Candidate(chunk=c) for c in store.neighbours(places, _ALL_NEIGHBOURS))
    if not found:
        raise BadInput(f"{url}: holds no chunks that everybody may read")
    return found


def add_embeddings(pools: Pools, name: str) -> Pools:
    """With the vectors of this embedder where there are none yet; a text is embedded once."""
    texts = {
        c.chunk.content_hash: c.text for pool in pools for c in pool if c.chunk.embedding is None
    }
    if not texts:
        return pools
    vectors = dict(zip(texts, plugins.embedder(name).embed(list(texts.values())), strict=True))
    return [
        tuple(
            c
            if c.chunk.embedding is not None
            else replace(c, chunk=replace(c.chunk, embedding=vectors[c.chunk.content_hash]))
            for c in pool
        )
        for pool in pools
    ]
