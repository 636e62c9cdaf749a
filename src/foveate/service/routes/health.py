"""`GET /healthz`, `GET /readyz`: no key needed, and nothing told but the state."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from foveate.service.problems import ProblemError, documented
from foveate.service.wire.json import answer

router = APIRouter(tags=["health"])


class State(BaseModel):
    """How it is."""

    status: str


@router.get("/healthz", response_model=State, responses=documented())
async def healthz() -> Response:
    """Whether the process answers at all."""
    return answer({"status": "ok"})


@router.get("/readyz", response_model=State, responses=documented())
async def readyz(request: Request) -> Response:
    """Whether new requests should be sent here; red as soon as it is told to stop.

    Red also while keys cannot be checked.
    """
    if not request.app.state.held.ready or request.app.state.guard.ring.fault is not None:
        raise ProblemError(
            503, "not-ready", "this process takes no new requests", headers={"Retry-After": "5"}
        )
    return answer({"status": "ready"})
