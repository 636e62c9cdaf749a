"""The end of one turn: the context, the figures, and the session to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveate.core.cite import citations_of
from foveate.core.contracts import Tokenizer
from foveate.core.manifest import digest, manifest_of, spelling
from foveate.core.measure import Measures, measures
from foveate.core.render import renderer_of
from foveate.core.talk.block import State, reused, segments_of
from foveate.core.talk.draft import Summary
from foveate.core.talk.grow import Grown, rendered
from foveate.core.talk.history import Kept
from foveate.core.talk.session import Reuse, Session
from foveate.core.talk.turns import Message, Turn, spoken
from foveate.core.talk.withdraw import remembered
from foveate.core.types import Context, Inputs, Number, Stages
from foveate.core.zones import Budget

Pieces = tuple[tuple[str, int], ...]


def context_of(state: State, inputs: Inputs, grown: Grown) -> Context:
    """The whole document block as a context: blocks, citations, trace."""
    blocks = tuple(h.block for h in grown.held)
    spans = renderer_of(inputs.recipe).render(blocks).spans
    blocks = tuple(replace(b, span=s) for b, s in zip(blocks, spans, strict=True))
    stage, *rest = grown.trace
    held = len(state.session.held)
    notes: dict[str, Number] = {"held": held}
    if grown.why:
        notes["repacked"] = grown.why
    trace = Stages((replace(stage, notes=notes), *rest))
    use = grown.tokens / budget if (budget := inputs.budget.documents) else 0.0
    manifest = manifest_of(inputs, state.tokenizer, grown.text, grown.tokens)
    before = digest(repr((state.session.text, state.session.markers, manifest.inputs_hash)))
    return Context(
        text=grown.text,
        token_count=grown.tokens,
        blocks=blocks,
        citations=citations_of(blocks, inputs.recipe.format.label),
        trace=trace,
        metrics=Measures(lambda: measures(blocks, (), trace, grown.tokens, use)),
        manifest=replace(manifest, inputs_hash=before),
        budget=inputs.budget,
        query=inputs.query,
    )


def pieces_of(messages: Sequence[Message], budget: Budget, tokenizer: Tokenizer) -> Pieces:
    """Hash and tokens of each part of the request, in order; the documents in their segments."""
    found = []
    for message in messages:
        if message.segments:
            found += [(digest(s), tokenizer.count(s)) for s in message.segments]
            continue
        role, text = spoken(message)
        found.append((digest(f"{role}\n{text}"), budget.per_message + tokenizer.count(text)))
    return tuple(found)


def reuse_of(state: State, grown: Grown, pieces: Pieces) -> Reuse:
    """What this request has in common with the one before it."""
    before = state.session
    same_documents = reused(state, grown)
    old = {h.block.marker for h in before.held}
    again = tuple(h for h in grown.held if h.block.marker in old)
    known = max(same_documents, state.tokenizer.count(rendered(again, state.inputs.recipe)))
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


def next_session(
    state: State,
    kept: Kept,
    grown: Grown,
    pieces: Pieces,
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
        past=remembered(state.left, grown.held),
        segments=segments_of(state, grown),
        markers=grown.markers,
        pieces=pieces,
        principals=tuple(sorted(set(state.inputs.principals))),
        state_root=state.inputs.state_root,
        recipe=spelling(state.inputs.recipe).hash,
        tokenizer=state.tokenizer.fingerprint,
        reuse=reuse,
        summary=_of_those(kept.summary, stay),
    )


def _of_those(summary: Summary | None, stay: Sequence[int]) -> Summary | None:
    """The summary, by the places that its turns have among those that stay."""
    if summary is None:
        return None
    unread = tuple(place for place, n in enumerate(stay) if n in summary.unread)
    return replace(summary, turns=sum(n < summary.turns for n in stay), unread=unread)
