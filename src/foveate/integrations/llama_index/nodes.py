"""A context as LlamaIndex's nodes, that know what they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, TextNode

from foveate.core.errors import BadInput
from foveate.core.types import Context
from foveate.integrations.pieces import METADATA_KEY, PIECE_SEPARATOR, Piece, common_context


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


def group_nodes_by_marker(given: Sequence[NodeWithScore], context: Context) -> list[NodeWithScore]:
    """One node a marker, in the order of the markers.

    Raises `BadInput` if nodes of the context are missing, or others are among them.
    """
    if any(getattr(one.node, "_context", None) != context for one in given):
        raise BadInput("some of these nodes are blocks of a context, others are not")
    if len({one.node.node_id for one in given}) != len(context.blocks):
        raise BadInput(
            f"{len(given)} nodes of a context of {len(context.blocks)} blocks: what drops nodes "
            f"must stand before FoveatePostprocessor, or the model would be shown them still"
        )
    together: dict[int, list[NodeWithScore]] = {}
    for one in {one.node.node_id: one for one in given}.values():
        about = one.node.metadata.get(METADATA_KEY)
        if not isinstance(about, dict) or "marker" not in about:
            raise BadInput(
                f"a node's metadata has lost {METADATA_KEY!r}; what changes it must stand before"
            )
        if marker := about["marker"]:
            together.setdefault(marker, []).append(one)
    return [_join_nodes(same) for _, same in sorted(together.items())]


def _join_nodes(same: Sequence[NodeWithScore]) -> NodeWithScore:
    first = same[0]
    if len(same) == 1:
        return first
    node = first.node.model_copy()
    node.set_content(PIECE_SEPARATOR.join(one.node.get_content() for one in same))
    return NodeWithScore(node=node, score=first.score)


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
