"""The order of external calls, written once and driven in two ways.

A flow is a generator: it yields a `Call` and is sent the call's result. `run` drives it in this
thread, `arun` in an event loop with blocking calls on worker threads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Literal, TypeAlias, TypeVar

from foveate.core.types import Context
from foveate.pipeline.observers import CallFigures, Observers, observe_call

T = TypeVar("T")
Operation: TypeAlias = Literal["assemble", "retrieve"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the outside, named as in `observers.CALL_STEPS`.

    `figures`: counts of its outcome, for observers. `acall`: the same call for an event loop, if
    that is a function of its own.
    """

    name: str
    call: Callable[[], Any]
    figures: Callable[[Any], CallFigures] | None = None
    acall: Callable[[], Awaitable[Any]] | None = None


Flow: TypeAlias = Generator[Call, Any, T]


def run(flow: Flow[T], observers: Observers | None = None, operation: Operation = "assemble") -> T:
    """Drive a flow in this thread, observed as `operation`; errors are raised in the flow."""
    if observers is None:
        return _drive(flow, None)
    with observers(operation):
        outcome = _drive(flow, observers)
        _show_context(observers, outcome)
    return outcome


async def arun(
    flow: Flow[T], observers: Observers | None = None, operation: Operation = "assemble"
) -> T:
    """`run` without blocking the event loop; the core runs on a worker thread."""
    if observers is None:
        return await _drive_async(flow, None)
    with observers(operation):
        outcome = await _drive_async(flow, observers)
        _show_context(observers, outcome)
    return outcome


def _show_context(observers: Observers, outcome: object) -> None:
    context = getattr(outcome, "context", outcome)
    if isinstance(context, Context):
        observers.on_context(context)


def _drive(flow: Flow[T], observers: Observers | None) -> T:
    result: Any = None
    while True:
        step = _advance(flow, result)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            result = observe_call(observers, step.name, step.call, step.figures)
        except Exception as error:  # noqa: BLE001
            result = _Raised(error)


async def _drive_async(flow: Flow[T], observers: Observers | None) -> T:
    import asyncio

    result: Any = None
    while True:
        step = await asyncio.to_thread(_advance, flow, result)
        if not isinstance(step, Call):
            return step.value  # type: ignore[no-any-return]
        try:
            result = await _await_call(step, observers)
        except Exception as error:  # noqa: BLE001
            result = _Raised(error)


async def _await_call(step: Call, observers: Observers | None) -> Any:
    import asyncio

    if observers is not None:
        with observers(step.name):
            result = await _await_call(step, None)
            observers.on_call(step.name, result, step.figures)
        return result
    if step.acall is not None:
        return await step.acall()
    result = await asyncio.to_thread(step.call)
    return await result if isawaitable(result) else result


@dataclass(frozen=True, slots=True)
class _Done:
    value: Any


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _advance(flow: Flow[Any], result: Any) -> Call | _Done:
    """One step of the generator; its end as a value, which a thread can hand back."""
    try:
        if isinstance(result, _Raised):
            return flow.throw(result.error)
        return flow.send(result)
    except StopIteration as done:
        return _Done(done.value)
