"""Signatures as they are written, each type under the full name that leads to its description."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

LONGEST = 40  # characters of a default that is made anew each time
NAME = re.compile(r"(?<![\w.'\"])[A-Za-z_][\w.]*")


def is_called(value: type) -> bool:
    """Whether one makes it by calling it: no protocol, no enumeration, no mapping of keys."""
    if getattr(value, "_is_protocol", False) or issubclass(value, Enum):
        return False
    return is_dataclass(value) or "__init__" in vars(value)


def signature(value: Any, homes: Mapping[int, str], *, bare: bool = False) -> str:
    """With types and defaults; `bare`: without the `self` or `cls` in front.

    `homes`: `id` of what is described -> its full name.
    """
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    known = vars(sys.modules[value.__module__]) if value.__module__ in sys.modules else {}
    factories = _factories(value)
    shown, star = [], False
    for one in list(found.parameters.values())[1 if bare else 0 :]:
        star = star or one.kind is one.VAR_POSITIONAL
        if one.kind is one.KEYWORD_ONLY and not star:
            shown, star = [*shown, "*"], True
        shown.append(_parameter(one, known, homes, factories.get(one.name)))
    made = inspect.isclass(value)  # what calling a class gives is said by its name
    returns = "" if made else _annotation(found.return_annotation, known, homes)
    return f"({', '.join(shown)})" + (f" -> {returns}" if returns else "")


def _factories(value: Any) -> dict[str, Callable[[], Any]]:
    """Field -> what makes its default."""
    made = fields(value) if inspect.isclass(value) and is_dataclass(value) else ()
    return {one.name: one.default_factory for one in made if one.default_factory is not MISSING}


def _default(value: Any, factory: Callable[[], Any] | None) -> str:
    """As one would write it; `...` for what is made anew and is long, or that nobody can tell."""
    if inspect.isclass(value):
        return value.__name__
    if repr(value) != "<factory>":
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    made = factory() if factory else ...
    shown = repr(dict(made) if isinstance(made, Mapping) else made)
    return shown if made is not ... and len(shown) <= LONGEST else "..."


def _parameter(
    one: inspect.Parameter,
    known: Mapping[str, Any],
    homes: Mapping[int, str],
    factory: Callable[[], Any] | None,
) -> str:
    text = str(one.replace(annotation=one.empty, default=one.empty))
    annotation = _annotation(one.annotation, known, homes)
    if annotation:
        text += f": {annotation}"
    if one.default is not one.empty:
        default = _default(one.default, factory)
        text += f" = {default}" if annotation else f"={default}"
    return text.replace("\n", " ")


def _annotation(value: Any, known: Mapping[str, Any], homes: Mapping[int, str]) -> str:
    """As it is written in the source, names that are described written out in full."""
    if value is inspect.Signature.empty:
        return ""
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    return NAME.sub(lambda one: _full(one[0], known, homes), text)


def _full(name: str, known: Mapping[str, Any], homes: Mapping[int, str]) -> str:
    first, *rest = name.split(".")
    thing = known.get(first)
    for part in rest:
        thing = getattr(thing, part, None)
    return homes.get(id(thing), name)
