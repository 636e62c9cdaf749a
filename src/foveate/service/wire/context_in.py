"""A context as `/v1/assemble` gave it → the value it was, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.core.types import Block, Citation, Context, Manifest, StageTrace
from foveate.core.zones import Budget

_PARTS = {
    "blocks": tuple[Block, ...],
    "citations": tuple[Citation, ...],
    "trace": tuple[StageTrace, ...],
    "manifest": Manifest,
}


def context_from_json(record: Mapping[str, Any], query: str) -> Context:
    """The context; raises `BadInput` naming the part that is missing, wrong or changed."""
    text = record.get("text")
    if not isinstance(text, str):
        raise BadInput("is missing or no string; send what /v1/assemble gave", field="context.text")
    parts = {name: _convert_part(record, name, kind) for name, kind in _PARTS.items()}
    if parts["manifest"].output_hash != digest(text):
        raise BadInput("is not the text that its manifest seals", field="context.text")
    _check_spans(parts["blocks"], len(text))
    tokens = parts["manifest"].token_count
    return Context(
        text=text,
        token_count=tokens,
        metrics={},
        budget=Budget(documents=max(1, tokens), window=None),
        query=query,
        **parts,
    )


def _convert_part(record: Mapping[str, Any], name: str, kind: Any) -> Any:
    import msgspec

    if name not in record:
        raise BadInput("is missing; send what /v1/assemble gave", field=f"context.{name}")
    try:
        return msgspec.convert(record[name], kind)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$")
        raise BadInput(said, field=f"context.{name}{place.rstrip('`')}") from None


def _check_spans(blocks: tuple[Block, ...], length: int) -> None:
    """Blocks must not overlap: a pile of them would be read many times."""
    at = 0
    for number, (first, last) in enumerate(sorted(block.span for block in blocks)):
        if not at <= first <= last <= length:
            raise BadInput(
                f"block {number + 1} does not stand in the text, or over another",
                field="context.blocks",
            )
        at = last
