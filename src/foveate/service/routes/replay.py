"""`POST /v1/replay` and `POST /v1/check-answer`: nothing is asked of a store."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.replay import run_check, run_replay
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.check import CheckAnswer, CheckRequest
from foveate.service.wire.json import encode_json, json_bytes_response
from foveate.service.wire.replay import ReplayAnswer, ReplayRequest

router = APIRouter(prefix="/v1", tags=["reviews"], route_class=StrictRoute)
PROBLEMS = problem_responses(504, body=True)


@router.post("/replay", response_model=ReplayAnswer, responses=PROBLEMS)
async def replay(
    request: Request, asked: ReplayRequest, caller: Annotated[Caller, require_scope("replay")]
) -> Response:
    """Assemble a bundle again and compare, or explain how two runs differ."""
    held: AppState = request.app.state.app_state
    return json_bytes_response(
        await held.pool.run(request, lambda: encode_json(run_replay(held, asked)), stops=True)
    )


@router.post("/check-answer", response_model=CheckAnswer, responses=PROBLEMS)
async def check_answer(
    request: Request, asked: CheckRequest, caller: Annotated[Caller, require_scope("check")]
) -> Response:
    """Hold an answer against the context that it was given: markers, support, figures."""
    held: AppState = request.app.state.app_state
    return json_bytes_response(
        await held.pool.run(request, lambda: encode_json(run_check(held, asked)), stops=True)
    )
