"""Frozen values, made quickly where thousands are made.

A frozen dataclass writes each field through `object.__setattr__` and takes its arguments through a
dictionary, which costs more than most of what a stage does with a value. `maker(Class)` gives a
function with the same arguments that does neither: it fills an object of a twin class with the
same slots and then gives it its class. The value is an ordinary one: equal, hashed, replaced,
pickled like any other.

Rule: `__post_init__` is not run. So a maker is for values made of values that were checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """A function that makes values of a frozen, slotted dataclass, unchecked.

    >>> from foveate.core.types import Decision
    >>> decided = maker(Decision)
    >>> a = decided(chunk_id="c1", action="kept", reason="verbatim")
    >>> a == Decision(chunk_id="c1", action="kept", reason="verbatim"), type(a).__name__
    (True, 'Decision')
    """
    own: Any = fields(cls)  # type: ignore[arg-type]
    names = [f.name for f in own]
    known: dict[str, Any] = {"_new": object.__new__, "_class": cls}
    known["_twin"] = type("Twin", (), {"__slots__": tuple(names)})
    arguments, body = [], ["self = _new(_twin)"]
    for f in own:
        value = f.name
        if f.default is not MISSING:
            known[f"_{f.name}"] = f.default
        if f.default_factory is not MISSING:
            known[f"_{f.name}"] = known["_missing"] = MISSING
            known[f"_make_{f.name}"] = f.default_factory
            value = f"_make_{f.name}() if {f.name} is _missing else {f.name}"
        if f.init:
            arguments.append(f"{f.name}=_{f.name}" if f"_{f.name}" in known else f.name)
        elif value == f.name:
            value = f"_{f.name}"
        body.append(f"self.{f.name} = {value}")
    lines = "\n    ".join([*body, "self.__class__ = _class", "return self"])
    exec(f"def make(*, {', '.join(arguments)}):\n    {lines}", known)  # noqa: S102
    made: Callable[P, T] = known["make"]
    return made
