"""The document block of one turn: what is added to it, or why it is written again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from foveate.core.admission import settle_format
from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.chat.session import GAIN, SentBlock, Session, TokenPrices, chunk_citation
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.render import RenderedText, renderer_for_recipe
from foveate.core.request import Inputs, Recipe
from foveate.core.stages.dedup.exact import DedupExact, normalise
from foveate.core.stages.dedup.near import DedupNear, near_copies
from foveate.core.types import Block, Candidate, Decision, StageTrace, rank

FIRST_FILL, MORE_FILL = 50, 12
"""Per cent of the document zone that the first turn fills, and each repacking; and later ones."""
COMPLETE_RENDITIONS = ("verbatim", "stripped")
MAX_ATTEMPTS = 8
EXCLUSION_REASONS = {"over_budget", "after_stop", "document_over_budget", "shed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnState:
    """One turn while its documents are made.

    `before`: the session as it was sent; `session`: what may still be sent of it.
    """

    before: Session
    session: Session
    inputs: Inputs
    prices: TokenPrices
    tokenizer: Tokenizer
    known: TokenCountCache


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentBlock:
    """A document block and how it came about.

    `best`: the best new candidate is in it, or was not excluded for lack of room. `why`: the reason
    if the block was rewritten. `segments`: its text in the pieces that were added.
    """

    held: tuple[SentBlock, ...]
    text: str
    tokens: int
    markers: int
    trace: tuple[StageTrace, ...] = ()
    best: bool = True
    why: str = ""
    segments: tuple[str, ...] = ()


def build_document_block(state: TurnState, most: int, behind: int) -> DocumentBlock:
    """The document block, extended or rewritten; `behind`: tokens of the conversation."""
    base = state.session.held
    fill = max(most, 1) * FIRST_FILL // 100
    extended = append_documents(
        base, state, most=most, added=max(most, 1) * MORE_FILL // 100 if base else fill
    )
    must = "withdrawn" if len(base) < len(state.before.held) else ""
    made, why = extended, must
    if base and (extended is None or not extended.best or len(extended.held) > len(base)):
        rewritten = _repack(state, most, fill)
        if extended is None or not extended.best:
            if rewritten is not None and (extended is None or rewritten.best):
                made, why = rewritten, ", ".join(filter(None, (must, "window")))
        elif rewritten is not None and _is_cheaper(state, extended, rewritten, behind):
            made, why = rewritten, ", ".join(filter(None, (must, "cheaper")))
    if made is None or (not (made.best or made.held) and state.inputs.candidates):
        raise BudgetTooSmall(max(most, 0), max(most, 0) + 1, what="the documents")
    return replace(made, why=why, segments=_split_segments(state, made))


def _repack(state: TurnState, most: int, fill: int) -> DocumentBlock | None:
    """The rewritten block: blocks that were found again or cited, then new ones.

    Blocks that stay keep their order and number. If not all cited ones fit, the latest stay.
    """
    old = state.session.held
    count, recipe = state.tokenizer.count, state.inputs.recipe
    sizes = [count(render_document_block((held,), recipe).text) + 8 for held in old]
    kept: set[int] = set()
    tokens = 0
    for n in _order_blocks_to_keep(state, {c.id for c in state.inputs.candidates}):
        if tokens + sizes[n] <= fill:
            kept.add(n)
            tokens += sizes[n]
    places = _choose_places(kept, sizes, state.prices, max(fill, tokens))
    base = tuple(old[n] for n in places)
    left = fill - sum(sizes[n] for n in places)
    return append_documents(base, state, most=most, added=max(left, fill // 4))


def _order_blocks_to_keep(state: TurnState, found: set[str]) -> list[int]:
    latest = {entry.chunk_id: n for n, entry in enumerate(state.session.cited())}
    ranked = []
    for n, held in enumerate(state.session.held):
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


def _is_cheaper(
    state: TurnState, extended: DocumentBlock, rewritten: DocumentBlock, behind: int
) -> bool:
    """Whether the rewritten block saves enough; `behind`: tokens of what follows it."""

    def price(made: DocumentBlock) -> Fraction:
        same = count_reused_tokens(state, made)
        if made.text == state.before.text:
            same += behind
        return state.prices.price(made.tokens + behind, same)

    return price(rewritten) < price(extended) * (1 - GAIN)


def count_reused_tokens(state: TurnState, extended: DocumentBlock) -> int:
    """Tokens of the block's identical prefix, up to the end of a block."""
    before = state.before
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


def _split_segments(state: TurnState, made: DocumentBlock) -> tuple[str, ...]:
    """The block's text in the pieces that were added, as far as they still stand there."""
    kept: list[str] = []
    at = 0
    for segment in state.before.segments:
        if not made.text.startswith(segment, at):
            break
        kept.append(segment)
        at += len(segment)
    return (*kept, made.text[at:]) if at < len(made.text) else tuple(kept)


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
            chunk_citation(chunks[source.chunk_id])
            for source in block.corroborating
            if source.chunk_id in chunks
        )
        added.append(SentBlock(block=changed, chunks=known, copies=copies))
    return added, markers
