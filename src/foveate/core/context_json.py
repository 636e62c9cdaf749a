"""A context as plain JSON values, and back: what the command line prints and the service sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from blake3 import blake3

from foveate.core.errors import BadInput
from foveate.core.typed import read_value
from foveate.core.zones import Budget

T = TypeVar("T")
CONTEXT_KEYS = ("text", "token_count", "blocks", "citations", "trace", "metrics", "manifest")
BLOCK_KEYS = (
    *("marker", "chunk_ids", "document_id", "source", "text", "rendition", "score", "span"),
    *("kind", "title", "section", "page", "summary"),
)


def context_to_json(context: Any) -> dict[str, Any]:
    """The whole answer; the same shape everywhere."""
    return {
        "text": context.text,
        "token_count": context.token_count,
        "blocks": [
            {name: value_to_json(getattr(block, name)) for name in BLOCK_KEYS}
            | ({"images": [image.to_json() for image in block.images]} if block.images else {})
            for block in context.blocks
        ],
        "citations": value_to_json(context.citations),
        "trace": [stage_to_json(stage) for stage in context.trace],
        "metrics": dict(context.metrics),
        "manifest": value_to_json(context.manifest),
    }


def stage_to_json(stage: Any) -> dict[str, Any]:
    """One stage of the trace; it may hold thousands of decisions."""
    return {
        "stage": stage.stage,
        "options": stage.options,
        "before": stage.before,
        "after": stage.after,
        "decisions": [
            {
                "chunk_id": decision.chunk_id,
                "action": decision.action,
                "reason": decision.reason,
                "by": decision.by,
                "numbers": dict(decision.numbers),
            }
            for decision in stage.decisions
        ],
        "notes": dict(stage.notes),
    }


def value_to_json(value: Any) -> Any:
    """Plain data: dataclasses as objects of their fields, tuples as lists."""
    if isinstance(value, tuple | list):
        return [value_to_json(item) for item in value]
    if is_dataclass(value):
        return {field.name: value_to_json(getattr(value, field.name)) for field in fields(value)}
    return value


def context_from_json(kind: Callable[..., T], record: Mapping[str, Any], query: str) -> T:
    """The context that the JSON describes, checked; the budget is that of its documents alone.

    Raises `BadInput` naming the part that is missing, wrong or changed.
    """
    if not isinstance(record, Mapping):
        raise BadInput(f"give the context as an object, not {type(record).__name__}")
    hints = get_type_hints(kind)
    values = {}
    for name in CONTEXT_KEYS:
        if name not in record:
            raise BadInput("is missing; give what `to_dict` or `--json` wrote", field=name)
        values[name] = read_value(hints[name], record[name], name)
    manifest = values["manifest"]
    if blake3(values["text"].encode(errors="replace")).hexdigest(16) != manifest.output_hash:
        raise BadInput("is not the text that its manifest seals", field="text")
    _check_spans([block.span for block in values["blocks"]], len(values["text"]))
    tokens = manifest.budget_tokens or max(1, manifest.token_count)
    return kind(**values, budget=Budget(documents=tokens, window=None), query=query)


def _check_spans(spans: list[tuple[int, int]], length: int) -> None:
    """Blocks stand beside one another in the text; a pile of them would be read many times."""
    at = 0
    for number, (first, last) in enumerate(sorted(spans), 1):
        if not at <= first <= last <= length:
            message = f"block {number} is outside the text or overlaps another"
            raise BadInput(message, field="blocks")
        at = last
