"""Who watches an assembly: any number of watchers, none of which can change or break it.

A watcher is an `Around`: called with a step's name it gives what is entered before the step and
left after it. Two methods are called where it has them, while the step is still open:
`told(name, figures)` with a few counts of a call to the outside, never content, and
`made(context)` with what came of an assembly. Whatever a watcher raises is logged, once, and it
cannot keep an error of a step from going on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from foveate.core.contracts import Around
from foveate.core.types import Context

__all__ = ["CALLS", "WHOLE", "Around", "Figures", "Guarded", "guarded", "watched"]

T = TypeVar("T")
Figures: TypeAlias = Mapping[str, int | float | str]

WHOLE = {"assemble": "a context, and all that it takes", "retrieve": "a search alone"}
"""What a caller asked for: the step around all others."""
CALLS = {
    "recall": "what the cache has",
    "root": "the state root of the store, before and after",
    "embed": "the question's vector",
    "search": "the store's search",
    "rerank": "the reranker",
    "aside": "the taxonomy: intent and side knowledge",
    "neighbours": "the chunks around those that were found",
    "counts": "token counts that the store has",
    "readings": "readings of texts that the store has",
    "shorten": "a model's shorter versions, all of them",
    "model": "one call of that model",
    "keep_readings": "new readings, into the store",
    "keep_counts": "new token counts, into the store",
    "keep": "the context, into the cache",
}
"""The calls to the outside, by name; the steps between them are those of the trace."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Watchers as one, that raises nothing and swallows nothing. Made by `guarded`."""

    arounds: tuple[Around, ...]
    _complained: list[str] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, name: str) -> _Step:
        """What is entered around a step."""
        return _Step(self, name)

    def told(self, name: str, outcome: T, figures: Callable[[T], Figures] | None) -> None:
        """A few counts of what came of a step that is being left, to those who want them."""
        for around in self.arounds:
            try:
                if figures is not None and hasattr(around, "told"):
                    around.told(name, figures(outcome))
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self.complain(error)

    def made(self, context: Context) -> None:
        """What came of an assembly, before the step `assemble` is left."""
        for around in self.arounds:
            try:
                if hasattr(around, "made"):
                    around.made(context)
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self.complain(error)

    def complain(self, error: Exception) -> None:
        """Log that a watcher failed: by kind, since messages may quote what was watched."""
        what = type(error).__name__
        if what in self._complained:
            return
        self._complained.append(what)
        import logging

        logging.getLogger("foveate").warning("a watcher raised %s; it is passed over", what)


class _Step:
    """One step, entered at all watchers and left at those that could be entered."""

    __slots__ = ("_entered", "_guard", "_name")

    def __init__(self, guard: Guarded, name: str) -> None:
        self._guard, self._name = guard, name
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        for around in self._guard.arounds:
            try:
                manager = around(self._name)
                manager.__enter__()
            except Exception as error:  # noqa: BLE001  # a watcher's fault is not the assembly's
                self._guard.complain(error)
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
                    self._guard.complain(error)


def guarded(*arounds: Around | None) -> Guarded | None:
    """The watchers as one that cannot change an outcome; None where there is nobody."""
    found: list[Around] = []
    for around in arounds:
        if isinstance(around, Guarded):
            found.extend(around.arounds)
        elif around is not None:
            found.append(around)
    if len(arounds) == 1 and isinstance(arounds[0], Guarded):
        return arounds[0]
    return Guarded(tuple(found)) if found else None


def watched(
    around: Guarded | None,
    name: str,
    call: Callable[[], T],
    figures: Callable[[T], Figures] | None = None,
) -> T:
    """What the call gives; where somebody watches, as a step of this name, with its figures."""
    if around is None:
        return call()
    with around(name):
        outcome = call()
        around.told(name, outcome, figures)
    return outcome
