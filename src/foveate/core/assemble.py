"""The loop: let in, run the stages, balance the books, render, measure, cite, seal.

Pure and synchronous. Ports have run before; everything read is in `Inputs`, the tokenizer apart.
Who watches is told the names of the steps as they begin and end, and has no say in any of them.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ParamSpec, TypeVar

from foveate.core.admit import admitted, once_each
from foveate.core.balance import balance
from foveate.core.candidates import readable
from foveate.core.cite import citations_of
from foveate.core.contracts import Around, Tokenizer
from foveate.core.errors import FoveateError, StageBroke
from foveate.core.fit import Fitted, fit
from foveate.core.frames import frames
from foveate.core.gauge import Gauge
from foveate.core.made import maker
from foveate.core.manifest import manifest_of, spelling, stage_name
from foveate.core.measure import Measures, exclusions, measures
from foveate.core.render import Renderer, renderer_of
from foveate.core.smallest import too_small
from foveate.core.types import (
    Candidate,
    Citation,
    Context,
    Inputs,
    Request,
    Stage,
    Stages,
    StageTrace,
    Step,
    Trace,
)
from foveate.core.window import room_left
from foveate.core.zones import Budget

P = ParamSpec("P")
T = TypeVar("T")
Known = MutableMapping[str, int]
entered, asked, sealed = maker(StageTrace), maker(Request), maker(Context)
NEAR_MISS = 8  # tokens; how far the estimates of a single block can be off


def assemble(
    inputs: Inputs,
    tokenizer: Tokenizer,
    known: Known | None = None,
    around: Around | None = None,
) -> Context:
    """Candidates in, context out. `known` maps content hashes to counts and is added to.

    `around` is entered around each entry of the trace, by its name, then around `cite` and `seal`;
    where nothing fits, around `smallest`, the search for the budget that would do.

    Raises `BadInput`, `BudgetTooSmall` (with the smallest budget that would do) or `StageBroke`.
    """
    run = Run(admitted(inputs), tokenizer, {} if known is None else known, around)
    room = room_left(run.inputs, tokenizer)
    done = attempt(run, room)
    if done is None:
        free = replace(run.inputs, budget=replace(run.inputs.budget, window=None))
        lifted = Run(free, tokenizer, run.known)  # its many attempts are one step to who watches
        lack = partial(_lack, lifted)
        raise watched(around, "smallest", too_small, run.inputs.budget, room, lack)
    return _sealed(run, done, room)


@dataclass(frozen=True, slots=True)
class Run:
    """What stays the same over all attempts at one request."""

    inputs: Inputs
    tokenizer: Tokenizer
    known: Known
    around: Around | None = None


def watched(
    around: Around | None, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """What the step gives; where somebody watches, between its begin and its end."""
    if around is None:
        return step(*args, **kwargs)
    with around(name):
        done = step(*args, **kwargs)
    return done  # noqa: RET504 (inside it, a type checker says that nothing may be returned)


@dataclass(frozen=True, slots=True)
class Done:
    """A run that came to something: the finished text, and how."""

    fitted: Fitted
    trace: Trace


def attempt(run: Run, room: Budget) -> Done | None:
    """One whole run in this room; None where nothing fits."""
    return _attempted(run, room)[0]


def _attempted(run: Run, room: Budget) -> tuple[Done | None, int]:
    """The same, and by how little the nearest candidate missed.

    Estimates may keep out what fits by the real count: where they miss by a few tokens, the
    stages get those few more, and the gate, which counts, decides.
    """
    done, short = _run_at(run, room, 0)
    if done is None and 0 < short <= NEAR_MISS:
        done, _ = _run_at(run, room, short)
    return done, short


def _lack(run: Run, room: Budget) -> int:
    """0 where something fits in this room, else what the nearest candidate missed; at least 1."""
    done, short = _attempted(run, room)
    return 0 if done is not None else max(short, 1)


def _run_at(run: Run, room: Budget, more: int) -> tuple[Done | None, int]:
    """Run with `more` tokens for the stages; with nothing shown, None and the least shortfall."""
    recipe = run.inputs.recipe
    renderer = renderer_of(recipe)
    request = _request(run, _enlarged(room, more), renderer)
    candidates, trace = _stages(run.inputs, request, run.around)
    request = replace(request, budget=room) if more else request
    fitted = watched(run.around, "render", fit, candidates, run.inputs, request, renderer)
    if not fitted.candidates and (candidates or exclusions(trace)[0]):
        return None, _least_short(trace)
    return Done(fitted, (*trace, fitted.trace)), 0


def _sealed(run: Run, done: Done, room: Budget) -> Context:
    """Cite, measure, seal."""
    fitted, label = done.fitted, run.inputs.recipe.format.label
    citations = watched(run.around, "cite", citations_of, fitted.blocks, label)
    return watched(run.around, "seal", _seal, run, done, room, citations)


def _seal(run: Run, done: Done, room: Budget, citations: tuple[Citation, ...]) -> Context:
    """The context with its manifest."""
    inputs, fitted = run.inputs, done.fitted
    use = _use(fitted.text, fitted.tokens, room)

    def figures() -> dict[str, float]:
        return measures(fitted.blocks, fitted.candidates, done.trace, fitted.tokens, use)

    return sealed(
        text=fitted.text,
        token_count=fitted.tokens,
        blocks=fitted.blocks,
        citations=citations,
        trace=Stages(done.trace),
        metrics=Measures(figures),
        manifest=manifest_of(inputs, run.tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )


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


def _request(run: Run, room: Budget, renderer: Renderer) -> Request:
    """What the stages may look at."""
    inputs = run.inputs
    most = max(99, len(inputs.candidates) + len(inputs.neighbours))
    framed = frames(inputs.recipe, renderer, most)
    return asked(
        query=inputs.query,
        budget=room,
        gauge=Gauge(
            tokenizer=run.tokenizer,
            body=renderer.written,
            frame=framed.text,
            known=run.known,
            shape=framed.shape,
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


def reaching(
    inputs: Inputs, tokenizer: Tokenizer, place: int, known: Known | None = None
) -> tuple[tuple[Candidate, ...], Request]:
    """What the recipe's stage at this place is given. For whoever prepares something for it."""
    run = Run(admitted(inputs), tokenizer, {} if known is None else known)
    recipe = run.inputs.recipe
    request = _request(run, room_left(run.inputs, tokenizer), renderer_of(recipe))
    first = replace(run.inputs, recipe=replace(recipe, stages=recipe.stages[:place]))
    return _stages(first, request)[0], request


def _stages(
    inputs: Inputs, request: Request, around: Around | None = None
) -> tuple[tuple[Candidate, ...], tuple[StageTrace, ...]]:
    """All stages in order; the books are balanced after each."""
    step = watched(around, "input", once_each, inputs.candidates)
    if inputs.notes:
        step = replace(step, notes={**step.notes, **dict(inputs.notes)})
    trace = [_entry("input", "", len(inputs.candidates), step)]
    names, options, *_ = spelling(inputs.recipe)
    for stage, name, typed in zip(inputs.recipe.stages, names, options, strict=True):
        before = step.candidates
        step = watched(around, name, run_stage, stage, before, request)
        trace.append(_entry(name, typed, len(before), step))
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
        if not readable(chunk.principals, allowed):
            raise StageBroke(f"{chunk.id!r} may not be read by who asks; it let it in")


def _entry(name: str, options: str, before: int, step: Step) -> StageTrace:
    return entered(
        stage=name,
        options=options,
        before=before,
        after=len(step.candidates),
        decisions=tuple(step.decisions),
        notes=step.notes,
    )
