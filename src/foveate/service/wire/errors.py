"""What is wrong with a request, said in the same words over HTTP and to agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException

from foveate.core.errors import FoveateError, UnknownName


class ProblemError(HTTPException):
    """A problem to be sent as it is: `ProblemError(503, "busy", "…", headers={…}, needed=9)`."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(status, detail=detail, headers=dict(headers or {}))
        self.kind = kind
        self.extensions = more


def busy_problem(
    detail: str, *, after: int = 1, kind: str = "busy", status: int = 503
) -> ProblemError:
    """A problem with the seconds after which the request may be repeated."""
    return ProblemError(status, kind, detail, headers={"Retry-After": str(after)})


_MESSAGES = {
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "missing": "is missing",
}
NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
NO_CONTROL_CHARACTERS = r"^[^\x00-\x1f\x7f]+$"
_PATTERNS = {
    NOT_BLANK: "must be more than white space",
    NO_CONTROL_CHARACTERS: "must have no control characters",
}
_KIND = "must be a valid "
_REQUEST_PARTS = ("body", "query", "path")


def wrong_fields(errors: Iterable[Mapping[str, Any]], body: Any) -> list[dict[str, str]]:
    """The `field` and `message` of each error, the innermost first; an empty `field` is the body.

    The framework reports a field of several types once for each; here it is one field.
    """
    found: dict[str, list[str]] = {}
    for error in errors:
        messages = found.setdefault(field_path(error, body), [])
        said = (
            _MESSAGES.get(error["type"])
            or _PATTERNS.get(error.get("ctx", {}).get("pattern"))
            or _rephrase(str(error["msg"]))
        )
        if said not in messages:
            messages.append(said)
    named = [{"field": field, "message": _join(said)} for field, said in found.items()]
    return sorted(named, key=lambda one: -one["field"].count("."))


def _join(messages: list[str]) -> str:
    """One message; kinds of values as one list."""
    if all(said.startswith(_KIND) for said in messages):
        *kinds, last = (said.removeprefix(_KIND) for said in messages)
        return f"{_KIND}{', '.join(kinds)}{' or ' if kinds else ''}{last}"
    return ", or ".join(messages)


def own_error(errors: Iterable[Mapping[str, Any]], body: Any) -> tuple[FoveateError, str] | None:
    """The first error that a validator of ours raised, and the path of its field."""
    for error in errors:
        own = error.get("ctx", {}).get("error")
        if isinstance(own, FoveateError):
            inner = getattr(own, "field", None)
            if isinstance(own, UnknownName) and own.kind in ("field", "parameter", "argument"):
                inner = shorten(own.name, MAX_NAME_LENGTH)
            return own, ".".join(filter(None, (field_path(error, body), inner)))
    return None


def field_path(error: Mapping[str, Any], body: Any) -> str:
    """The path of a wrong field in the request, as in `candidates.3.score`."""
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
    return re.sub(r"^\w+ should", "must", message).partition(" after validation")[0]


MAX_NAME_LENGTH = 1_000
"""Characters of a name that is not known."""


def shorten(text: str, most: int) -> str:
    """One printable line, shortened in the middle where it is longer than `most`."""
    if len(text) > 4 * most:  # the middle is not shown
        text = f"{text[: 2 * most]} {text[-2 * most :]}"
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))
    if len(line) <= most:
        return line
    half = most // 2 - 2
    return f"{line[:half]} … {line[-half:]}"
