"""A flow as a function: one that blocks, and one that does not, with the same arguments.

The flow is written once, with its signature; its docstring is that of the blocking one.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from foveate.prepare import Flow, arun, run

P = ParamSpec("P")
T = TypeVar("T")


def blocking(name: str, steps: Callable[P, Flow[T]]) -> Callable[P, T]:
    """The flow, driven in this thread."""

    def way(*given: P.args, **options: P.kwargs) -> T:
        return run(steps(*given, **options))

    return _called(name, way, steps, steps.__doc__ or "")


def awaited(name: str, steps: Callable[P, Flow[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The flow, driven beside an event loop; a store may be one that is awaited."""

    async def way(*given: P.args, **options: P.kwargs) -> T:
        return await arun(steps(*given, **options))

    other = name.removeprefix("a")
    return _called(name, way, steps, f"`{other}` without blocking the event loop.")


W = TypeVar("W", bound=Callable[..., Any])


def _called(name: str, way: W, steps: Callable[..., Any], said: str) -> W:
    """The way under its own name, with the signature of the flow and what comes of it."""
    found = signature(steps)
    kind = str(found.return_annotation).removeprefix("Flow[").removesuffix("]")
    way.__name__ = way.__qualname__ = name
    way.__module__, way.__doc__ = steps.__module__, said
    way.__signature__ = found.replace(return_annotation=kind)  # type: ignore[attr-defined]
    return way
