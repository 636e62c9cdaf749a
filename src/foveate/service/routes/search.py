"""`POST /v1/search`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.audit import note
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import documented
from foveate.service.routes.strict import StrictRoute
from foveate.service.searched import searched
from foveate.service.wire.json import as_bytes, sent
from foveate.service.wire.search import SearchAnswer, SearchAsked

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post(
    "/search",
    response_model=SearchAnswer,
    responses=documented(404, 409, 504, body=True),
)
async def search(
    request: Request, asked: SearchAsked, caller: Annotated[Caller, caller_with("search")]
) -> Response:
    """What the store finds for a question, before anything is assembled."""
    held = request.app.state.held

    def work() -> bytes:
        page = searched(held, caller, asked)
        note(request.scope, state_root=page.state_root, principals=page.principals)
        return as_bytes(page.record)

    return sent(await held.work.run(request, work))
