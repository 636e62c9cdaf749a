"""Documents on spans by OpenInference's conventions, which Phoenix and others show as a list.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md. They hold texts,
so they stand on spans only where content is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from foveate.core.json_text import compact_json
from foveate.core.types import Block, Candidate, Context, StageTrace

SPAN_KIND = "openinference.span.kind"
SPAN_KINDS = {"assemble": "RERANKER", "search": "RETRIEVER", "rerank": "RERANKER"}
"""By step with documents: an assembly takes candidates and gives the blocks of a context."""
LISTS = {"search": "retrieval.documents", "rerank": "reranker.output_documents"}
"""By call: what its documents are called."""
DOCUMENT_KEYS = 4
OTHER_ATTRIBUTES = 32
"""Attributes of a span beside its documents; more than a span may have push out the oldest."""

Fates = Mapping[str, Mapping[str, Any]]


def most_documents() -> int:
    """Documents that a span has room for, by OpenTelemetry's own variables (128 attributes)."""
    try:
        from opentelemetry.sdk.trace import SpanLimits
    except ImportError:  # another implementation of OpenTelemetry's interface
        limit: int | None = 128
    else:
        limit = SpanLimits().max_span_attributes
    return 10_000 if limit is None else max(limit - OTHER_ATTRIBUTES, 0) // DOCUMENT_KEYS


def call_documents(name: str, candidates: Iterable[Candidate], most: int) -> dict[str, Any]:
    """The attributes of a call's candidates, the best first."""
    return _flatten(LISTS[name], islice(candidates, most), lambda one: _candidate(one, {}))


def assembly_documents(
    context: Context, candidates: Sequence[Candidate], most: int
) -> dict[str, Any]:
    """The attributes of an assembly: candidates with what became of each and why, and blocks.

    Blocks have half of the room at the most.
    """
    blocks = context.blocks[: most // 2 if candidates else most]
    fates = candidate_fates(context.trace)
    return {
        **_flatten(
            "reranker.input_documents",
            candidates[: most - len(blocks)],
            lambda one: _candidate(one, fates),
        ),
        **_flatten("reranker.output_documents", blocks, _block),
    }


def candidate_fates(trace: Iterable[StageTrace]) -> Fates:
    """The last decision about each candidate, by id: stage, action, reason and numbers."""
    return {
        decision.chunk_id: {
            **decision.numbers,
            "stage": entry.stage,
            "action": decision.action,
            "reason": decision.reason,
            "by": decision.by,
        }
        for entry in trace
        for decision in entry.decisions
    }


def _flatten(prefix: str, items: Iterable[Any], read: Callable[[Any], Any]) -> dict[str, Any]:
    """Document after document, each key with its place; lists are no values of attributes."""
    return {
        f"{prefix}.{place}.document.{key}": value
        for place, item in enumerate(items)
        for key, value in read(item)
    }


def _candidate(candidate: Candidate, fates: Fates) -> Iterator[tuple[str, str | float]]:
    chunk = candidate.chunk
    about = {
        **fates.get(candidate.id, {}),
        "source": chunk.source,
        "title": chunk.title,
        "section": chunk.section,
        "page": chunk.page,
    }
    yield "id", candidate.id
    yield "content", candidate.text
    yield "score", candidate.score
    yield "metadata", _metadata(about)


def _block(block: Block) -> Iterator[tuple[str, str | float]]:
    about = {
        "marker": block.marker,
        "source": block.source,
        "title": block.title,
        "section": block.section,
        "page": block.page,
        "rendition": block.rendition,
    }
    yield "id", " ".join(block.chunk_ids)
    yield "content", block.text
    yield "score", block.score
    yield "metadata", _metadata(about)


def _metadata(about: Mapping[str, Any]) -> str:
    return compact_json({key: value for key, value in about.items() if value not in (None, "")})
