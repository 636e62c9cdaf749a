from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from foveate.core.errors import BadInput
from foveate.core.typed import NonBlank, read_value


@dataclass(frozen=True, kw_only=True)
class Inner:
    """A part of `Outer`, whose key is not its name."""

    name: NonBlank = field(metadata={"key": "_name"})
    share: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Outer:
    """One field of each kind."""

    parts: tuple[Inner, ...]
    span: tuple[int, int] = (0, 0)
    way: Literal["up", "down"] = "up"
    page: int | None = None
    sure: bool = True
    notes: dict[str, int | float | str] = field(default_factory=dict)
    rest: Any = None


GOOD = {"parts": [{"_name": "a", "share": 1}], "span": [1, 2], "notes": {"n": -1}, "other": 3}


def test_values_are_read_by_their_types():
    """X2: lists become tuples, keys that nobody names are passed over, defaults stay."""
    expected = Outer(parts=(Inner(name="a", share=1),), span=(1, 2), notes={"n": -1})

    assert read_value(Outer, GOOD) == expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parts": None}, "field 'parts': must be a list, not null"),
        ({"parts": [{}]}, "field 'parts[0]._name': is missing"),
        ({"parts": [{"_name": " "}]}, "field 'parts[0]._name': is blank"),
        ({"parts": [{"_name": "\ud800"}]}, "field 'parts[0]._name': holds a lone surrogate"),
        ({"parts": [{"_name": "a", "share": float("nan")}]}, "must be a finite number"),
        ({"span": [1]}, "field 'span': must be a list of 2"),
        ({"span": [1, -1]}, "field 'span[1]': must be a whole number of 0 or more"),
        ({"span": [1, True]}, "field 'span[1]': must be a whole number, not bool"),
        ({"way": ["up"]}, "field 'way': must be one of"),
        ({"page": "7"}, "field 'page': must be a whole number, not str"),
        ({"sure": 1}, "field 'sure': must be true or false, not int"),
        ({"notes": []}, "field 'notes': must be an object, not list"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(change, said):
    """X2: with its path and what is wanted, and never with the value."""
    with pytest.raises(BadInput) as refused:
        read_value(Outer, {**GOOD, **change})

    assert said in str(refused.value)


def test_a_value_that_is_no_object_has_no_place():
    """X2: the top of the value has no name."""
    with pytest.raises(BadInput, match="^must be an object, not int$"):
        read_value(Outer, 3)
    assert read_value(float, 10**400) == 10**400
