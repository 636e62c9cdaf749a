"""One file for each family of endpoints; what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request, Response

from foveate.service.app_state import AppState
from foveate.service.wire.json import encode_json, json_bytes_response


def state_of(request: Request) -> AppState:
    """What the service that got this request holds."""
    state: AppState = request.app.state.app_state
    return state


async def run_in_pool(request: Request, work: Callable[[], Any]) -> Response:
    """The work's value as JSON, computed in the worker pool."""
    pool = state_of(request).pool
    return json_bytes_response(await pool.run(request, lambda: encode_json(work())))
