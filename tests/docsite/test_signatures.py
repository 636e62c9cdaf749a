"""Signatures of the reference, as one would write the call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest
from tools.docsite.signatures import signature

NAMELESS = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Well:
    """A value with defaults of every kind."""

    depth: int
    notes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    marks: list[int] = field(default_factory=lambda: list(range(40)))


def named(kind=str, *, of=NAMELESS):
    """A class as a default, and a value without a name."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Well, "(*, depth: int, notes: Mapping[str, int] = {}, marks: list[int] = ...)"),
        (named, "(kind=str, *, of=<object object>)"),
    ],
)
def test_defaults_are_shown_as_they_are_written(value, expected):
    """F1: what is made anew for each value is shown where it is short."""
    assert signature(value, {}) == expected
