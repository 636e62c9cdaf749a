"""What may be asked of a store, the same for every store. Pure.

Rules: half of a surrogate pair stands in no row, so that whoever asks for one (a filter, a reader,
an id, a hash) finds nothing, as with any other value that is not there.
"""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadOption


def is_encodable(text: str) -> bool:
    """Whether a row can hold the text: all but half of a surrogate pair is UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_filter_values(key: str, wanted: Any) -> list[Any]:
    """The values that `key` may have; raises `BadOption` for what is no value."""
    many = isinstance(wanted, list | tuple | set | frozenset)
    values = list(wanted) if many else [wanted]
    for value in values:
        if not isinstance(value, str | int | float):
            raise BadOption(
                f"where: {key!r} is {value!r}; give a string, a number, a boolean or a list of them"
            )
    return values
