"""LangChain's `Document` → our record."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadInput
from foveate.core.record_keys import parse_metadata


def record_from_document(document: Any) -> dict[str, Any]:
    """Text, id and metadata; where it is from, as far as its metadata says so.

    A page's loader makes a document a page, in which a splitter's `start_index` then counts: that
    is no place in the whole, and is not taken for one. Raises `BadInput` for anything else.
    """
    text = getattr(document, "page_content", None)
    if text is None:
        raise BadInput(f"give Documents, not {type(document).__name__}")
    metadata = dict(document.metadata)
    paged = any(metadata.get(key) is not None for key in ("page", "page_label"))
    found = parse_metadata(metadata, *(("start",) if paged else ()))
    if document.id is not None:
        found["id"] = document.id
    return {**found, "text": text, "metadata": metadata}
