"""A context as plain JSON (SPEC §11): what the command line prints and the service sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from foveate.core.types import Block, Citation, Context, Decision, Manifest, Source, StageTrace


def context_to_json(context: Context) -> dict[str, Any]:
    """The whole answer; the same shape everywhere."""
    return {
        "text": context.text,
        "token_count": context.token_count,
        "blocks": [_block_to_json(block) for block in context.blocks],
        "citations": [citation_to_json(entry) for entry in context.citations],
        "trace": [stage_to_json(stage) for stage in context.trace],
        "metrics": dict(context.metrics),
        "manifest": manifest_to_json(context.manifest),
    }


def _block_to_json(block: Block) -> dict[str, Any]:
    return {
        "marker": block.marker,
        "chunk_ids": list(block.chunk_ids),
        "document_id": block.document_id,
        "source": block.source,
        "text": block.text,
        "rendition": block.rendition,
        "score": block.score,
        "span": list(block.span),
        "kind": block.kind,
        "title": block.title,
        "section": block.section,
        "page": block.page,
        "summary": block.summary,
    }


def citation_to_json(entry: Citation) -> dict[str, Any]:
    """What a marker stands for."""
    return {
        "marker": entry.marker,
        "label": entry.label,
        "source": entry.source,
        "title": entry.title,
        "document_id": entry.document_id,
        "chunk_ids": list(entry.chunk_ids),
        "page": entry.page,
        "pages": list(entry.pages),
        "section": entry.section,
        "row": entry.row,
        "line": entry.line,
        "document_spans": [list(span) for span in entry.document_spans],
        "context_spans": [list(span) for span in entry.context_spans],
        "snippet": entry.snippet,
        "corroborating": [_source_to_json(source) for source in entry.corroborating],
    }


def _source_to_json(source: Source) -> dict[str, Any]:
    return asdict(source)


def stage_to_json(stage: StageTrace) -> dict[str, Any]:
    """One stage of the trace."""
    return {
        "stage": stage.stage,
        "options": stage.options,
        "before": stage.before,
        "after": stage.after,
        "decisions": [_decision_to_json(decision) for decision in stage.decisions],
        "notes": dict(stage.notes),
    }


def stage_from_json(record: Mapping[str, Any]) -> StageTrace:
    """And back."""
    decisions = (Decision(**decision) for decision in record["decisions"])
    return StageTrace(**{**record, "decisions": tuple(decisions)})


def _decision_to_json(decision: Decision) -> dict[str, Any]:
    return {
        "chunk_id": decision.chunk_id,
        "action": decision.action,
        "reason": decision.reason,
        "by": decision.by,
        "numbers": dict(decision.numbers),
    }


def manifest_to_json(manifest: Manifest) -> dict[str, Any]:
    """The manifest; `when` only where it is known."""
    record = asdict(manifest)
    if not record["when"]:
        del record["when"]
    return record
