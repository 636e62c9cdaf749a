"""One turn of a session (SPEC W4): what was sent stays in front, new documents follow.

The document block is at the same place in every turn, so that a provider's prefix cache holds it.
It is rewritten only if a block must leave, if the window has no room for the best new evidence, or
if rewriting is cheaper. Blocks that stay keep their numbers, and no number is given twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from foveate.core.assemble import TokenCountCache
from foveate.core.blocks import citations_from_blocks
from foveate.core.chat.anthropic import add_cache_breakpoints, anthropic_messages
from foveate.core.chat.document_block import (
    DocumentBlock,
    TurnState,
    build_document_block,
    count_reused_tokens,
    render_document_block,
    split_segments,
)
from foveate.core.chat.history import FittedHistory
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.request import Conversation, request_limit, request_too_small_error
from foveate.core.chat.session import Reuse, Session, SessionPolicy, collect_past_chunks, revoke
from foveate.core.chat.turns import (
    SYSTEM_ROLES,
    Message,
    Turn,
    count_message_tokens,
    merge_joined,
    role_and_text,
)
from foveate.core.chat.zone_demand import (
    RequestState,
    ZoneDemand,
    allocate_zones,
    check_lengths,
    filter_permitted,
    measure_demand,
    system_messages,
)
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.core.manifest import build_manifest, canonical_recipe, digest
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.request import Inputs
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Context, Number
from foveate.core.weak_evidence import WEAK_EVIDENCE, shown_documents, why_weak
from foveate.core.window import CLOSING, SLACK, close_context, count_messages
from foveate.core.zones import Budget

MAX_ATTEMPTS = 8


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
        request = anthropic_messages(self.conversation.messages)
        places = [(-1, len(request["system"]) - 1)] if "system" in request else []
        said = request["messages"]
        segments = len(self.session.segments)
        if segments and not isinstance(said[0]["content"], str):
            places.append((0, segments - 1))
        places += [
            (n, _last_block_index(said[n])) for n in (len(said) - 3, len(said) - 1) if n >= 0
        ]
        return add_cache_breakpoints(request, places)


def _last_block_index(message: Mapping[str, Any]) -> int:
    content = message["content"]
    return 0 if isinstance(content, str) else len(content) - 1


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
    counts: TokenCountCache = {} if known is None else known
    state = TurnState(session, left, inputs, terms, tokenizer, counts, summary)
    run = state.request_state(inputs.budget)
    check_lengths(run)
    try:
        return _build_turn(state, inputs.budget)
    except BudgetTooSmall as error:
        build = partial(_build_turn, state)
        raise request_too_small_error(inputs.budget, build, error) from error


def _build_turn(state: TurnState, budget: Budget) -> TurnRequest:
    going: frozenset[int] = frozenset()
    while True:
        run = state.request_state(budget, going)
        room, kept, extended, messages = _attempt_turn(state, run)
        if not (lost := state.missing_markers(run, extended)):
            return _finish_turn(state, room, kept, extended, messages)
        going |= lost


def _attempt_turn(
    state: TurnState, run: RequestState
) -> tuple[Budget, FittedHistory, DocumentBlock, tuple[Message, ...]]:
    needs = measure_demand(run)
    held = state.tokenizer.count(render_document_block(state.left.held, state.inputs.recipe).text)
    room, kept = _share_zones(run, needs, held)
    try:
        return (room, kept, *_fit_documents(state, run, room, kept, SLACK))
    except BudgetTooSmall:
        return (room, kept, *_fit_documents(state, run, room, kept, 0))


def _fit_documents(
    state: TurnState, run: RequestState, room: Budget, kept: FittedHistory, slack: int
) -> tuple[DocumentBlock, tuple[Message, ...]]:
    over = 0
    for _ in range(MAX_ATTEMPTS):
        most = _documents_limit(room, run, kept, slack) - over
        extended = build_document_block(state, run, most, kept.tokens)
        messages = _build_messages(state, kept, extended)
        whole = count_messages(map(role_and_text, merge_joined(messages)), room, state.tokenizer)
        excess = 0 if room.window is None else whole - request_limit(room)
        if excess <= 0:
            return extended, messages
        over += excess
    have = room.window or 0
    raise BudgetTooSmall(have, have + over, what="the request as it is sent")


def _share_zones(
    run: RequestState, needs: Mapping[str, ZoneDemand], held: int
) -> tuple[Budget, FittedHistory]:
    documents = needs["documents"]
    wants = None if documents.wants is None else documents.wants + held
    staying = ZoneDemand(wants=wants, must=max(held, documents.must))
    try:
        return allocate_zones(run, {**needs, "documents": staying})
    except BudgetTooSmall:
        return allocate_zones(
            run, {**needs, "documents": ZoneDemand(wants=wants, must=documents.must)}
        )


def _documents_limit(budget: Budget, run: RequestState, kept: FittedHistory, slack: int) -> int:
    """What the documents may take, of their zone and of the window but for so many tokens."""
    zone = budget.documents if budget.documents is not None else request_limit(budget)
    if budget.window is None:
        return zone
    lead = [
        *system_messages(run.chat.system),
        *kept.messages,
        Message(role="user", text=run.inputs.query),
    ]
    fixed = count_messages(map(role_and_text, merge_joined(lead)), budget, run.tokenizer)
    return min(zone, request_limit(budget) - fixed - slack)


def _build_messages(
    state: TurnState, kept: FittedHistory, extended: DocumentBlock
) -> tuple[Message, ...]:
    lead = [m for m in kept.messages if m.role in SYSTEM_ROLES]
    rest = [m for m in kept.messages if m.role not in SYSTEM_ROLES]
    documents = []
    if extended.text:
        text, segments = close_context(extended.text), (*split_segments(state, extended), CLOSING)
        documents = [Message(role="user", text=text, joined=True, segments=segments)]
    query = Message(role="user", text=state.inputs.query)
    return (*system_messages(state.terms.system), *lead, *documents, *rest, query)


def _finish_turn(
    state: TurnState,
    budget: Budget,
    kept: FittedHistory,
    extended: DocumentBlock,
    messages: tuple[Message, ...],
) -> TurnRequest:
    said = tuple(map(role_and_text, merge_joined(messages)))
    inputs = replace(state.inputs, budget=budget, messages=said[:-1])
    context = build_turn_context(state, inputs, extended)
    pieces = build_pieces(messages, budget, state.tokenizer)
    reuse = compute_reuse(state, extended, pieces)
    session = build_next_session(state, kept, extended, pieces, reuse)
    tokens = {
        "system": count_message_tokens(
            system_messages(state.terms.system), budget, state.tokenizer
        ),
        "conversation": kept.tokens,
        "documents": extended.tokens,
        "query": count_messages(said[-1:], budget, state.tokenizer),
        "request": count_messages(said, budget, state.tokenizer),
    }
    conversation = Conversation(
        context=context,
        messages=messages,
        history=kept,
        budget=budget,
        tokens=tokens,
        inputs=inputs,
    )
    return TurnRequest(conversation=conversation, session=session)


RequestPieces = tuple[tuple[str, int], ...]


def build_turn_context(state: TurnState, inputs: Inputs, extended: DocumentBlock) -> Context:
    """The whole document block as a context: blocks, citations, trace."""
    blocks = tuple(h.block for h in extended.held)
    spans = render_document_block(extended.held, inputs.recipe).spans
    blocks = tuple(replace(b, span=s) for b, s in zip(blocks, spans, strict=True))
    stage, *rest = extended.trace
    held = len(state.session.held)
    notes: dict[str, Number] = {"held": held}
    if extended.why:
        notes["repacked"] = extended.why
    if weak := why_weak(inputs.query, shown_documents(blocks)):  # over all that is held
        notes[WEAK_EVIDENCE] = weak
    others = ({k: n for k, n in one.notes.items() if k != WEAK_EVIDENCE} for one in rest)
    rest = [replace(one, notes=kept) for one, kept in zip(rest, others, strict=True)]
    trace = (replace(stage, notes=notes), *rest)
    use = extended.tokens / budget if (budget := inputs.budget.documents) else 0.0
    manifest = build_manifest(inputs, state.tokenizer, extended.text, extended.tokens)
    before = digest(repr((state.session.text, state.session.markers, manifest.inputs_hash)))
    return Context(
        text=extended.text,
        token_count=extended.tokens,
        blocks=blocks,
        citations=citations_from_blocks(blocks, inputs.recipe.format.label),
        trace=trace,
        metrics=LazyMetrics(lambda: compute_metrics(blocks, (), trace, extended.tokens, use)),
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


def compute_reuse(state: TurnState, extended: DocumentBlock, pieces: RequestPieces) -> Reuse:
    """What this request has in common with the one before it."""
    before = state.session
    same_documents = count_reused_tokens(state, extended)
    old = {h.block.marker for h in before.held}
    again = tuple(h for h in extended.held if h.block.marker in old)
    known = max(
        same_documents,
        state.tokenizer.count(render_document_block(again, state.inputs.recipe).text),
    )
    same = 0
    for now, then in zip(pieces, before.pieces, strict=False):
        if now != then:
            break
        same += now[1]
    return Reuse(
        documents_reused=same_documents,
        documents_sent=extended.tokens - same_documents,
        documents_known=known if again else 0,
        request_reused=same,
        request_sent=sum(tokens for _, tokens in pieces) - same,
        repacked=extended.why,
    )


def build_next_session(
    state: TurnState,
    kept: FittedHistory,
    extended: DocumentBlock,
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
        held=extended.held,
        past=collect_past_chunks(state.left, extended.held),
        segments=split_segments(state, extended),
        markers=extended.markers,
        pieces=pieces,
        principals=tuple(sorted(set(state.inputs.principals))),
        state_root=state.inputs.state_root,
        recipe=canonical_recipe(state.inputs.recipe).hash,
        tokenizer=state.tokenizer.fingerprint,
        reuse=reuse,
        summary=_restrict_summary(kept.summary, stay),
        ledger=kept.ledger,
    )


def _restrict_summary(summary: Summary | None, stay: Sequence[int]) -> Summary | None:
    if summary is None:
        return None
    unread = tuple(place for place, n in enumerate(stay) if n in summary.unread)
    return replace(summary, turns=sum(n < summary.turns for n in stay), unread=unread)
