"""One file for each family of endpoints; what they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from fastapi import Request, Response

from foveate.service.app_state import AppState
from foveate.service.wire.json import json_response


def state_of(request: Request) -> AppState:
    """What the service that got this request holds."""
    state: AppState = request.app.state.app_state
    return state


def pooled(work: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint that computes the work's value in the worker pool, and answers with it."""

    @wraps(work)
    async def endpoint(request: Request, **given: Any) -> Response:
        pool = state_of(request).pool
        return await pool.run(request, lambda: json_response(work(request, **given)))

    return endpoint
