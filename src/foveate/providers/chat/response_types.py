"""What a server sent in an answer, held to its type: the vendors' clients take anything.

Rules: a text that is none makes the answer none (`TypeError`, for the adapter's own trouble); a
count that is none was not said. What no encoding can hold is replaced, as decoders do it.
"""

from __future__ import annotations

from typing import Any


def parse_text(value: Any) -> str:
    r"""The text; empty for None. Raises `TypeError` for what is something else.

    >>> parse_text("nine"), parse_text(None), parse_text("nine \ud800")
    ('nine', '', 'nine \ufffd')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"a text is of type {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def parse_count(value: Any) -> int | None:
    """How many tokens; None for what is no whole number, or below 0.

    >>> parse_count(3), parse_count("3"), parse_count(-1), parse_count(True)
    (3, None, None, None)
    """
    return value if type(value) is int and value >= 0 else None
