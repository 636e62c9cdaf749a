"""Errors become application/problem+json (RFC 9457), here alone.

| status | kind | when |
|---|---|---|
| 400 | bad-json, bad-input, bad-option, unknown-name | the request cannot be used |
| 403, 404, 405, 411, 413, 415 | as HTTP names them | |
| 422 | bad-fields, budget-too-small | a field is wrong; the budget is (`needed`) |
| 429, 503 | busy and limits | with Retry-After |
| 500 | fault | ours, or a plugin's stage |
| 502, 503 | outside | a model or the store |
| 504 | too-slow | it took longer than it may |
| 507 | full | the store has no room left |

A detail says what to do. It never holds a path, a URL, a key or a traceback, so external errors are
not quoted. `instance` is the request's id, under which the log has more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
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
from foveate.service.wire.errors import (
    ProblemError,
    busy_problem,
    own_error,
    shorten,
    wrong_fields,
)
from foveate.service.wire.json import encode_json
from foveate.stores.base import StoreFull

MEDIA_TYPE = "application/problem+json"
MAX_DETAIL_LENGTH = 1_000
"""Characters of a detail, which may quote a wrong value."""
MAX_FIELDS = 20
"""Wrong fields that are listed."""

log = logging.getLogger("foveate.service")


def problem_from_error(error: Exception) -> ProblemError:
    """The problem for an error; general words for what is not the caller's fault."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, BudgetTooSmall):
        figures: dict[str, Any] = {
            "budget": error.budget,
            "needed": error.needed,
            "unit": error.unit,
        }
        return ProblemError(422, "budget-too-small", _shorten(str(error)), **figures)
    if isinstance(error, InvalidRequest):
        kind, fields = _invalid_request_parts(error)
        return ProblemError(400, kind, _shorten(str(error)), **fields)
    if isinstance(error, StoreFull):
        detail = "the store has no room, for a deletion neither; nothing was changed: make room"
        return ProblemError(507, "full", detail)
    if isinstance(error, ExternalError):
        detail = "something that the service needs did not answer; try again later"
        return busy_problem(detail, kind="outside")
    if isinstance(error, HTTPException):
        return _problem_from_http(error)
    return ProblemError(500, "fault", "a fault in the service; its log has this request's id")


def problem_response(request: Request, error: Exception) -> Response:
    """The response for an error."""
    found = problem_from_error(error)
    body = encode_json(problem_to_json(request, error))
    return Response(body, found.status_code, media_type=MEDIA_TYPE, headers=found.headers)


def problem_to_json(request: Request, error: Exception) -> dict[str, Any]:
    """The problem as JSON; a fault or an external error is logged under the same id."""
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
    """Turn every error into a problem; `routes` give the allowed methods of a path."""
    app.state.routes = tuple(routes)
    for kind in (FoveateError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle_error)


LAYER_STATUSES = (400, 401, 403, 421, 429, 431, 500, 503)
"""The problems of the layers around the application (`guard.py`)."""
BODY_STATUSES = (408, 413, 415, 422)
"""The problems of a body."""


def problem_responses(*own: int, body: bool = False) -> dict[int | str, dict[str, Any]]:
    """The problems that a route can answer with; `openapi.py` describes them."""
    statuses = {*LAYER_STATUSES, *own, *(BODY_STATUSES if body else ())}
    return {status: {"description": status_sentence(status)} for status in sorted(statuses)}


def status_sentence(status: int) -> str:
    """A sentence for a status."""
    return _STATUS_SENTENCES.get(status, HTTPStatus(status).phrase)


async def _handle_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        error = _problem_from_fields(error)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error.headers = {**(error.headers or {}), "Allow": _allowed_methods(request)}
    return problem_response(request, error)


def _allowed_methods(request: Request) -> str:
    """The methods of a path over all its routes; the framework looks at the first alone."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return ", ".join(sorted(found))


def _problem_from_fields(error: RequestValidationError) -> ProblemError:
    """A problem for a body, query or path of the wrong shape; our own errors keep their words."""
    found = error.errors()
    for one in found:  # an error, its frames and their list of errors hold each other, and the body
        if isinstance(own := one.get("ctx", {}).get("error"), Exception):
            own.__traceback__ = None
    named = own_error(found, error.body)
    if named is not None:
        known = problem_from_error(named[0])
        known.extensions["field"] = named[1] or None
        return known
    whole = any(one["loc"] == ("body",) for one in found)
    if whole and isinstance(error.body, bytes):
        return ProblemError(415, "media-type", "send application/json")
    fields = wrong_fields(found, error.body)[:MAX_FIELDS]
    first = fields[0]
    detail = f"{first['field'] or 'the body'}: {first['message']}"
    return ProblemError(422, "bad-fields", _shorten(detail), field=first["field"], fields=fields)


def _problem_from_http(error: HTTPException) -> ProblemError:
    """An error of the framework, in our words for its status."""
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    detail = status_sentence(error.status_code)
    return ProblemError(error.status_code, kind, detail, headers=error.headers)


def _invalid_request_parts(error: InvalidRequest) -> tuple[str, dict[str, Any]]:
    """The kind of the problem, and its fields."""
    if isinstance(error, BadInput):
        return "bad-input", {"line": error.line, "field": error.field}
    if isinstance(error, UnknownName):
        return "unknown-name", {"name": _shorten(error.name), "known": list(error.known)}
    return "bad-option" if isinstance(error, BadOption) else "bad-request", {}


def _shorten(text: str) -> str:
    return shorten(text, MAX_DETAIL_LENGTH)


_STATUS_SENTENCES = {
    400: "The request cannot be used.",
    401: "A key is needed: Authorization: Bearer KEY.",
    403: "This key may not do that.",
    404: "Nothing has this address; /openapi.json lists those that there are.",
    405: "This address does not take that method.",
    408: "The body did not arrive in time.",
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
    507: "The store has no room left.",
    504: "It took longer than a request may.",
}
