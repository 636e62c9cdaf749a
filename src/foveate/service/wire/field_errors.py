"""Which fields of a request are wrong, and how, in words of one kind.

The framework reports a field that may be of several types once for each of them, under names of
its own; here it is one field, where it stands in what was sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_MESSAGES = {
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "missing": "is missing",
    "string_pattern_mismatch": "is empty, or holds what it may not",
}
_REQUEST_PARTS = ("body", "query", "path")


def wrong_fields(errors: Iterable[Mapping[str, Any]], body: Any) -> list[dict[str, str]]:
    """`field` and `message` of each, the innermost first; an empty `field` is the body itself."""
    found: dict[str, list[str]] = {}
    for error in errors:
        messages = found.setdefault(field_path(error, body), [])
        said = _MESSAGES.get(error["type"]) or _rephrase(str(error["msg"]))
        if said not in messages:
            messages.append(said)
    named = [{"field": field, "message": ", or ".join(said)} for field, said in found.items()]
    return sorted(named, key=lambda one: -one["field"].count("."))


def field_path(error: Mapping[str, Any], body: Any) -> str:
    """`candidates.3.score`: the places that what was sent really has."""
    place = tuple(error["loc"])
    if place[:1] != ("body",):
        return ".".join(map(str, place[1:] if place[0] in _REQUEST_PARTS else place))
    here, kept = body, []
    for part in place[1:]:
        if (isinstance(here, dict) and part in here) or (
            isinstance(here, list) and isinstance(part, int) and part < len(here)
        ):
            here = here[part]
        elif error["type"] != "missing" or part != place[-1]:
            continue  # a name that the framework gives to one of several types
        kept.append(str(part))
    return ".".join(kept)


def _rephrase(message: str) -> str:
    """`Input should be a valid integer` as `must be a valid integer`."""
    return message.replace("Input should", "must").replace("String should", "must")
