"""Haystack's `Document` → our record."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadInput
from foveate.core.record_keys import parse_metadata


def record_from_document(document: Any) -> dict[str, Any]:
    """Content, id, score, vector and metadata; where it is from, as its metadata says.

    Raises `BadInput` for a document without text, an image for one.
    """
    text = getattr(document, "content", None)
    if text is None or not hasattr(document, "meta"):
        what = type(document).__name__
        raise BadInput(f"this {what} has no text; give Documents with content")
    metadata = dict(document.meta)
    record = parse_metadata(metadata)
    if document.score is not None:
        record["score"] = document.score
    if document.embedding is not None:
        record["embedding"] = document.embedding
    return {**record, "id": document.id, "text": text, "metadata": metadata}
