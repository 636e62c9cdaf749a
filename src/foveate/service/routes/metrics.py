"""`GET /metrics`, for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=problem_responses(401, 403, 429, 500, 503),
)
async def metrics(
    request: Request, caller: Annotated[Caller, require_scope("metrics")]
) -> Response:
    """What the service has counted, of all callers together, in Prometheus' text format."""
    accept = request.headers.get("accept", "")
    body, media_type = await request.app.state.telemetry.metrics_text(accept)
    return Response(body, headers={"content-type": media_type})
