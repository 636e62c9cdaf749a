"""The loop: let in, run the stages, balance the books, render, measure, cite, seal.

Pure and synchronous. Ports have run before; everything read is in `Inputs`, the tokenizer apart.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace

from foveate.core.admit import admitted, once_each
from foveate.core.balance import balance
from foveate.core.blocks import block_of
from foveate.core.cite import citations_of
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall, FoveateError, StageBroke
from foveate.core.fit import fit
from foveate.core.gauge import Gauge
from foveate.core.manifest import manifest_of, spelled_stage
from foveate.core.measure import exclusions, measures
from foveate.core.render import Renderer
from foveate.core.text.sanitise import sanitise
from foveate.core.types import (
    Budget,
    Candidate,
    Context,
    Inputs,
    Place,
    Request,
    Stage,
    StageTrace,
    Step,
)
from foveate.core.window import room_left

Known = MutableMapping[str, int]
NEAR_MISS = 8  # tokens; how far the estimates of a single block can be off
LARGEST = 2**27  # tokens or characters; no budget over that is tried


def assemble(inputs: Inputs, tokenizer: Tokenizer, known: Known | None = None) -> Context:
    """Candidates in, context out. `known` maps content hashes to counts and is added to.

    Raises `BadInput`, `BudgetTooSmall` (with the smallest budget that would do) or `StageBroke`.
    """
    known = {} if known is None else known
    inputs = admitted(inputs)
    context = _attempt(inputs, tokenizer, known)
    if context is None:
        raise _too_small(inputs, tokenizer, known)
    return context


def _attempt(inputs: Inputs, tokenizer: Tokenizer, known: Known) -> Context | None:
    """One whole run at this budget; None where nothing fits.

    Estimates may keep out what fits by the real count: where they miss by a few tokens, the
    stages get those few more, and the gate, which counts, decides.
    """
    room = room_left(inputs, tokenizer)
    context, short = _run_at(inputs, room, 0, tokenizer, known)
    if context is None and 0 < short <= NEAR_MISS:
        context, _ = _run_at(inputs, room, short, tokenizer, known)
    return context


def _run_at(
    inputs: Inputs, room: Budget, more: int, tokenizer: Tokenizer, known: Known
) -> tuple[Context | None, int]:
    """Run with `more` tokens for the stages; with nothing shown, None and the least shortfall."""
    recipe = inputs.recipe
    renderer = Renderer(
        format=recipe.format, label=recipe.summary_label, spotlight=recipe.spotlight
    )
    request = _request(inputs, _enlarged(room, more), renderer, tokenizer, known)
    candidates, trace = _run(inputs, request)
    fitted = fit(candidates, inputs, replace(request, budget=room), renderer)
    if not fitted.candidates and (candidates or exclusions(trace)[0]):
        return None, _least_short(trace)
    trace = (*trace, fitted.trace)
    use = _use(fitted.text, fitted.tokens, room)
    context = Context(
        text=fitted.text,
        token_count=fitted.tokens,
        blocks=fitted.blocks,
        citations=citations_of(fitted.blocks, recipe.format.label),
        trace=trace,
        metrics=measures(fitted.blocks, fitted.candidates, trace, fitted.tokens, use),
        manifest=manifest_of(inputs, tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )
    return context, 0


def _enlarged(room: Budget, more: int) -> Budget:
    """The document zone with a few tokens more."""
    if not more or room.documents is None:
        return room
    return replace(room, documents=room.documents + more)


def _least_short(trace: Sequence[StageTrace]) -> int:
    """By how little the nearest candidate missed."""
    short = (int(d.numbers.get("short_by", 0)) for stage in trace for d in stage.decisions)
    return min((n for n in short if n > 0), default=0)


def _use(text: str, tokens: int, room: Budget) -> float:
    """The share of the tighter limit that was used."""
    of_tokens = tokens / room.documents if room.documents else 0.0
    return max(of_tokens, len(text) / room.characters if room.characters else 0.0)


def _request(
    inputs: Inputs, room: Budget, renderer: Renderer, tokenizer: Tokenizer, known: Known
) -> Request:
    """What the stages may look at."""
    marker = max(99, len(inputs.candidates) + len(inputs.neighbours))

    def frame(candidate: Candidate, place: Place) -> str:
        block = block_of(candidate, 1 if place == "first" else marker, inputs.recipe)
        if place == "first":
            return renderer.overhead(block)
        other = replace(block, document_id="", source="", title="")
        return renderer.overhead(block, block if place == "same" else other)

    return Request(
        query=inputs.query,
        budget=room,
        gauge=Gauge(
            tokenizer=tokenizer,
            body=lambda text: renderer.body(sanitise(text)[0]),
            frame=frame,
            known=known,
        ),
        principals=inputs.principals,
        neighbours=inputs.neighbours,
        supplements=inputs.supplements,
        intent=inputs.intent,
        query_embedding=inputs.query_embedding,
        instant=inputs.instant,
        language=inputs.language,
    )


def _run(inputs: Inputs, request: Request) -> tuple[tuple[Candidate, ...], tuple[StageTrace, ...]]:
    """All stages in order; the books are balanced after each."""
    step = once_each(inputs.candidates)
    trace = [_entry("input", "", len(inputs.candidates), step)]
    for stage in inputs.recipe.stages:
        before = step.candidates
        step = run_stage(stage, before, request)
        trace.append(_entry(stage_name(stage), spelled_stage(stage), len(before), step))
    return step.candidates, tuple(trace)


def run_stage(stage: Stage, candidates: tuple[Candidate, ...], request: Request) -> Step:
    """One stage, built in or not; whatever goes wrong in it is said to be its fault."""
    try:
        step = stage(candidates, request)
        balance(candidates, step)
    except StageBroke as error:
        raise StageBroke(f"stage {stage_name(stage)}: {error}") from error
    except FoveateError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise StageBroke(f"stage {stage_name(stage)} raised {what}") from error
    return step


def stage_name(stage: Stage) -> str:
    """`DedupNear(...)` is `dedup_near`; a function is itself."""
    name = getattr(stage, "__name__", None) or type(stage).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _entry(name: str, options: str, before: int, step: Step) -> StageTrace:
    return StageTrace(
        stage=name,
        options=options,
        before=before,
        after=len(step.candidates),
        decisions=tuple(step.decisions),
        notes=step.notes,
    )


def _too_small(inputs: Inputs, tokenizer: Tokenizer, known: Known) -> BudgetTooSmall:
    """Find the smallest budget that would do by trying it: what the error says is then true."""
    budget = replace(inputs.budget, window=None)

    def least(unit: str, base: Budget) -> int | None:
        def does(amount: int) -> bool:
            larger = replace(base, **{unit: amount})
            return _attempt(replace(inputs, budget=larger), tokenizer, known) is not None

        return _least(getattr(base, unit), does)

    if budget.documents is None:
        return BudgetTooSmall(
            budget.characters or 0, least("characters", budget) or 0, unit="characters"
        )
    needed = least("documents", budget)
    if needed is None and budget.characters is not None:
        if needed := least("characters", budget):
            return BudgetTooSmall(budget.characters, needed, unit="characters")
        needed = least("documents", replace(budget, characters=None))
    return BudgetTooSmall(budget.documents, needed or budget.documents + 1)


def _least(failing: int, does: Callable[[int], bool]) -> int | None:
    """The least amount over `failing` that does: doubling, then halving; None if none does."""
    high = max(failing, 1) * 2
    while not does(high):
        failing, high = high, high * 2
        if high > LARGEST:
            return None
    while high - failing > 1:
        middle = (failing + high) // 2
        if does(middle):
            high = middle
        else:
            failing = middle
    return high
