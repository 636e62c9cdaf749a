"""A document block that grows at its end: what stands there keeps its bytes and its number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.chat.session import SentBlock, past_chunk_from_chunk
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.render import renderer_for_recipe
from foveate.core.request import Inputs, Recipe
from foveate.core.stages.dedup.exact import DedupExact, normalise
from foveate.core.stages.dedup.near import DedupNear, near_copies
from foveate.core.types import Block, Candidate, Chunk, Decision, StageTrace, rank

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInputs:
    """What stays the same over all attempts of one turn."""

    inputs: Inputs
    tokenizer: Tokenizer
    known: TokenCountCache
    step: int
    markers: int


def render_document_block(held: Sequence[SentBlock], recipe: Recipe) -> str:
    """The document block of these blocks."""
    return renderer_for_recipe(recipe).render([h.block for h in held]).text


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
            copies, _ = near_copies([*old, *fresh], stage)
            for c in fresh:
                copy = copies.get(c.id)
                if copy is not None and copy.by in chunks:
                    found.setdefault(c.id, (copy.by, "already_sent"))
    return found


def append_documents(
    base: tuple[SentBlock, ...], ground: TurnInputs, *, most: int, added: int
) -> DocumentBlock | None:
    """The block with new documents at its end: `most` tokens in all, about `added` of them new.

    None if the base alone exceeds that. The best new evidence may take more than `added`.
    """
    text = render_document_block(base, ground.inputs.recipe)
    tokens = ground.tokenizer.count(text)
    if tokens > most:
        return None
    new, decisions = select_unsent(base, ground.inputs)
    stage = StageTrace(
        stage="session",
        options="",
        before=len(ground.inputs.candidates),
        after=len(new),
        decisions=tuple(decisions),
    )
    still = DocumentBlock(
        held=base, text=text, tokens=tokens, markers=ground.markers, trace=(stage,)
    )
    if not new:
        return still
    fallback = replace(still, best=False)
    for left in dict.fromkeys((min(added, most - tokens), most - tokens)):
        grown = _append_context(base, text, new, ground, most=most, left=left)
        if grown is not None:
            fallback = replace(grown, trace=(stage, *grown.trace))
            if grown.best:
                break
    return fallback


def _append_context(
    base: tuple[SentBlock, ...],
    text: str,
    new: tuple[Candidate, ...],
    ground: TurnInputs,
    *,
    most: int,
    left: int,
) -> DocumentBlock | None:
    """The base with the context of the new candidates behind it; None where nothing fits."""
    inputs = ground.inputs
    for _ in range(MAX_ATTEMPTS):
        if left < 1:
            return None
        budget = replace(inputs.budget, documents=left, window=None)
        fresh = replace(inputs, candidates=new, budget=budget, messages=())
        try:
            context = assemble(fresh, ground.tokenizer, ground.known)
        except BudgetTooSmall:
            return None
        added, markers = _number_blocks(base, context.blocks, ground)
        spans = renderer_for_recipe(inputs.recipe).render([h.block for h in (*base, *added)])
        if not spans.text.startswith(text):
            name = getattr(inputs.recipe.format, "name", "?")
            raise BadOption(
                f"session: nothing can be added behind a block of the format {name!r}, or the "
                "recipe puts something in front; use numbered, xml, source or markdown"
            )
        tokens = ground.tokenizer.count(spans.text)
        if tokens <= most:
            return DocumentBlock(
                held=(*base, *added),
                text=spans.text,
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
    base: tuple[SentBlock, ...], blocks: Sequence[Block], ground: TurnInputs
) -> tuple[list[SentBlock], int]:
    """New blocks with numbers that nobody had; a document keeps its own where those are cited."""
    inputs, markers = ground.inputs, ground.markers
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
        known = tuple(_strip_chunk(chunks[own]) for own in block.chunk_ids if own in chunks)
        changed = replace(block, marker=marker, summary=summary)
        copies = tuple(
            past_chunk_from_chunk(chunks[source.chunk_id], ground.step)
            for source in block.corroborating
            if source.chunk_id in chunks
        )
        added.append(SentBlock(block=changed, chunks=known, since=ground.step, copies=copies))
    return added, markers


def _strip_chunk(chunk: Chunk) -> Chunk:
    return replace(chunk, embedding=None, metadata={}, summary="")
