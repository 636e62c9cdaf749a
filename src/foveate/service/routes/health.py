"""`GET /healthz`, `GET /readyz`: no key needed, and nothing told but the state."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from foveate.service.problems import ProblemError, problem_responses
from foveate.service.wire.json import json_response

router = APIRouter(tags=["health"])


class State(BaseModel):
    """How it is."""

    status: str


@router.get("/healthz", response_model=State, responses=problem_responses())
async def healthz() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "ok"})


@router.get("/readyz", response_model=State, responses=problem_responses())
async def readyz(request: Request) -> Response:
    """Whether new requests should be sent here; red as soon as it is told to stop.

    Red also while keys cannot be checked.
    """
    if not request.app.state.app_state.is_ready or request.app.state.guard.ring.fault is not None:
        raise ProblemError(
            503, "not-ready", "this process takes no new requests", headers={"Retry-After": "5"}
        )
    return json_response({"status": "ready"})
