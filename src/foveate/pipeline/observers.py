"""Observers of an assembly; none can change or break it.

An observer is a `StepObserver`: called with a step's name, it gives a context manager for the step.
If it has them, `on_call(name, figures)` gets counts of an external call, and `on_context(context)`
the result. What an observer raises is logged once; it cannot suppress an error of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from foveate.core.contracts import StepObserver
from foveate.core.types import Context

__all__ = [
    "ASSEMBLY_STEPS",
    "CALL_STEPS",
    "CallFigures",
    "Observers",
    "StepObserver",
    "combine_observers",
    "observe_call",
]

T = TypeVar("T")
CallFigures: TypeAlias = Mapping[str, int | float | str]

ASSEMBLY_STEPS = {
    "assemble": "a context, and all that it takes",
    "retrieve": "a search alone",
    "compact": "a message list that fits",
}
"""What a caller asked for: the step around all others."""
CALL_STEPS = {
    "recall": "what the cache has",
    "root": "the state root of the store, before and after",
    "embed": "the question's vector",
    "search": "the store's search",
    "rerank": "the reranker",
    "aside": "the taxonomy: intent and side knowledge",
    "neighbours": "the chunks around those that were found",
    "counts": "token counts that the store has",
    "shorten": "a model's shorter versions, all of them",
    "model": "one call of that model",
    "keep_counts": "new token counts, into the store",
    "keep": "the context, into the cache",
}
"""The calls to the outside, by name; the steps between them are those of the trace."""


@dataclass(frozen=True, slots=True)
class Observers:
    """Watchers as one, that raises nothing and swallows nothing. Made by `guarded`."""

    observers: tuple[StepObserver, ...]
    _logged_kinds: list[str] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, name: str) -> _ObservedStep:
        """What is entered around a step."""
        return _ObservedStep(self, name)

    def on_call(self, name: str, outcome: T, figures: Callable[[T], CallFigures] | None) -> None:
        """A few counts of what came of a step that is being left, to those who want them."""
        for observer in self.observers:
            try:
                if figures is not None and hasattr(observer, "on_call"):
                    observer.on_call(name, figures(outcome))
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self.log_failure(error)

    def on_context(self, context: Context) -> None:
        """What came of an assembly, before the step `assemble` is left."""
        for observer in self.observers:
            try:
                if hasattr(observer, "on_context"):
                    observer.on_context(context)
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self.log_failure(error)

    def log_failure(self, error: Exception) -> None:
        """Log that a watcher failed: by kind, since messages may quote what was watched."""
        what = type(error).__name__
        if what in self._logged_kinds:
            return
        self._logged_kinds.append(what)
        import logging

        logging.getLogger("foveate").warning("a watcher raised %s; it is passed over", what)


class _ObservedStep:
    """One step, entered at all watchers and left at those that could be entered."""

    __slots__ = ("_entered", "_guard", "_name")

    def __init__(self, guard: Observers, name: str) -> None:
        self._guard, self._name = guard, name
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        for observer in self._guard.observers:
            try:
                manager = observer(self._name)
                manager.__enter__()
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self._guard.log_failure(error)
            else:
                self._entered.append(manager)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for manager in reversed(self._entered):
            try:
                manager.__exit__(kind, value, trace)
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                if error is not value:
                    self._guard.log_failure(error)


def combine_observers(*observers: StepObserver | None) -> Observers | None:
    """The watchers as one that cannot change an outcome; None if there are none."""
    if len(observers) == 1 and isinstance(observers[0], Observers):
        return observers[0]
    found: list[StepObserver] = []
    for observer in observers:
        if isinstance(observer, Observers):
            found.extend(observer.observers)
        elif observer is not None:
            found.append(observer)
    return Observers(tuple(found)) if found else None


def observe_call(
    observers: Observers | None,
    name: str,
    call: Callable[[], T],
    figures: Callable[[T], CallFigures] | None = None,
) -> T:
    """What the call gives; where somebody watches, as a step of this name, with its figures."""
    if observers is None:
        return call()
    with observers(name):
        outcome = call()
        observers.on_call(name, outcome, figures)
    return outcome
