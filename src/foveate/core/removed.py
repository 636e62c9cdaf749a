"""Names that foveate no longer has, and what to use instead: one table for every face.

A recipe file, a setting, a flag, an environment variable or a bundle that names one of them is
refused with the advice of this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REMOVED: Final[Mapping[str, str]] = {
    "policy coverage": "use policy 'value', worth per token",
    "option recipe.spotlight": "leave it out; texts are neutralised by every format",
}
"""A kind and a name as the user spells it, such as `policy coverage` → what to use instead."""


def advice(kind: str, name: str) -> str | None:
    """Say what to use instead of a name that was removed; None if it never existed.

    >>> advice("policy", "never_there") is None
    True
    """
    instead = REMOVED.get(f"{kind} {name}")
    return instead and f"{kind} {name!r} was removed: {instead}"
