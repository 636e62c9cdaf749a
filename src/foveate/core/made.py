"""Frozen values, made quickly where thousands are made.

A frozen dataclass writes each field through `object.__setattr__` and takes its arguments through a
dictionary, which costs more than most of what a stage does with a value.
`unchecked_constructor(Class)` gives a function with the same arguments that does neither: it fills
an object of a twin class with the same slots and then gives it its class.
`unchecked_replacer(Class)` is `dataclasses.replace` in the same way. The values are ordinary ones:
equal, hashed, replaced, pickled like any other.

Rule: `__post_init__` is not run. So these are for values made of values that were checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def unchecked_constructor(cls: Callable[P, T]) -> Callable[P, T]:
    """A function that makes values of a frozen, slotted dataclass, unchecked.

    >>> from foveate.core.types import Decision
    >>> decided = unchecked_constructor(Decision)
    >>> a = decided(chunk_id="c1", action="kept", reason="verbatim")
    >>> a == Decision(chunk_id="c1", action="kept", reason="verbatim"), type(a).__name__
    (True, 'Decision')
    """
    arguments, values, known = [], [], {}
    for f in _fields(cls):
        default = f"_{f.name}"
        if f.default is not MISSING:
            known[default] = f.default
        elif f.default_factory is not MISSING:
            known[default] = MISSING
            known[f"_new_{f.name}"] = f.default_factory
        if f.init:
            arguments.append(f"{f.name}={default}" if default in known else f.name)
        fresh = f"_new_{f.name}() if {f.name} is _MISSING else {f.name}"
        values.append(fresh if f"_new_{f.name}" in known else f.name if f.init else default)
    made: Callable[P, T] = _build_function(cls, f"*, {', '.join(arguments)}", values, known)
    return made


def unchecked_replacer(cls: type[T]) -> Callable[..., T]:
    """A function that makes a value like another one, but for the fields that are named.

    >>> from foveate.core.types import Rendition
    >>> changed = unchecked_replacer(Rendition)
    >>> changed(Rendition(kind="extract", text="One.", spans=((0, 4),)), value=0.5).value
    0.5
    """
    arguments, values = [], []
    for f in _fields(cls):
        if f.init:
            arguments.append(f"{f.name}=_MISSING")
        kept = f"_old.{f.name} if {f.name} is _MISSING else {f.name}"
        values.append(kept if f.init else f"_{f.name}")
    known = {f"_{f.name}": f.default for f in _fields(cls) if not f.init}
    changed: Callable[..., T] = _build_function(
        cls, f"_old, *, {', '.join(arguments)}", values, known
    )
    return changed


def _fields(cls: Any) -> tuple[Field[Any], ...]:
    return fields(cls)


def _build_function(cls: Any, arguments: str, values: list[str], known: dict[str, Any]) -> Any:
    """The function that fills the slots, in order, with these expressions."""
    names = [f.name for f in _fields(cls)]
    twin = type("Twin", (), {"__slots__": tuple(names)})
    lines = [f"_self.{name} = {value}" for name, value in zip(names, values, strict=True)]
    body = "\n    ".join(["_self = _make(_Twin)", *lines, "_self.__class__ = _Class"])
    scope = {**known, "_make": object.__new__, "_Twin": twin, "_Class": cls, "_MISSING": MISSING}
    exec(f"def made({arguments}):\n    {body}\n    return _self", scope)  # noqa: S102
    return scope["made"]
