"""What went wrong → application/problem+json (RFC 9457). The only place that maps the two.

| status | kind | when |
|---|---|---|
| 400 | bad-json, bad-input, bad-option, unknown-name | the request cannot be used |
| 403, 404, 405, 411, 413, 415 | as HTTP names them | |
| 422 | bad-fields, budget-too-small | a field is wrong; the budget is (`needed`) |
| 429, 503 | busy and limits | with Retry-After |
| 500 | fault | ours, or a plugin's stage |
| 502, 503 | outside | a model or the store |
| 504 | too-slow | it took longer than it may |

Rules: a detail says what to do; it never holds a path, a URL, a key or a trace back, so what
comes from outside is never quoted; `instance` is the request's id, under which the log has more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from foveate.core.errors import (
    BadInput,
    BadOption,
    BudgetTooSmall,
    ExternalError,
    FoveateError,
    InvalidRequest,
    UnknownName,
)
from foveate.service.wire.field_errors import field_path, wrong_fields
from foveate.service.wire.json import encode_json
from foveate.service.wire.problem import MEDIA_TYPE, Problem

MAX_DETAIL_LENGTH = 1_000
"""Characters of a detail; a wrong value can be a megabyte long."""
MAX_FIELDS = 20
"""Wrong fields that are listed."""

log = logging.getLogger("foveate.service")


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


def busy_problem(detail: str, *, after: int = 1, kind: str = "busy") -> ProblemError:
    """503: try again after so many seconds."""
    return ProblemError(503, kind, detail, headers={"Retry-After": str(after)})


def problem_from_error(error: Exception) -> ProblemError:
    """The problem that an error is; what is no fault of the caller is said in general words."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, BudgetTooSmall):
        return ProblemError(
            422,
            "budget-too-small",
            _shorten(str(error)),
            budget=error.budget,
            needed=error.needed,
            unit=error.unit,
        )
    if isinstance(error, InvalidRequest):
        return ProblemError(
            400,
            _invalid_request_kind(error),
            _shorten(str(error)),
            **_invalid_request_fields(error),
        )
    if isinstance(error, ExternalError):
        return busy_problem(
            "something that the service needs did not answer; try again later", kind="outside"
        )
    if isinstance(error, HTTPException):
        return _problem_from_http(error)
    return ProblemError(500, "fault", "a fault in the service; its log has this request's id")


def problem_response(request: Request, error: Exception) -> Response:
    """The answer that says what is wrong; what the operator must know goes to the log."""
    found = problem_from_error(error)
    body = encode_json(problem_to_json(request, error))
    return Response(body, found.status_code, media_type=MEDIA_TYPE, headers=found.headers)


def problem_to_json(request: Request, error: Exception) -> dict[str, Any]:
    """The problem as JSON; a fault and a failure outside go to the log, under the same id."""
    found = problem_from_error(error)
    instance = str(request.scope.get("state", {}).get("request_id", ""))
    if found.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and found is not error:
        log.error("request %s: %s", instance, type(error).__name__, exc_info=error)
    return {
        "type": f"urn:foveate:problem:{found.kind}",
        "title": HTTPStatus(found.status_code).phrase,
        "status": found.status_code,
        "detail": found.detail,
        "instance": instance,
        **{name: value for name, value in found.extensions.items() if value is not None},
    }


def install_error_handlers(app: FastAPI, routes: Iterable[BaseRoute] = ()) -> None:
    """Every error of a route leaves as a problem; of a method, with those that do: `routes`."""
    app.state.routes = tuple(routes)
    for kind in (FoveateError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle_error)


LAYER_STATUSES = (400, 401, 403, 421, 429, 431, 500, 503)
"""What the layers around the application answer with, whatever is asked (`guard.py`)."""
BODY_STATUSES = (408, 413, 415, 422)
"""What comes of a body besides."""


def problem_responses(*own: int, body: bool = False) -> dict[int | str, dict[str, Any]]:
    """The problems that a route can answer with; `openapi.py` describes them."""
    statuses = {*LAYER_STATUSES, *own, *(BODY_STATUSES if body else ())}
    return {status: {"description": status_sentence(status)} for status in sorted(statuses)}


def status_sentence(status: int) -> str:
    """A status in a sentence."""
    return _STATUS_SENTENCES.get(status, HTTPStatus(status).phrase)


async def _handle_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        error = _problem_from_fields(error)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error.headers = {**(error.headers or {}), "Allow": _allowed_methods(request)}
    return problem_response(request, error)


def _allowed_methods(request: Request) -> str:
    """The methods of this address: of all routes, where the framework looks at the first."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return ", ".join(sorted(found))


def _problem_from_fields(error: RequestValidationError) -> ProblemError:
    """A body, a query or a path that is not of the shape; our own checks speak for themselves."""
    found = error.errors()
    for one in found:  # an error, its frames and their list of errors hold each other, and the body
        if isinstance(own := one.get("ctx", {}).get("error"), Exception):
            own.__traceback__ = None
    for one in found:
        own = one.get("ctx", {}).get("error")
        if isinstance(own, FoveateError):
            known = problem_from_error(own)
            inner = known.extensions.get("field") or _unknown_field(own)
            known.extensions["field"] = (
                ".".join(filter(None, (field_path(one, error.body), inner))) or None
            )
            return known
    whole = any(one["loc"] == ("body",) for one in found)
    if whole and isinstance(error.body, bytes):
        return ProblemError(415, "media-type", "send application/json")
    fields = wrong_fields(found, error.body)[:MAX_FIELDS]
    first = fields[0]
    detail = f"{first['field'] or 'the body'}: {first['message']}"
    return ProblemError(422, "bad-fields", _shorten(detail), field=first["field"], fields=fields)


def _unknown_field(error: FoveateError) -> str:
    """The field that does not exist, where that is what is wrong."""
    if isinstance(error, UnknownName) and error.kind in ("field", "parameter"):
        return _shorten(error.name)
    return ""


def _problem_from_http(error: HTTPException) -> ProblemError:
    """What the framework refuses, in its words for the status."""
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return ProblemError(
        error.status_code, kind, status_sentence(error.status_code), headers=error.headers
    )


def _invalid_request_kind(error: InvalidRequest) -> str:
    named = {BadInput: "bad-input", BadOption: "bad-option", UnknownName: "unknown-name"}
    return next((kind for cls, kind in named.items() if isinstance(error, cls)), "bad-request")


def _invalid_request_fields(error: InvalidRequest) -> dict[str, Any]:
    if isinstance(error, BadInput):
        return {"line": error.line, "field": error.field}
    if isinstance(error, UnknownName):
        return {"name": _shorten(error.name), "known": list(error.known)}
    return {}


def _shorten(text: str) -> str:
    """Printable, in one line, and no longer than one reads."""
    if (
        len(text) > 4 * MAX_DETAIL_LENGTH
    ):  # of the middle nothing is shown, so nothing of it is looked at
        text = f"{text[: 2 * MAX_DETAIL_LENGTH]} {text[-2 * MAX_DETAIL_LENGTH :]}"
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))
    return (
        line
        if len(line) <= MAX_DETAIL_LENGTH
        else f"{line[: MAX_DETAIL_LENGTH // 2]} … {line[-MAX_DETAIL_LENGTH // 2 :]}"
    )


_STATUS_SENTENCES = {
    400: "The request cannot be used.",
    401: "A key is needed: Authorization: Bearer KEY.",
    403: "This key may not do that.",
    404: "There is no such thing here.",
    405: "This address does not take that method.",
    408: "The body did not arrive in time.",
    409: "The store changed meanwhile.",
    411: "Say the body's length.",
    413: "The body is too large.",
    415: "Send application/json.",
    421: "This service does not answer to that name.",
    422: "A field is wrong, or the budget is too small.",
    431: "The headers are too long.",
    429: "Too many requests; Retry-After says when to come again.",
    500: "A fault in the service.",
    502: "The model did not answer.",
    501: "The store of this service cannot do that.",
    503: "Busy, or not ready; Retry-After says when to come again.",
    504: "It took longer than a request may.",
}

__all__ = [
    "Problem",
    "ProblemError",
    "busy_problem",
    "install_error_handlers",
    "problem_from_error",
    "problem_response",
    "problem_responses",
]
