"""Runs the ports before the core decides: it annotates, and drops, reorders, rewrites nothing.

The order of calls is written once, as a generator that yields calls and is sent their results;
`run` drives it in this thread, `arun` in an event loop with the calls on worker threads. Each call
has a name, by which it can be watched (`foveate.around`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Literal, TypeAlias, TypeVar

from foveate import readings
from foveate.adapters.tokenizers.counts import counts_for
from foveate.around import Figures, Guarded, watched
from foveate.core.assemble import Known, assemble
from foveate.core.contracts import Tokenizer
from foveate.core.stages.expand import Expand
from foveate.core.types import Context, Inputs, Recipe
from foveate.ports import Found, Store
from foveate.shortener import Shortener, offers_for, refuse_unasked

T = TypeVar("T")
Whole: TypeAlias = Literal["assemble", "retrieve"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the outside, named as in `around.CALLS`; `figures` are counts of its outcome.

    `acall`: the same in an event loop, where that is a function of its own.
    """

    name: str
    call: Callable[[], Any]
    figures: Callable[[Any], Figures] | None = None
    acall: Callable[[], Awaitable[Any]] | None = None


Flow: TypeAlias = Generator[Call, Any, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The inputs as the core gets them, and the context it made of them."""

    inputs: Inputs
    context: Context


def window_of(recipe: Recipe) -> int:
    """How far the recipe looks around a hit."""
    return max((s.window for s in recipe.stages if isinstance(s, Expand)), default=0)


def flow(
    inputs: Inputs,
    tokenizer: Tokenizer,
    store: Store | None,
    shortener: Shortener | None = None,
    around: Guarded | None = None,
) -> Flow[Prepared]:
    """Neighbours, counts and readings, one round trip each; the core; then what is new of these.

    With a shortener, a model is asked for shorter versions before; a recipe that wants none is
    refused with `BadOption`, for the shortener would do nothing. `around` watches the core; the
    calls are watched by who drives the flow.
    """
    known = counts_for(tokenizer.fingerprint)
    if store is None:
        inputs = yield from _shortened(inputs, tokenizer, known, shortener, around)
        return Prepared(inputs=inputs, context=assemble(inputs, tokenizer, known, around))
    window = window_of(inputs.recipe)
    if window and not inputs.neighbours:
        places = [(c.chunk.document_id, c.chunk.sequence) for c in inputs.candidates]
        found = yield Call(
            "neighbours",
            lambda: store.neighbours(places, window, principals=inputs.principals),
            lambda found: {"places": len(places), "found": len(found)},
        )
        inputs = replace(inputs, neighbours=tuple(found))
    hashes = [c.chunk.content_hash for c in inputs.candidates]
    hashes += [chunk.content_hash for chunk in inputs.neighbours]
    stored = yield Call(
        "counts",
        lambda: store.counts(tokenizer.fingerprint, hashes),
        lambda stored: {"texts": len(hashes), "known": len(stored)},
    )
    known.update(stored)
    unread = readings.wanted(inputs, store)
    read: dict[str, bytes] = {}
    if unread:
        own = readings.version(inputs.language)
        kept = yield Call(
            "readings",
            lambda: store.readings(own, list(unread)),
            lambda kept: {"texts": len(unread), "known": len(kept)},
        )
        read = readings.learned(unread, kept, inputs.language)
    inputs = yield from _shortened(inputs, tokenizer, known, shortener, around)
    context = assemble(inputs, tokenizer, known, around)
    if read:
        yield Call("keep_readings", lambda: store.keep(own, read))
    new = {h: known[h] for h in hashes if h not in stored and h in known}
    if new:
        yield Call("keep_counts", lambda: store.remember(tokenizer.fingerprint, new))
    return Prepared(inputs=inputs, context=context)


def said_of(found: Found) -> Figures:
    """What a search says of itself, without what it found."""
    return {
        "candidates": len(found.candidates),
        "badge": found.badge,
        "lexical_matches": found.lexical_matches,
        "exact": int(found.exact),
    }


def _shortened(
    inputs: Inputs,
    tokenizer: Tokenizer,
    known: Known,
    shortener: Shortener | None,
    around: Guarded | None,
) -> Flow[Inputs]:
    """The inputs with what a model offers; all its calls are one call here."""
    if shortener is None:
        return inputs
    refuse_unasked(inputs.recipe)
    offers = yield Call(
        "shorten",
        lambda: offers_for(inputs, tokenizer, known, shortener, around),
        lambda offers: {"offers": len(offers), "failed": sum(bool(o.why) for o in offers)},
    )
    return replace(inputs, offers=offers)


def run(steps: Flow[T], around: Guarded | None = None, whole: Whole = "assemble") -> T:
    """Drive a flow here and now; what a call raises is raised where the flow asked for it.

    Where somebody watches, all of it is the step `whole`, and each call is one in it.
    """
    if around is None:
        return _driven(steps, None)
    with around(whole):
        outcome = _driven(steps, around)
        _tell(around, outcome)
    return outcome


async def arun(steps: Flow[T], around: Guarded | None = None, whole: Whole = "assemble") -> T:
    """`run` without blocking the event loop; a port may be sync or async.

    The core runs on a worker thread as well: it computes, it does not wait.
    """
    if around is None:
        return await _adriven(steps, None)
    with around(whole):
        outcome = await _adriven(steps, around)
        _tell(around, outcome)
    return outcome


def _tell(around: Guarded, outcome: object) -> None:
    """Show a context that came of it; of a search, its own step has said the figures."""
    context = outcome.context if isinstance(outcome, Prepared) else outcome
    if isinstance(context, Context):
        around.made(context)


def _driven(steps: Flow[T], around: Guarded | None) -> T:
    outcome: Any = None
    while True:
        step = _advance(steps, outcome)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            outcome = watched(around, step.name, step.call, step.figures)
        except Exception as error:  # noqa: BLE001
            outcome = _Raised(error)


async def _adriven(steps: Flow[T], around: Guarded | None) -> T:
    import asyncio

    outcome: Any = None
    while True:
        step = await asyncio.to_thread(_advance, steps, outcome)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            outcome = await _awaited(step, around)
        except Exception as error:  # noqa: BLE001
            outcome = _Raised(error)


async def _awaited(step: Call, around: Guarded | None) -> Any:
    """What a call gives, be it sync or async; watched from here, whose context its thread gets."""
    import asyncio

    if around is None:
        if step.acall is not None:
            return await step.acall()
        outcome = await asyncio.to_thread(step.call)
        return await outcome if isawaitable(outcome) else outcome
    with around(step.name):
        outcome = await _awaited(step, None)
        around.told(step.name, outcome, step.figures)
    return outcome


@dataclass(frozen=True, slots=True)
class _Done:
    value: Any


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _advance(steps: Flow[Any], outcome: Any) -> Call | _Done:
    """One step of the generator; its end as a value, which a thread can hand back."""
    try:
        if isinstance(outcome, _Raised):
            return steps.throw(outcome.error)
        return steps.send(outcome)
    except StopIteration as done:
        return _Done(done.value)
