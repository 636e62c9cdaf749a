"""One turn of a session (SPEC W4): what was sent stays in front, new documents follow.

The document block is at the same place in every turn, so that a provider's prefix cache holds it.
It is rewritten only if a block must leave, if the window has no room for the best new evidence, or
if rewriting is cheaper. Blocks that stay keep their numbers, and no number is given twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from foveate.core.assemble import TokenCountCache
from foveate.core.blocks import citations_from_blocks
from foveate.core.chat.citation_note import unique_citations
from foveate.core.chat.document_block import (
    DocumentBlock,
    TurnState,
    build_document_block,
    count_reused_tokens,
    render_document_block,
)
from foveate.core.chat.history import FittedHistory, Summary
from foveate.core.chat.request import (
    Conversation,
    Documents,
    build_or_say_what_fits,
    fit_request,
)
from foveate.core.chat.request_state import (
    ChatOptions,
    RequestState,
    filter_permitted,
    request_state,
)
from foveate.core.chat.session import Reuse, Session, SessionPolicy, revoke
from foveate.core.chat.turns import Front, Turn, role_and_text
from foveate.core.chat.writers import add_cache_breakpoints
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption
from foveate.core.manifest import build_manifest, canonical_recipe, digest
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.request import Inputs
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Context, Number
from foveate.core.weak_evidence import WEAK_EVIDENCE, shown_documents, why_weak
from foveate.core.window import CLOSING
from foveate.core.zones import Budget

RequestPieces = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionDocuments(Documents):
    """The documents of a turn, and the block that they are."""

    block: DocumentBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The request of one turn, and the session to go on with."""

    conversation: Conversation
    session: Session

    @property
    def context(self) -> Context:
        """The document block: what was sent before, and what is new."""
        return self.conversation.context

    @property
    def reuse(self) -> Reuse:
        """What of this request the provider has read before."""
        return self.session.reuse

    def openai(self) -> list[Any]:
        """The messages for an OpenAI-compatible client, whose cache needs no marks."""
        return self.conversation.openai()

    def anthropic(self) -> dict[str, Any]:
        """The request for Anthropic's client, with at most four cache breakpoints."""
        request = self.conversation.anthropic()
        places = [(-1, -1)] if "system" in request else []
        said = request["messages"]
        segments = len(self.session.segments)
        if segments and not isinstance(said[0]["content"], str):
            places.append((0, segments - 1))
        last = {n for n in (len(said) - 3, len(said) - 1) if n >= 0}
        return add_cache_breakpoints(request, [*places, *((n, -1) for n in last)])


@holding_profiles
def next_turn(
    session: Session,
    inputs: Inputs,
    terms: SessionPolicy,
    tokenizer: Tokenizer,
    known: TokenCountCache | None = None,
    *,
    current: Mapping[str, str] | None = None,
    summary: Summary | None = None,
) -> TurnRequest:
    """The next request of a session; raises as `build_conversation` does.

    `current`: chunk id → content hash of sent chunks that may be read now; None: unknown.
    `summary`: a model's summary of the older turns, or why there is none.
    """
    recipe = canonical_recipe(inputs.recipe).hash
    for name, mine, theirs in (
        ("recipe", recipe, session.recipe),
        ("tokenizer", tokenizer.fingerprint, session.tokenizer),
    ):
        if theirs and mine != theirs:
            raise BadInput(f"goes on with another {name}; begin a new session", field="session")
    if inputs.budget.documents is None or inputs.budget.characters is not None:
        raise BadOption("session: give the documents' budget in tokens, and no characters")
    inputs = filter_permitted(inputs)
    left = revoke(session, inputs, current)
    chat = ChatOptions(
        turns=left.turns,
        system=terms.system,
        verbatim=terms.verbatim,
        slack=None,
        zones=terms.zones,
        capped=terms.capped,
        summary=summary,
        carried=left.carried,
        live=frozenset(held.block.marker for held in left.held),
    )
    run = request_state(inputs, chat, tokenizer, known, in_front=True)
    state = TurnState(
        before=session,
        session=left,
        inputs=run.inputs,
        prices=terms.prices,
        tokenizer=tokenizer,
        known=run.known,
    )
    held = tokenizer.count(render_document_block(left.held, inputs.recipe).text)

    def make(run: RequestState, kept: FittedHistory, most: int) -> _SessionDocuments:
        return _make_documents(replace(state, inputs=run.inputs), most, kept.tokens)

    def build(budget: Budget) -> TurnRequest:
        conversation, documents = fit_request(run.in_budget(budget), make, held)
        following = _next_session(state, conversation, documents.block)
        return TurnRequest(conversation=_say_withdrawn(state, conversation), session=following)

    return build_or_say_what_fits(run, build)


def _make_documents(state: TurnState, most: int, behind: int) -> _SessionDocuments:
    made = build_document_block(state, most, behind)
    return _SessionDocuments(
        context=_build_context(state, made),
        inputs=state.inputs,
        front=Front((*made.segments, CLOSING)),
        live=frozenset(held.block.marker for held in made.held),
        block=made,
    )


def _say_withdrawn(state: TurnState, conversation: Conversation) -> Conversation:
    """The conversation with a note of how many turns rest on what may not be read any more."""
    gone = len(state.before.turns) - len(state.session.turns)
    if not gone:
        return conversation
    trace = conversation.history.trace
    trace = replace(trace, notes={**trace.notes, "withdrawn": gone})
    return replace(conversation, history=replace(conversation.history, trace=trace))


def _build_context(state: TurnState, made: DocumentBlock) -> Context:
    """The whole document block as a context: blocks, citations, trace."""
    inputs = state.inputs
    blocks = tuple(h.block for h in made.held)
    spans = render_document_block(made.held, inputs.recipe).spans
    blocks = tuple(replace(b, span=s) for b, s in zip(blocks, spans, strict=True))
    stage, *rest = made.trace
    notes: dict[str, Number] = {"held": len(state.before.held)}
    if made.why:
        notes["repacked"] = made.why
    if weak := why_weak(inputs.query, shown_documents(blocks)):  # over all that is held
        notes[WEAK_EVIDENCE] = weak
    others = ({k: n for k, n in one.notes.items() if k != WEAK_EVIDENCE} for one in rest)
    rest = [replace(one, notes=kept) for one, kept in zip(rest, others, strict=True)]
    trace = (replace(stage, notes=notes), *rest)
    use = made.tokens / budget if (budget := inputs.budget.documents) else 0.0
    manifest = build_manifest(inputs, state.tokenizer, made.text, made.tokens)
    before = digest(repr((state.before.text, state.before.markers, manifest.inputs_hash)))
    return Context(
        text=made.text,
        token_count=made.tokens,
        blocks=blocks,
        citations=citations_from_blocks(blocks, inputs.recipe.format.label),
        trace=trace,
        metrics=LazyMetrics(lambda: compute_metrics(blocks, (), trace, made.tokens, use)),
        manifest=replace(manifest, inputs_hash=before),
        budget=inputs.budget,
        query=inputs.query,
    )


def _next_session(state: TurnState, sent: Conversation, made: DocumentBlock) -> Session:
    """The session with this turn's question; what may not be sent any more is not kept either."""
    inputs, kept = state.inputs, sent.history
    pieces = _build_pieces(sent, state.tokenizer)
    query = Turn({"role": "user", "content": inputs.query})
    return Session(
        turns=(*kept.turns, query),
        carried=unique_citations((*state.session.carried, *kept.gone)),
        held=made.held,
        segments=made.segments,
        markers=made.markers,
        pieces=pieces,
        principals=tuple(sorted(set(inputs.principals))),
        state_root=inputs.state_root,
        recipe=canonical_recipe(inputs.recipe).hash,
        tokenizer=state.tokenizer.fingerprint,
        reuse=_compute_reuse(state, made, pieces),
    )


def _build_pieces(sent: Conversation, tokenizer: Tokenizer) -> RequestPieces:
    """Hash and tokens of each part of the request, in order; the documents in their segments."""
    count, found = tokenizer.count, list[tuple[str, int]]()
    for message in sent.messages:
        found += [(digest(s), count(s)) for one in message.front for s in one.segments]
        role, text = role_and_text(replace(message, front=()))
        found.append((digest(f"{role}\n{text}"), sent.budget.per_message + count(text)))
    return tuple(found)


def _compute_reuse(state: TurnState, made: DocumentBlock, pieces: RequestPieces) -> Reuse:
    """What this request has in common with the one before it."""
    same_documents = count_reused_tokens(state, made)
    same = 0
    for now, then in zip(pieces, state.before.pieces, strict=False):
        if now != then:
            break
        same += now[1]
    return Reuse(
        documents_reused=same_documents,
        documents_sent=made.tokens - same_documents,
        request_reused=same,
        request_sent=sum(tokens for _, tokens in pieces) - same,
        repacked=made.why,
    )
