"""The end of one turn: the context, the figures, and the session to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveate.core.chat.append_documents import DocumentBlock, render_document_block
from foveate.core.chat.document_block import TurnState, count_reused_tokens, split_segments
from foveate.core.chat.history import FittedHistory
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.session import Reuse, Session, collect_past_chunks
from foveate.core.chat.turns import Message, Turn, role_and_text
from foveate.core.cite import citations_from_blocks
from foveate.core.contracts import Tokenizer
from foveate.core.manifest import build_manifest, canonical_recipe, digest
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.notebook import NotebookTrace
from foveate.core.render import renderer_for_recipe
from foveate.core.request import Inputs
from foveate.core.types import Context, Number
from foveate.core.zones import Budget

RequestPieces = tuple[tuple[str, int], ...]


def build_turn_context(state: TurnState, inputs: Inputs, grown: DocumentBlock) -> Context:
    """The whole document block as a context: blocks, citations, trace."""
    blocks = tuple(h.block for h in grown.held)
    spans = renderer_for_recipe(inputs.recipe).render(blocks).spans
    blocks = tuple(replace(b, span=s) for b, s in zip(blocks, spans, strict=True))
    stage, *rest = grown.trace
    held = len(state.session.held)
    notes: dict[str, Number] = {"held": held}
    if grown.why:
        notes["repacked"] = grown.why
    trace = NotebookTrace((replace(stage, notes=notes), *rest))
    use = grown.tokens / budget if (budget := inputs.budget.documents) else 0.0
    manifest = build_manifest(inputs, state.tokenizer, grown.text, grown.tokens)
    before = digest(repr((state.session.text, state.session.markers, manifest.inputs_hash)))
    return Context(
        text=grown.text,
        token_count=grown.tokens,
        blocks=blocks,
        citations=citations_from_blocks(blocks, inputs.recipe.format.label),
        trace=trace,
        metrics=LazyMetrics(lambda: compute_metrics(blocks, (), trace, grown.tokens, use)),
        manifest=replace(manifest, inputs_hash=before),
        budget=inputs.budget,
        query=inputs.query,
    )


def build_pieces(
    messages: Sequence[Message], budget: Budget, tokenizer: Tokenizer
) -> RequestPieces:
    """Hash and tokens of each part of the request, in order; the documents in their segments."""
    found = []
    for message in messages:
        if message.segments:
            found += [(digest(s), tokenizer.count(s)) for s in message.segments]
            continue
        role, text = role_and_text(message)
        found.append((digest(f"{role}\n{text}"), budget.per_message + tokenizer.count(text)))
    return tuple(found)


def compute_reuse(state: TurnState, grown: DocumentBlock, pieces: RequestPieces) -> Reuse:
    """What this request has in common with the one before it."""
    before = state.session
    same_documents = count_reused_tokens(state, grown)
    old = {h.block.marker for h in before.held}
    again = tuple(h for h in grown.held if h.block.marker in old)
    known = max(
        same_documents, state.tokenizer.count(render_document_block(again, state.inputs.recipe))
    )
    same = 0
    for now, then in zip(pieces, before.pieces, strict=False):
        if now != then:
            break
        same += now[1]
    return Reuse(
        documents_reused=same_documents,
        documents_sent=grown.tokens - same_documents,
        documents_known=known if again else 0,
        request_reused=same,
        request_sent=sum(tokens for _, tokens in pieces) - same,
        repacked=grown.why,
    )


def build_next_session(
    state: TurnState,
    kept: FittedHistory,
    grown: DocumentBlock,
    pieces: RequestPieces,
    reuse: Reuse,
) -> Session:
    """The session with this turn's question; what may not be shown any more is not kept either."""
    before = state.session
    stay = [n for n in range(len(before.turns)) if n not in state.left.turns]
    query = Turn(role="user", text=state.inputs.query)
    step = before.step + 1
    return Session(
        step=step,
        turns=(*(before.turns[n] for n in stay), query),
        at=(*(before.at[n] for n in stay), before.step),
        shown=(*(kept.shown[n] for n in stay), query),
        held=grown.held,
        past=collect_past_chunks(state.left, grown.held),
        segments=split_segments(state, grown),
        markers=grown.markers,
        pieces=pieces,
        principals=tuple(sorted(set(state.inputs.principals))),
        state_root=state.inputs.state_root,
        recipe=canonical_recipe(state.inputs.recipe).hash,
        tokenizer=state.tokenizer.fingerprint,
        reuse=reuse,
        summary=_restrict_summary(kept.summary, stay),
    )


def _restrict_summary(summary: Summary | None, stay: Sequence[int]) -> Summary | None:
    if summary is None:
        return None
    unread = tuple(place for place, n in enumerate(stay) if n in summary.unread)
    return replace(summary, turns=sum(n < summary.turns for n in stay), unread=unread)
