"""The last gate: the text that is measured is the text that is sent.

The finished text is rendered and counted, and blocks of least value are dropped until it fits.
Estimates made before only make the first attempt likely to fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from foveate.core.blocks import blocks_from_candidates, rendition_text, sanitising_decisions
from foveate.core.contracts import Tokenizer
from foveate.core.image_fit import IMAGE_TOKENS, ImagePlan, plan_images
from foveate.core.manifest import build_manifest, canonical_recipe
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.render import RenderedText, Renderer
from foveate.core.renditions import full_rendition
from foveate.core.request import Inputs, Recipe, Request
from foveate.core.text.profile import HashedText
from foveate.core.text.sanitise import sanitise
from foveate.core.token_counter import Cost
from foveate.core.types import (
    Block,
    Candidate,
    Citation,
    Context,
    Decision,
    Number,
    StageTrace,
    Trace,
    rank,
)
from foveate.core.weak_evidence import WEAK_EVIDENCE, shown_documents, why_weak
from foveate.core.window import window_excess
from foveate.core.zones import Budget

if TYPE_CHECKING:
    from foveate.core.stages.pack.budget_tracker import BudgetTracker


@dataclass(frozen=True, slots=True)
class FittedContext:
    """The finished text and what it took."""

    text: str
    tokens: int
    blocks: tuple[Block, ...]
    candidates: tuple[Candidate, ...]
    trace: StageTrace
    budget_use: float


@dataclass(frozen=True, slots=True)
class _RenderedAttempt:
    """One attempt: the rendered text and what it was made of.

    `tokens` are those of the text and of the images, `image_tokens` those of the images alone.
    """

    texts: Sequence[HashedText]
    blocks: tuple[Block, ...]
    bodies: Sequence[HashedText]
    rendered: RenderedText
    tokens: int
    image_tokens: int


def fit(
    candidates: tuple[Candidate, ...], inputs: Inputs, request: Request, renderer: Renderer
) -> FittedContext:
    """Render, count the real string, shed until it fits. Summaries go first, then the least.

    Images get what a text that fits leaves.
    """
    budget, tokenizer = request.budget, request.token_counter.tokenizer
    shed: list[Decision] = []
    shown, attempts = candidates, 0
    summaries = place_summaries(shown, request, renderer)
    images: ImagePlan | None = None
    while True:
        attempt = _render(
            shown, request, renderer, inputs.recipe, summaries=summaries, images=images
        )
        attempts += 1
        over = _excess(attempt, budget, inputs, tokenizer)
        if over > 0 and shown:
            if images and images.shrink(over):
                continue
            images = None
            if summaries:
                summaries = {}
                continue
            shown, lost = _drop_least_valued(shown, over, request)
            shed.extend(lost)
            continue
        if images is not None:
            break
        room = _image_room(attempt, budget, inputs, tokenizer)
        images = plan_images(shown, inputs, request.token_counter, room)
        if not images:
            break
    notes: dict[str, Number] = {"attempts": attempts, "summaries": len(summaries)}
    pairs = zip(attempt.blocks, attempt.bodies, strict=True)
    notes["neutralised"] = sum([body.text != block.text for block, body in pairs])
    if weak := why_weak(request.query, shown_documents(attempt.blocks)):
        notes[WEAK_EVIDENCE] = weak
    if images:
        notes[IMAGE_TOKENS] = attempt.image_tokens
    decisions = (*sanitising_decisions(shown, attempt.texts), *images.decisions(), *shed)
    return FittedContext(
        text=attempt.rendered.text,
        tokens=attempt.tokens,
        blocks=_blocks_with_places(shown, attempt, request.language),
        candidates=shown,
        trace=StageTrace(
            stage="render",
            options=canonical_recipe(inputs.recipe).format,
            before=len(candidates),
            after=len(shown),
            decisions=decisions,
            notes=notes,
        ),
        budget_use=_budget_use(attempt.rendered.text, attempt.tokens, budget),
    )


def _render(
    shown: Sequence[Candidate],
    request: Request,
    renderer: Renderer,
    recipe: Recipe,
    *,
    summaries: Mapping[int, str],
    images: ImagePlan | None,
) -> _RenderedAttempt:
    counter = request.token_counter
    texts = [rendition_text(candidate) for candidate in shown]
    texts = images.add_captions(texts) if images else texts
    blocks = blocks_from_candidates(shown, recipe, texts, summaries)
    blocks = images.add_images(blocks) if images else blocks
    bodies = [counter.render_body(*text) for text in texts]
    rendered = renderer.render(blocks, [body.text for body in bodies])
    tokens = counter.count_joined(rendered.text, rendered.glue, [bodies[n] for n in rendered.order])
    seen = images.tokens if images else 0
    return _RenderedAttempt(texts, blocks, bodies, rendered, tokens + seen, seen)


def _blocks_with_places(
    shown: Sequence[Candidate], attempt: _RenderedAttempt, language: str
) -> tuple[Block, ...]:
    """The blocks, where they stand in the text, and who else says what they show."""
    blocks = [
        replace(block, span=span)
        for block, span in zip(attempt.blocks, attempt.rendered.spans, strict=True)
    ]
    for n, candidate in enumerate(shown):
        if candidate.duplicates:
            from foveate.core.stages.dedup.corroborating import corroborating_sources

            sources = corroborating_sources(candidate, language)
            blocks[n] = replace(blocks[n], corroborating=sources)
    return tuple(blocks)


def _image_room(
    attempt: _RenderedAttempt, budget: Budget, inputs: Inputs, tokenizer: Tokenizer
) -> float:
    """Tokens that the text leaves for images; no end without a budget of tokens."""
    room = inf if budget.documents is None else budget.documents - attempt.tokens
    if inputs.budget.window is None:
        return room
    return min(room, -window_excess(inputs, attempt.rendered.text, attempt.tokens, tokenizer))


def _budget_use(text: str, tokens: int, room: Budget) -> float:
    of_tokens = tokens / room.documents if room.documents else 0.0
    return max(of_tokens, len(text) / room.characters if room.characters else 0.0)


def _excess(attempt: _RenderedAttempt, budget: Budget, inputs: Inputs, tokenizer: Tokenizer) -> int:
    """By how much it is over, in tokens or characters; 0 or less: it fits."""
    text, images = attempt.rendered.text, attempt.image_tokens
    over = attempt.tokens - budget.documents if budget.documents is not None else 0
    if budget.characters is not None:
        over = max(over, len(text) - budget.characters)
    return max(over, window_excess(inputs, text, attempt.tokens - images, tokenizer, images))


def _drop_least_valued(
    shown: tuple[Candidate, ...], over: int, request: Request
) -> tuple[tuple[Candidate, ...], list[Decision]]:
    from foveate.core.stages.pack.budget_tracker import tracker_for_budget

    tracker = tracker_for_budget(request.budget, request.token_counter, None)
    freed, gone = 0, []
    for candidate in sorted(shown, key=rank, reverse=True):
        cost = tracker.cost(candidate, candidate.shown or full_rendition(candidate))
        gone.append(
            Decision(
                chunk_id=candidate.id,
                action="dropped",
                reason="shed",
                numbers={"tokens": cost.tokens, "over": over},
            )
        )
        freed += cost.tokens
        if freed >= over:
            break
    ids = {decision.chunk_id for decision in gone}
    return tuple(c for c in shown if c.id not in ids), gone


def place_summaries(
    shown: Sequence[Candidate], request: Request, renderer: Renderer
) -> Mapping[int, str]:
    """Page summaries, by place, for the first block of each document, as far as the budget goes."""
    if not renderer.label or not any(c.chunk.summary for c in shown):
        return {}
    from foveate.core.stages.pack.budget_tracker import tracker_for_budget

    tracker = tracker_for_budget(request.budget, request.token_counter, None)
    for candidate in shown:
        tracker.take(
            candidate, tracker.cost(candidate, candidate.shown or full_rendition(candidate))
        )
    first: dict[str, int] = {}
    texts: dict[str, str] = {}
    for n, candidate in enumerate(shown):
        if candidate.origin != "supplement":
            first.setdefault(candidate.document_id, n)
            if candidate.chunk.summary:
                texts.setdefault(candidate.document_id, candidate.chunk.summary)
    seated: dict[int, str] = {}
    for document, n in first.items():
        summary = sanitise(texts.get(document, ""))[0]
        if summary and _spend_on_summary(
            renderer.format.preamble(renderer.label, summary), tracker
        ):
            seated[n] = summary
    return seated


def _spend_on_summary(line: str, tracker: BudgetTracker) -> bool:
    cost = Cost(tracker.counter.count_rendered(line) + 1, len(line))
    if not tracker.fits(cost):
        return False
    tracker.spend(cost)
    return True


def build_context(
    inputs: Inputs,
    tokenizer: Tokenizer,
    fitted: FittedContext,
    citations: tuple[Citation, ...],
    trace: Trace,
) -> Context:
    """The context; its figures are computed when they are first read."""

    def figures() -> dict[str, float]:
        return compute_metrics(
            fitted.blocks, fitted.candidates, trace, fitted.tokens, fitted.budget_use
        )

    return Context(
        text=fitted.text,
        token_count=fitted.tokens,
        blocks=fitted.blocks,
        citations=citations,
        trace=trace,
        metrics=LazyMetrics(figures),
        manifest=build_manifest(inputs, tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )
