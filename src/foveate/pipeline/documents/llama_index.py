"""LlamaIndex's `NodeWithScore`, or a node without one → our record."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadInput
from foveate.core.record_keys import parse_metadata


def record_from_node(found: Any) -> dict[str, Any]:
    """Text, id, score and metadata; the document and the place in it that the node tells of.

    Raises `BadInput` for a node that has no text.
    """
    node, score = getattr(found, "node", found), getattr(found, "score", None)
    text = getattr(node, "text", None)
    if text is None and hasattr(node, "get_content"):
        text = node.get_content()
    if text is None:
        what = type(node).__name__
        raise BadInput(f"give nodes with a text, not {what}; filter others out before")
    metadata = dict(node.metadata)
    record = parse_metadata(metadata)
    if node.ref_doc_id:
        record["document_id"] = node.ref_doc_id
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    if start is not None:
        record["start"] = start
        if end is not None and end - start == len(text):
            record["end"] = end
    if score is not None:
        record["score"] = score
    if node.embedding is not None:
        record["embedding"] = node.embedding
    return {**record, "id": node.node_id, "text": text, "metadata": metadata}
