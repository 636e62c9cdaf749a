"""The loop: let in, run the stages, balance the books, render, measure, cite, seal.

Pure and synchronous. Ports have run before; everything read is in `Inputs`, the tokenizer apart.
Who watches is told the names of the steps as they begin and end, and has no say in any of them.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ParamSpec, TypeVar

from foveate.core.admission import admit, deduplicate_candidates
from foveate.core.balance import balance
from foveate.core.candidates import is_readable
from foveate.core.cite import citations_from_blocks
from foveate.core.contracts import StepObserver, Tokenizer
from foveate.core.errors import FoveateError, StageBroke
from foveate.core.fit import FittedContext, fit
from foveate.core.header_costs import build_header_costs
from foveate.core.manifest import build_manifest, canonical_recipe, stage_name
from foveate.core.measure import LazyMetrics, compute_metrics, count_exclusions
from foveate.core.notebook import NotebookTrace
from foveate.core.render import Renderer, renderer_for_recipe
from foveate.core.request import Inputs, Request, Stage
from foveate.core.smallest import budget_too_small_error
from foveate.core.text.profile import holding_profiles
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Citation, Context, StageTrace, Step, Trace
from foveate.core.window import remaining_budget
from foveate.core.zones import Budget

P = ParamSpec("P")
T = TypeVar("T")
TokenCountCache = MutableMapping[str, int]
MAX_NEAR_MISS = 8  # tokens; how far the estimates of a single block can be off


@holding_profiles
def assemble(
    inputs: Inputs,
    tokenizer: Tokenizer,
    known: TokenCountCache | None = None,
    around: StepObserver | None = None,
) -> Context:
    """Candidates in, context out. `known` maps content hashes to counts and is added to.

    `around` is entered around each entry of the trace, by its name, then around `cite` and `seal`;
    where nothing fits, around `smallest`, the search for the budget that would do.

    Raises `BadInput`, `BudgetTooSmall` (with the smallest budget that would do) or `StageBroke`.
    """
    run = AssemblyRun(admit(inputs), tokenizer, {} if known is None else known, around)
    room = remaining_budget(run.inputs, tokenizer)
    done = attempt(run, room)
    if done is None:
        free = replace(run.inputs, budget=replace(run.inputs.budget, window=None))
        lifted = AssemblyRun(
            free, tokenizer, run.known
        )  # its many attempts are one step to who watches
        lack = partial(_shortfall, lifted)
        raise observe_step(
            around, "smallest", budget_too_small_error, run.inputs.budget, room, lack
        )
    return _finish_context(run, done, room)


@dataclass(frozen=True, slots=True)
class AssemblyRun:
    """What stays the same over all attempts at one request."""

    inputs: Inputs
    tokenizer: Tokenizer
    known: TokenCountCache
    around: StepObserver | None = None


def observe_step(
    around: StepObserver | None, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """What the step gives; where somebody watches, between its begin and its end."""
    if around is None:
        return step(*args, **kwargs)
    with around(name):
        done = step(*args, **kwargs)
    return done  # noqa: RET504 (inside it, a type checker says that nothing may be returned)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """A run that came to something: the finished text, and how."""

    fitted: FittedContext
    trace: Trace


def attempt(run: AssemblyRun, room: Budget) -> AttemptResult | None:
    """One whole run in this room; None where nothing fits."""
    return _attempt_with_shortfall(run, room)[0]


def _attempt_with_shortfall(run: AssemblyRun, room: Budget) -> tuple[AttemptResult | None, int]:
    """The same, and by how little the nearest candidate missed.

    Estimates may keep out what fits by the real count: where they miss by a few tokens, the
    stages get those few more, and the gate, which counts, decides.
    """
    done, short = _run_with_extra_tokens(run, room, 0)
    if done is None and 0 < short <= MAX_NEAR_MISS:
        done, _ = _run_with_extra_tokens(run, room, short)
    return done, short


def _shortfall(run: AssemblyRun, room: Budget) -> int:
    """0 where something fits in this room, else what the nearest candidate missed; at least 1."""
    done, short = _attempt_with_shortfall(run, room)
    return 0 if done is not None else max(short, 1)


def _run_with_extra_tokens(
    run: AssemblyRun, room: Budget, more: int
) -> tuple[AttemptResult | None, int]:
    """Run with `more` tokens for the stages; with nothing shown, None and the least shortfall."""
    recipe = run.inputs.recipe
    renderer = renderer_for_recipe(recipe)
    request = _build_request(run, _enlarge_documents(room, more), renderer)
    candidates, trace = _run_stages(run.inputs, request, run.around)
    request = replace(request, budget=room) if more else request
    fitted = observe_step(run.around, "render", fit, candidates, run.inputs, request, renderer)
    if not fitted.candidates and (candidates or count_exclusions(trace)[0]):
        return None, _smallest_shortfall(trace)
    return AttemptResult(fitted, (*trace, fitted.trace)), 0


def _finish_context(run: AssemblyRun, done: AttemptResult, room: Budget) -> Context:
    """Cite, measure, seal."""
    fitted, label = done.fitted, run.inputs.recipe.format.label
    citations = observe_step(run.around, "cite", citations_from_blocks, fitted.blocks, label)
    return observe_step(run.around, "seal", _build_context, run, done, room, citations)


def _build_context(
    run: AssemblyRun, done: AttemptResult, room: Budget, citations: tuple[Citation, ...]
) -> Context:
    """The context with its manifest."""
    inputs, fitted = run.inputs, done.fitted
    use = _budget_use(fitted.text, fitted.tokens, room)

    def figures() -> dict[str, float]:
        return compute_metrics(fitted.blocks, fitted.candidates, done.trace, fitted.tokens, use)

    return Context(
        text=fitted.text,
        token_count=fitted.tokens,
        blocks=fitted.blocks,
        citations=citations,
        trace=NotebookTrace(done.trace),
        metrics=LazyMetrics(figures),
        manifest=build_manifest(inputs, run.tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )


def _enlarge_documents(room: Budget, more: int) -> Budget:
    """The document zone with a few tokens more."""
    if not more or room.documents is None:
        return room
    return replace(room, documents=room.documents + more)


def _smallest_shortfall(trace: Sequence[StageTrace]) -> int:
    """By how little the nearest candidate missed."""
    short = (int(d.numbers.get("short_by", 0)) for stage in trace for d in stage.decisions)
    return min((n for n in short if n > 0), default=0)


def _budget_use(text: str, tokens: int, room: Budget) -> float:
    """The share of the tighter limit that was used."""
    of_tokens = tokens / room.documents if room.documents else 0.0
    return max(of_tokens, len(text) / room.characters if room.characters else 0.0)


def _build_request(run: AssemblyRun, room: Budget, renderer: Renderer) -> Request:
    """What the stages may look at."""
    inputs = run.inputs
    most = max(99, len(inputs.candidates) + len(inputs.neighbours))
    framed = build_header_costs(inputs.recipe, renderer, most)
    return Request(
        query=inputs.query,
        budget=room,
        token_counter=TokenCounter(
            tokenizer=run.tokenizer,
            body=renderer.render_text,
            header=framed.text,
            count_cache=run.known,
            header_key=framed.shape,
        ),
        principals=inputs.principals,
        neighbours=inputs.neighbours,
        supplements=inputs.supplements,
        intent=inputs.intent,
        query_embedding=inputs.query_embedding,
        instant=inputs.instant,
        language=inputs.language,
        offers=inputs.offers,
    )


@holding_profiles
def run_until_stage(
    inputs: Inputs, tokenizer: Tokenizer, place: int, known: TokenCountCache | None = None
) -> tuple[tuple[Candidate, ...], Request]:
    """What the recipe's stage at this place is given. For whoever prepares something for it."""
    run = AssemblyRun(admit(inputs), tokenizer, {} if known is None else known)
    recipe = run.inputs.recipe
    request = _build_request(
        run, remaining_budget(run.inputs, tokenizer), renderer_for_recipe(recipe)
    )
    first = replace(run.inputs, recipe=replace(recipe, stages=recipe.stages[:place]))
    return _run_stages(first, request)[0], request


def _run_stages(
    inputs: Inputs, request: Request, around: StepObserver | None = None
) -> tuple[tuple[Candidate, ...], tuple[StageTrace, ...]]:
    """All stages in order; the books are balanced after each."""
    step = observe_step(around, "input", deduplicate_candidates, inputs.candidates)
    if inputs.notes:
        step = replace(step, notes={**step.notes, **dict(inputs.notes)})
    trace = [_stage_trace("input", "", len(inputs.candidates), step)]
    names, options, *_ = canonical_recipe(inputs.recipe)
    for stage, name, typed in zip(inputs.recipe.stages, names, options, strict=True):
        before = step.candidates
        step = observe_step(around, name, run_stage, stage, before, request)
        trace.append(_stage_trace(name, typed, len(before), step))
    return step.candidates, tuple(trace)


def run_stage(stage: Stage, candidates: tuple[Candidate, ...], request: Request) -> Step:
    """One stage, built in or not; whatever goes wrong in it is said to be its fault."""
    try:
        step = stage(candidates, request)
        balance(candidates, step)
        if step.candidates is not candidates:
            _check_readers(step.candidates, request)
    except StageBroke as error:
        raise StageBroke(f"stage {stage_name(stage)}: {error}") from error
    except FoveateError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise StageBroke(f"stage {stage_name(stage)} raised {what}") from error
    return step


def _check_readers(candidates: tuple[Candidate, ...], request: Request) -> None:
    """No stage may bring in what the caller may not read."""
    allowed = frozenset(request.principals)
    chunks = [c.chunk for c in candidates if c.chunk.principals]
    chunks += [part.chunk for c in candidates if c.parts for part in c.parts]
    for chunk in chunks:
        if not is_readable(chunk.principals, allowed):
            raise StageBroke(f"{chunk.id!r} may not be read by who asks; it let it in")


def _stage_trace(name: str, options: str, before: int, step: Step) -> StageTrace:
    return StageTrace(
        stage=name,
        options=options,
        before=before,
        after=len(step.candidates),
        decisions=tuple(step.decisions),
        notes=step.notes,
    )
