"""The document block of one turn: what is added to it, or why it is written again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from foveate.core.admission import settle_format
from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.session import (
    RevocationResult,
    SentBlock,
    Session,
    SessionPolicy,
    TokenPrices,
    past_chunk_from_chunk,
)
from foveate.core.chat.turns import Turn
from foveate.core.chat.zone_demand import ChatOptions, RequestState
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.image_fit import with_captions_alone
from foveate.core.render import RenderedText, renderer_for_recipe
from foveate.core.request import Inputs, Recipe
from foveate.core.stages.dedup.exact import DedupExact, normalise
from foveate.core.stages.dedup.near import DedupNear, near_copies
from foveate.core.types import Block, Candidate, Decision, StageTrace, rank
from foveate.core.zones import Budget


@dataclass(frozen=True, slots=True)
class TurnState:
    """One turn while it is made."""

    session: Session
    left: RevocationResult
    inputs: Inputs
    terms: SessionPolicy
    tokenizer: Tokenizer
    known: TokenCountCache
    summary: Summary | None = None

    def request_state(self, budget: Budget, going: frozenset[int] = frozenset()) -> RequestState:
        """The request, in this budget; `going`: markers that stand in the documents no longer."""
        session, terms = self.session, self.terms
        standing, before = self._sent_summary()
        chat = ChatOptions(
            turns=session.turns,
            system=terms.system,
            history=terms.history,
            zones=terms.zones,
            capped=terms.capped,
            before=before,
            summary=self.summary,
            standing=standing,
            ledger=session.ledger,
            withdrawn=self.left.turns,
            live=frozenset(h.block.marker for h in self.left.held) - going,
        )
        inputs = replace(self.inputs, budget=budget)
        return RequestState(inputs=inputs, chat=chat, tokenizer=self.tokenizer, known=self.known)

    def missing_markers(self, run: RequestState, extended: DocumentBlock) -> frozenset[int]:
        """Markers that turns cite, and that the run takes to stand where they do not."""
        cited = {entry.marker for turn in self.session.turns for entry in turn.cited}
        stays = {held.block.marker for held in extended.held}
        return (run.chat.live or frozenset()) & cited - stays

    def _sent_summary(self) -> tuple[Summary | None, tuple[Turn | None, ...]]:
        """The summary sent last, unless it covers a revoked turn, and the turns as shown."""
        told, shown = self.session.summary, self.session.shown
        if told is None or not any(n < told.turns for n in self.left.turns):
            return told, shown
        return None, (*self.session.turns[: told.turns], *shown[told.turns :])


def build_document_block(
    state: TurnState, run: RequestState, most: int, behind: int
) -> DocumentBlock:
    """The document block, extended or rewritten; `behind`: tokens of the conversation."""
    session, terms = state.session, state.terms
    base, state = state.left.held, replace(state, inputs=run.inputs)
    zone = max(most, 1)
    pace = terms.pace.more if base else terms.pace.first
    extended = append_documents(base, state, most=most, added=zone * pace // 100)
    must = "withdrawn" if len(base) < len(session.held) else ""
    if extended is not None:
        extended = replace(extended, why=must)
    empty = extended is None or not (extended.best or extended.held)
    if base and (extended is None or not extended.best):
        rewritten = _repack(state, most, zone * terms.pace.first // 100)
        if rewritten is not None and (extended is None or rewritten.best):
            return replace(rewritten, why=", ".join(filter(None, (must, "window"))))
    elif extended is not None and 0 < len(base) < len(extended.held):
        rewritten = _repack(state, most, zone * terms.pace.first // 100)
        if rewritten is not None and terms.prices.is_cheaper_enough(
            _price(state, extended, behind), _price(state, rewritten, behind)
        ):
            return replace(rewritten, why=", ".join(filter(None, (must, "cheaper"))))
    if extended is None or (empty and run.inputs.candidates):
        raise BudgetTooSmall(max(most, 0), max(most, 0) + 1, what="the documents")
    return extended


def _repack(state: TurnState, most: int, fill: int) -> DocumentBlock | None:
    """The rewritten block: blocks that were found again or cited, then new ones.

    Blocks that stay keep their order and number. If not all cited ones fit, the latest stay.
    """
    old = state.left.held
    count, recipe = state.tokenizer.count, state.inputs.recipe
    sizes = [count(render_document_block((held,), recipe).text) + 8 for held in old]
    kept: set[int] = set()
    tokens = 0
    for n in _order_blocks_to_keep(state, {c.id for c in state.inputs.candidates}):
        if tokens + sizes[n] <= fill:
            kept.add(n)
            tokens += sizes[n]
    places = _choose_places(kept, sizes, state.terms.prices, max(fill, tokens))
    base = tuple(old[n] for n in places)
    left = fill - sum(sizes[n] for n in places)
    return append_documents(base, state, most=most, added=max(left, fill // 4))


def _order_blocks_to_keep(state: TurnState, found: set[str]) -> list[int]:
    cited = [entry.chunk_id for turn in state.session.turns for entry in turn.cited]
    latest = {own: n for n, own in enumerate(cited)}
    ranked = []
    for n, held in enumerate(state.left.held):
        ids = held.block.chunk_ids
        if found.isdisjoint(ids):
            if last := [latest[own] for own in ids if own in latest]:
                ranked.append((1, -max(last), n))
        else:
            ranked.append((0, 0, n))
    return [n for *_, n in sorted(ranked)]


def _choose_places(
    kept: set[int], sizes: Sequence[int], prices: TokenPrices, most: int
) -> list[int]:
    """The places to keep, with as much of the unchanged head as makes the request cheapest."""
    best: list[int] = sorted(kept)
    least: Fraction | None = None
    for head in range(len(sizes) + 1):
        places = [n for n in range(len(sizes)) if n < head or n in kept]
        tokens = sum(sizes[n] for n in places)
        if tokens > most:
            break
        same = next((n for n, place in enumerate(places) if place != n), len(places))
        price = prices.price(tokens, sum(sizes[:same]))
        if least is None or price < least:
            best, least = places, price
    return best


def _price(state: TurnState, extended: DocumentBlock, behind: int) -> Fraction:
    same = count_reused_tokens(state, extended)
    if extended.text == state.session.text:
        same += behind
    return state.terms.prices.price(extended.tokens + behind, same)


def count_reused_tokens(state: TurnState, extended: DocumentBlock) -> int:
    """Tokens of the block's identical prefix, up to the end of a block."""
    before = state.session
    if not before.segments:
        return 0
    if extended.text.startswith(before.text):
        return state.tokenizer.count(before.text)
    same = 0
    for old, new in zip(before.held, extended.held, strict=False):
        if old.block != new.block:
            break
        same += 1
    if not same:
        return 0
    shared = render_document_block(before.held[:same], state.inputs.recipe)
    return state.tokenizer.count(shared.text)


def split_segments(state: TurnState, extended: DocumentBlock) -> tuple[str, ...]:
    """The block's text in the pieces that were added, as far as they still stand there."""
    kept: list[str] = []
    at = 0
    for segment in state.session.segments:
        if not extended.text.startswith(segment, at):
            break
        kept.append(segment)
        at += len(segment)
    return (*kept, extended.text[at:]) if at < len(extended.text) else tuple(kept)


COMPLETE_RENDITIONS = ("verbatim", "stripped")
MAX_ATTEMPTS = 8
EXCLUSION_REASONS = {"over_budget", "after_stop", "document_over_budget", "shed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentBlock:
    """A document block and how it came about.

    `best`: the best new candidate is in it, or was not excluded for lack of room. `why`: the reason
    if the block was rewritten.
    """

    held: tuple[SentBlock, ...]
    text: str
    tokens: int
    markers: int
    trace: tuple[StageTrace, ...] = ()
    best: bool = True
    why: str = ""


def render_document_block(held: Sequence[SentBlock], recipe: Recipe) -> RenderedText:
    """The document block of these blocks, each source under the name that it was sent with."""
    form = recipe.format
    blocks = [form.with_name(h.block, h.name_parts) for h in held]
    if held:
        form = form.with_name_parts(max(h.name_parts for h in held))
    return renderer_for_recipe(replace(recipe, format=form)).render(blocks)


def select_unsent(
    held: Sequence[SentBlock], inputs: Inputs
) -> tuple[tuple[Candidate, ...], list[Decision]]:
    """The candidates that are not in the block yet; the others by whose number they go."""
    sent = {
        chunk.id: h for h in held if h.block.rendition in COMPLETE_RENDITIONS for chunk in h.chunks
    }
    copies = _find_sent_copies(sent, inputs)
    new, decisions = [], []
    for candidate in inputs.candidates:
        own = sent.get(candidate.id)
        by, reason = (candidate.id, "already_sent") if own else copies.get(candidate.id, ("", ""))
        if not by:
            new.append(candidate)
            continue
        numbers = {"marker": sent[by].block.marker}
        decisions.append(
            Decision(chunk_id=candidate.id, action="merged", reason=reason, by=by, numbers=numbers)
        )
    return tuple(new), decisions


def _find_sent_copies(sent: Mapping[str, SentBlock], inputs: Inputs) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    chunks = {chunk.id: chunk for h in sent.values() for chunk in h.chunks if chunk.id in sent}
    fresh = [c for c in inputs.candidates if c.id not in chunks]
    for stage in inputs.recipe.stages:
        if isinstance(stage, DedupExact):
            texts = {normalise(chunk.text): own for own, chunk in chunks.items()}
            found |= {
                c.id: (texts[key], "already_sent")
                for c in fresh
                if (key := normalise(c.text)) in texts
            }
        elif isinstance(stage, DedupNear) and stage.method != "semantic" and fresh and chunks:
            top = max(c.score for c in fresh)
            old = [Candidate(chunk=chunk, score=top) for chunk in chunks.values()]
            copies, _ = near_copies([*old, *fresh], stage, inputs.language)
            for c in fresh:
                copy = copies.get(c.id)
                if copy is not None and copy.by in chunks:
                    found.setdefault(c.id, (copy.by, "already_sent"))
    return found


def append_documents(
    base: tuple[SentBlock, ...], state: TurnState, *, most: int, added: int
) -> DocumentBlock | None:
    """The block with new documents at its end: `most` tokens in all, about `added` of them new.

    None if the base alone exceeds that. The best new evidence may take more than `added`.
    """
    text = render_document_block(base, state.inputs.recipe).text
    tokens = state.tokenizer.count(text)
    if tokens > most:
        return None
    new, decisions = select_unsent(base, state.inputs)
    stage = StageTrace(
        stage="session",
        options="",
        before=len(state.inputs.candidates),
        after=len(new),
        decisions=tuple(decisions),
    )
    still = DocumentBlock(
        held=base, text=text, tokens=tokens, markers=state.session.markers, trace=(stage,)
    )
    if not new:
        return still
    fallback = replace(still, best=False)
    for left in dict.fromkeys((min(added, most - tokens), most - tokens)):
        extended = _append_context(base, text, new, state, most=most, left=left)
        if extended is not None:
            fallback = replace(extended, trace=(stage, *extended.trace))
            if extended.best:
                break
    return fallback


def _append_context(
    base: tuple[SentBlock, ...],
    text: str,
    new: tuple[Candidate, ...],
    state: TurnState,
    *,
    most: int,
    left: int,
) -> DocumentBlock | None:
    """The base with the context of the new candidates behind it; None where nothing fits."""
    inputs, names = state.inputs, {h.block.source: h.name_parts for h in base}
    recipe = settle_format(inputs.recipe, [*names, *(c.chunk.source for c in new)])
    parts = recipe.format.name_parts
    for _ in range(MAX_ATTEMPTS):
        if left < 1:
            return None
        budget = replace(inputs.budget, documents=left, window=None)
        fresh = replace(inputs, candidates=new, recipe=recipe, budget=budget, messages=())
        fresh = with_captions_alone(fresh)
        try:
            context = assemble(fresh, state.tokenizer, state.known)
        except BudgetTooSmall:
            return None
        added, markers = _number_blocks(base, context.blocks, state)
        added = [replace(h, name_parts=names.get(h.block.source, parts)) for h in added]
        rendered = render_document_block((*base, *added), inputs.recipe)
        if not rendered.text.startswith(text):
            raise BadOption(
                "session: nothing can be added behind a block of the format "
                f"{inputs.recipe.format.name!r}, or the "
                "recipe puts something in front; use numbered, xml, source or markdown"
            )
        tokens = state.tokenizer.count(rendered.text)
        if tokens <= most:
            return DocumentBlock(
                held=(*base, *added),
                text=rendered.text,
                tokens=tokens,
                markers=markers,
                trace=context.trace,
                best=_has_best(new, context.trace),
            )
        left -= tokens - most
    return None


def _has_best(new: tuple[Candidate, ...], trace: Iterable[StageTrace]) -> bool:
    best = min(new, key=rank).id
    return not any(
        d.chunk_id == best and d.reason in EXCLUSION_REASONS
        for stage in trace
        for d in stage.decisions
    )


def _number_blocks(
    base: tuple[SentBlock, ...], blocks: Sequence[Block], state: TurnState
) -> tuple[list[SentBlock], int]:
    """New blocks with unused numbers; a document keeps its own where those are cited."""
    inputs, markers = state.inputs, state.session.markers
    chunks = {c.chunk.id: c.chunk for c in inputs.candidates}
    chunks |= {chunk.id: chunk for chunk in inputs.neighbours if chunk.id not in chunks}
    by_document = {h.block.document_id: h.block.marker for h in base}
    seen = {h.block.document_id for h in base}
    added: list[SentBlock] = []
    for block in blocks:
        document = block.document_id
        if block.kind != "chunk":
            marker = 0
        elif inputs.recipe.cite == "document" and document in by_document:
            marker = by_document[document]
        else:
            markers += 1
            marker = by_document[document] = markers
        summary = "" if document in seen else block.summary
        known = tuple(
            replace(chunks[own], embedding=None, metadata={}, summary="")
            for own in block.chunk_ids
            if own in chunks
        )
        changed = replace(block, marker=marker, summary=summary)
        copies = tuple(
            past_chunk_from_chunk(chunks[source.chunk_id], state.session.step + 1)
            for source in block.corroborating
            if source.chunk_id in chunks
        )
        added.append(
            SentBlock(block=changed, chunks=known, since=state.session.step + 1, copies=copies)
        )
    return added, markers
