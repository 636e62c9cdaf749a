"""A context as LlamaIndex's nodes, that know what they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, TextNode

from foveate.core.types import Context
from foveate.integrations.pieces import METADATA_KEY, Piece, common_context


class Block(TextNode):
    """A block of a context as a `TextNode`; a model is shown its text alone."""

    _context: Context | None = PrivateAttr(default=None)


def context_from_nodes(found: Any) -> Context | None:
    """The context of these nodes, or of an answer's sources; None if they have none.

    Raises `BadInput` for nodes of several contexts.
    """
    nodes = getattr(found, "source_nodes", found)
    held = (getattr(getattr(node, "node", node), "_context", None) for node in nodes)
    return common_context(held, "nodes")


def nodes_from_pieces(
    found: Sequence[Piece], context: Context, given: Sequence[NodeWithScore]
) -> list[NodeWithScore]:
    """One node a piece; what the first node that it shows is related to, it is related to."""
    by_id = {node.node.node_id: node.node for node in given}
    return [
        NodeWithScore(node=_node_from_piece(piece, context, by_id), score=piece.score)
        for piece in found
    ]


def _node_from_piece(piece: Piece, context: Context, given: Mapping[str, BaseNode]) -> Block:
    metadata, spans = piece.full_metadata, piece.citation_metadata["document_spans"]
    names = piece.citation_metadata["chunk_ids"]
    first = given.get(names[0]) if names else None
    kept = dict(first.relationships) if first is not None else {}
    if len(names) > 1:  # what stands before and after the first is not what stands around it all
        kept = {kind: to for kind, to in kept.items() if kind == NodeRelationship.SOURCE}
    node = Block(
        id_=piece.id,
        text=piece.text,
        metadata=metadata,  # type: ignore[call-arg]  # known by its alias
        relationships=kept,
        excluded_llm_metadata_keys=list(metadata),
        excluded_embed_metadata_keys=[
            *(first.excluded_embed_metadata_keys if first is not None else ()),
            METADATA_KEY,
        ],
        start_char_idx=spans[0][0] if len(spans) == 1 else None,
        end_char_idx=spans[0][1] if len(spans) == 1 else None,
    )
    node._context = context  # noqa: SLF001  # set here alone
    return node
