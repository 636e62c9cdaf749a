"""`POST /v1/replay` and `POST /v1/check-answer`: nothing is asked of a store."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import documented
from foveate.service.replayed import checked, replayed
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.check import CheckAnswer, CheckAsked
from foveate.service.wire.json import as_bytes, sent
from foveate.service.wire.replay import ReplayAnswer, ReplayAsked

router = APIRouter(prefix="/v1", tags=["reviews"], route_class=StrictRoute)
PROBLEMS = documented(504, body=True)


@router.post("/replay", response_model=ReplayAnswer, responses=PROBLEMS)
async def replay(
    request: Request, asked: ReplayAsked, caller: Annotated[Caller, caller_with("replay")]
) -> Response:
    """Assemble a bundle again and compare, or explain how two runs differ."""
    held = request.app.state.held
    return sent(await held.work.run(request, lambda: as_bytes(replayed(held, asked)), stops=True))


@router.post("/check-answer", response_model=CheckAnswer, responses=PROBLEMS)
async def check_answer(
    request: Request, asked: CheckAsked, caller: Annotated[Caller, caller_with("check")]
) -> Response:
    """Hold an answer against the context that it was given: markers, support, figures."""
    held = request.app.state.held
    return sent(await held.work.run(request, lambda: as_bytes(checked(held, asked)), stops=True))
