"""`POST /v1/search`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes.strict import StrictRoute
from foveate.service.search import run_search
from foveate.service.wire.json import encode_json, json_bytes_response
from foveate.service.wire.search import SearchAnswer, SearchRequest

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post(
    "/search",
    response_model=SearchAnswer,
    responses=problem_responses(404, 409, 504, body=True),
)
async def search(
    request: Request, asked: SearchRequest, caller: Annotated[Caller, require_scope("search")]
) -> Response:
    """What the store finds for a question, before anything is assembled."""
    held: AppState = request.app.state.app_state

    def work() -> bytes:
        page = run_search(held, caller, asked)
        add_audit_fields(request.scope, state_root=page.state_root, principals=page.principals)
        return encode_json(page.record)

    return json_bytes_response(await held.pool.run(request, work))
