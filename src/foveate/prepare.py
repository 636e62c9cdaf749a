"""Runs the ports before the core decides: it annotates, and drops, reorders, rewrites nothing.

The order of calls is written once, as a generator that yields calls and is sent their results;
`run` drives it in this thread, `arun` in an event loop with the calls on worker threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

from foveate import readings
from foveate.adapters.tokenizers.counts import counts_for
from foveate.core.assemble import Known, assemble
from foveate.core.contracts import Tokenizer
from foveate.core.stages.expand import Expand
from foveate.core.types import Context, Inputs, Recipe
from foveate.ports import Store
from foveate.shortener import Shortener, offers_for, refuse_unasked

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the outside."""

    call: Callable[[], Any]


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
    inputs: Inputs, tokenizer: Tokenizer, store: Store | None, shortener: Shortener | None = None
) -> Flow[Prepared]:
    """Neighbours, counts and readings, one round trip each; the core; then what is new of these.

    With a shortener, a model is asked for shorter versions before; a recipe that wants none is
    refused with `BadOption`, for the shortener would do nothing.
    """
    known = counts_for(tokenizer.fingerprint)
    if store is None:
        inputs = yield from _shortened(inputs, tokenizer, known, shortener)
        return Prepared(inputs=inputs, context=assemble(inputs, tokenizer, known))
    window = window_of(inputs.recipe)
    if window and not inputs.neighbours:
        places = [(c.chunk.document_id, c.chunk.sequence) for c in inputs.candidates]
        found = yield Call(lambda: store.neighbours(places, window, principals=inputs.principals))
        inputs = replace(inputs, neighbours=tuple(found))
    hashes = [c.chunk.content_hash for c in inputs.candidates]
    hashes += [chunk.content_hash for chunk in inputs.neighbours]
    stored = yield Call(lambda: store.counts(tokenizer.fingerprint, hashes))
    known.update(stored)
    unread = readings.wanted(inputs, store)
    read: dict[str, bytes] = {}
    if unread:
        own = readings.version(inputs.language)
        kept = yield Call(lambda: store.readings(own, list(unread)))
        read = readings.learned(unread, kept, inputs.language)
    inputs = yield from _shortened(inputs, tokenizer, known, shortener)
    context = assemble(inputs, tokenizer, known)
    if read:
        yield Call(lambda: store.keep(own, read))
    new = {h: known[h] for h in hashes if h not in stored and h in known}
    if new:
        yield Call(lambda: store.remember(tokenizer.fingerprint, new))
    return Prepared(inputs=inputs, context=context)


def _shortened(
    inputs: Inputs, tokenizer: Tokenizer, known: Known, shortener: Shortener | None
) -> Flow[Inputs]:
    """The inputs with what a model offers; all its calls are one call here."""
    if shortener is None:
        return inputs
    refuse_unasked(inputs.recipe)
    offers = yield Call(lambda: offers_for(inputs, tokenizer, known, shortener))
    return replace(inputs, offers=offers)


def run(steps: Flow[T]) -> T:
    """Drive a flow here and now; what a call raises is raised where the flow asked for it."""
    outcome: Any = None
    while True:
        step = _advance(steps, outcome)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            outcome = step.call()
        except Exception as error:  # noqa: BLE001
            outcome = _Raised(error)


async def arun(steps: Flow[T]) -> T:
    """Drive a flow without blocking the event loop; a port may be sync or async.

    The core runs on a worker thread as well: it computes, it does not wait.
    """
    import asyncio

    outcome: Any = None
    while True:
        step = await asyncio.to_thread(_advance, steps, outcome)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            outcome = await asyncio.to_thread(step.call)
            if isawaitable(outcome):
                outcome = await outcome
        except Exception as error:  # noqa: BLE001
            outcome = _Raised(error)


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
