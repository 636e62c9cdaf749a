"""The last gate: the text that is measured is the text that is sent.

The finished text is rendered and counted, and blocks of least value are dropped until it fits.
Estimates made before only make the first attempt likely to fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foveate.core.blocks import blocks_from_candidates, rendition_text, sanitising_decisions
from foveate.core.contracts import Tokenizer
from foveate.core.manifest import build_manifest, canonical_recipe
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.notebook import NotebookTrace
from foveate.core.render import Renderer
from foveate.core.renditions import full_rendition
from foveate.core.request import Inputs, Request
from foveate.core.text.sanitise import sanitise
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
from foveate.core.unchecked import replace_unchecked
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


def fit(
    candidates: tuple[Candidate, ...], inputs: Inputs, request: Request, renderer: Renderer
) -> FittedContext:
    """Render, count the real string, shed until it fits. Summaries go first, then the least."""
    gauge, budget = request.token_counter, request.budget
    shed: list[Decision] = []
    shown, attempts = candidates, 0
    summaries = place_summaries(shown, request, renderer)
    while True:
        texts = [rendition_text(candidate) for candidate in shown]
        blocks = blocks_from_candidates(shown, inputs.recipe, texts, summaries)
        bodies = [gauge.render_body(*text) for text in texts]
        rendered = renderer.render(blocks, [body.text for body in bodies])
        tokens = gauge.count_joined(
            rendered.text, rendered.glue, [bodies[n] for n in rendered.order]
        )
        attempts += 1
        over = _excess(rendered.text, tokens, budget, inputs, gauge.tokenizer)
        if over <= 0 or not shown:
            break
        if summaries:
            summaries = {}
            continue
        shown, lost = _drop_least_valued(shown, over, request)
        shed.extend(lost)
    notes: dict[str, Number] = {"attempts": attempts, "summaries": len(summaries)}
    pairs = zip(blocks, bodies, strict=True)
    notes["neutralised"] = sum([body.text != block.text for block, body in pairs])
    decisions = (*sanitising_decisions(shown, texts), *shed)
    return FittedContext(
        text=rendered.text,
        tokens=tokens,
        blocks=tuple(
            replace_unchecked(Block, b, span=s) for b, s in zip(blocks, rendered.spans, strict=True)
        ),
        candidates=shown,
        trace=StageTrace(
            stage="render",
            options=canonical_recipe(inputs.recipe).format,
            before=len(candidates),
            after=len(shown),
            decisions=decisions,
            notes=notes,
        ),
        budget_use=_budget_use(rendered.text, tokens, budget),
    )


def _budget_use(text: str, tokens: int, room: Budget) -> float:
    of_tokens = tokens / room.documents if room.documents else 0.0
    return max(of_tokens, len(text) / room.characters if room.characters else 0.0)


def _excess(text: str, tokens: int, budget: Budget, inputs: Inputs, tokenizer: Tokenizer) -> int:
    """By how much the finished text is over, in tokens or characters; 0 or less: it fits."""
    over = tokens - budget.documents if budget.documents is not None else 0
    if budget.characters is not None:
        over = max(over, len(text) - budget.characters)
    return max(over, window_excess(inputs, text, tokens, tokenizer))


def _drop_least_valued(
    shown: tuple[Candidate, ...], over: int, request: Request
) -> tuple[tuple[Candidate, ...], list[Decision]]:
    from foveate.core.stages.pack.budget_tracker import tracker_for_budget

    scale = tracker_for_budget(request.budget, request.token_counter, None)
    freed, gone = 0, []
    for candidate in sorted(shown, key=rank, reverse=True):
        cost = scale.cost(candidate, candidate.shown or full_rendition(candidate))
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

    scale = tracker_for_budget(request.budget, request.token_counter, None)
    for candidate in shown:
        scale.take(candidate, scale.cost(candidate, candidate.shown or full_rendition(candidate)))
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
        if summary and _spend_on_summary(renderer.format.preamble(renderer.label, summary), scale):
            seated[n] = summary
    return seated


def _spend_on_summary(line: str, scale: BudgetTracker) -> bool:
    tokens, characters = scale.gauge.count_rendered(line) + 1, len(line)
    if scale.tokens is not None and scale.tokens < tokens:
        return False
    if scale.characters is not None and scale.characters < characters:
        return False
    scale.tokens = scale.tokens - tokens if scale.tokens is not None else None
    scale.characters = scale.characters - characters if scale.characters is not None else None
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
        trace=NotebookTrace(trace),
        metrics=LazyMetrics(figures),
        manifest=build_manifest(inputs, tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )
