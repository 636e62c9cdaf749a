"""Constructors that refuse an option they do not have, and say which one is near."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from foveate.core.errors import UnknownName

C = TypeVar("C", bound=type)


def refuse_unknown_options(component: C) -> C:
    """The class, whose constructor raises `UnknownName` for a misspelt keyword."""
    own: Any = component
    made = own.__init__
    known = tuple(signature(made).parameters)[1:]

    @wraps(made)
    def checked(self: Any, *args: Any, **options: Any) -> None:
        check_names(options, known)
        made(self, *args, **options)

    own.__init__ = checked
    return component


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `UnknownName` for the first that is not known."""
    for name in given:
        if name not in known:
            raise UnknownName("option", name, known)
