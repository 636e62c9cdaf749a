"""What a filter may ask for, the same for every store. Pure."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadOption


def wanted_values(key: str, wanted: Any) -> list[Any]:
    """The values that `key` may have; raises `BadOption` for what is no value."""
    many = isinstance(wanted, list | tuple | set | frozenset)
    values = list(wanted) if many else [wanted]
    for value in values:
        if not isinstance(value, str | int | float):
            raise BadOption(
                f"where: {key!r} is {value!r}; give a string, a number, a boolean or a list of them"
            )
    return values
