"""The loop: admit the candidates, run the stages one after another, render, count, cite.

Pure and synchronous. Everything that is read is in `Inputs`, apart from the tokenizer.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from foveate.core.admission import admit, deduplicate_candidates, trace_notes
from foveate.core.balance import run_stage, trace_entry
from foveate.core.blocks import citations_from_blocks
from foveate.core.contracts import StepObserver, Tokenizer, observe_step
from foveate.core.fit import FittedContext, build_context, fit
from foveate.core.header_costs import build_request
from foveate.core.image_fit import set_aside
from foveate.core.manifest import canonical_recipe
from foveate.core.measure import count_exclusions
from foveate.core.render import renderer_for_recipe
from foveate.core.request import Inputs, Request
from foveate.core.smallest import budget_too_small_error, smallest_shortfall
from foveate.core.text.profile import holding_profiles
from foveate.core.types import Candidate, Context, Trace
from foveate.core.window import remaining_budget
from foveate.core.zones import Budget

TokenCountCache = MutableMapping[str, int]
MAX_NEAR_MISS = 8  # tokens; how far the estimates of a single block can be off


@holding_profiles
def assemble(
    inputs: Inputs,
    tokenizer: Tokenizer,
    known: TokenCountCache | None = None,
    observers: StepObserver | None = None,
) -> Context:
    """Candidates in, context out. `known` maps content hashes to counts and is added to.

    `observers` see each entry of the trace by its name, then `cite` and `seal`; if nothing fits,
    `smallest`, the search for the smallest sufficient budget.

    Raises `BadInput`, `BudgetTooSmall` (with the smallest sufficient budget) or `StageBroke`.
    """
    run = Assembly(admit(inputs), tokenizer, {} if known is None else known, observers)
    inputs, room = run.inputs, remaining_budget(run.inputs, tokenizer)
    fitted, trace, _ = run.attempt(room)
    if fitted is None:
        free = replace(inputs, budget=replace(inputs.budget, window=None))
        search = Assembly(free, tokenizer, run.known).shortfall
        raise observe_step(
            observers, "smallest", budget_too_small_error, inputs.budget, room, search
        )
    label = inputs.recipe.format.label
    citations = observe_step(observers, "cite", citations_from_blocks, fitted.blocks, label)
    return observe_step(
        observers, "seal", build_context, inputs, tokenizer, fitted, citations, trace
    )


def run_stages(
    inputs: Inputs, request: Request, observers: StepObserver | None = None
) -> tuple[tuple[Candidate, ...], Trace]:
    """All stages of the recipe in order, each with its entry on the trace."""
    notes = trace_notes(inputs)
    step = observe_step(observers, "input", deduplicate_candidates, inputs.candidates, notes)
    trace = [trace_entry("input", "", inputs.candidates, step)]
    names, options, *_ = canonical_recipe(inputs.recipe)
    for stage, name, option in zip(inputs.recipe.stages, names, options, strict=True):
        before = step.candidates
        step = observe_step(observers, name, run_stage, stage, before, request)
        trace.append(trace_entry(name, option, before, step))
    return step.candidates, tuple(trace)


class Attempt(NamedTuple):
    """What came of one budget: the finished text, or by how much the estimates were wrong.

    `missed_by`: by how many tokens the nearest candidate missed; below 0, how many too many a text
    had that was thought to fit.
    """

    fitted: FittedContext | None
    trace: Trace
    missed_by: int = 0


@dataclass(frozen=True, slots=True)
class Assembly:
    """One request, for which several budgets may be tried."""

    inputs: Inputs
    tokenizer: Tokenizer
    known: TokenCountCache
    observers: StepObserver | None = None

    def attempt(self, room: Budget) -> Attempt:
        """Run the stages and the last gate; after near misses again, with more or less room.

        If nothing fits beside what is kept for images, nothing is kept for them.
        """
        first = found = self._run(room, 0)
        more = 0
        for step in (1, 2, 4):
            if found.fitted is not None or not 0 < abs(found.missed_by) <= MAX_NEAR_MISS:
                break
            more += step * found.missed_by
            found = self._run(room, more)
        if found.fitted is None and room.images:  # texts come before images
            return self.attempt(replace(room, images=0))
        return first if found.fitted is None else found

    def shortfall(self, room: Budget) -> int:
        """0 if something fits in this room, else what the nearest candidate missed; at least 1."""
        found = self.attempt(room)
        return max(found.missed_by, 1) if found.fitted is None else 0

    def _run(self, room: Budget, more: int) -> Attempt:
        inputs, renderer = self.inputs, renderer_for_recipe(self.inputs.recipe)
        kept = set_aside(inputs, room)
        other = replace(room, documents=room.documents and max(room.documents + more - kept, 1))
        request = build_request(inputs, other, self.tokenizer, renderer, self.known)
        candidates, trace = run_stages(inputs, request, self.observers)
        request = replace(request, budget=room)
        fitted = observe_step(self.observers, "render", fit, candidates, inputs, request, renderer)
        if not fitted.candidates and (candidates or count_exclusions(trace)[0]):
            over = max([int(d.numbers.get("over", 0)) for d in fitted.trace.decisions], default=0)
            return Attempt(None, trace, -over or smallest_shortfall(trace))
        return Attempt(fitted, (*trace, fitted.trace))
