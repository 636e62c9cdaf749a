"""Observers of an assembly; none can change or break it.

An observer is a `StepObserver`: called with a step's name, it gives a context manager for the step.
If it has them, `on_call(name, figures)` gets counts of an external call, and `on_context(context)`
the result. What an observer raises is logged once; it cannot suppress an error of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

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
    """Watchers as one, that raises nothing and swallows nothing; see `combine_observers`."""

    observers: tuple[StepObserver, ...]
    _logged_kinds: list[str] = field(default_factory=list, compare=False, repr=False)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Enter a step at all watchers, and leave it at those that could be entered."""
        entered: list[AbstractContextManager[None]] = []
        for observer in self.observers:
            with self._logging_failures():
                manager = observer(name)
                manager.__enter__()
                entered.append(manager)
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            trace = error.__traceback__ if error is not None else None
            for manager in reversed(entered):
                with self._logging_failures(known=error):
                    manager.__exit__(type(error) if error is not None else None, error, trace)
            del error, trace  # an error that its own frame holds would stay until a collection

    def on_call(self, name: str, outcome: T, figures: Callable[[T], CallFigures] | None) -> None:
        """Counts of what came of a step that is being left."""
        if figures is not None:
            self._tell("on_call", lambda: (name, figures(outcome)))

    def on_context(self, context: Context) -> None:
        """What came of an assembly, before the step `assemble` is left."""
        self._tell("on_context", lambda: (context,))

    def _tell(self, method: str, arguments: Callable[[], tuple[object, ...]]) -> None:
        """Call a method of the watchers that have it; what it is told is made for those alone."""
        for observer in self.observers:
            with self._logging_failures():
                if hasattr(observer, method):
                    getattr(observer, method)(*arguments())

    @contextmanager
    def _logging_failures(self, known: BaseException | None = None) -> Iterator[None]:
        """A watcher's fault is not the assembly's; `known`: the step's own error, raised again."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # watchers may raise anything
            what = type(error).__name__  # its message may quote what was watched
            if error is known or what in self._logged_kinds:
                return
            self._logged_kinds.append(what)
            import logging

            logging.getLogger("foveate").warning("a watcher raised %s; it is passed over", what)


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
