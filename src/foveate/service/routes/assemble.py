"""`POST /v1/assemble`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.assembled import as_json, assembled
from foveate.service.audit import note
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import documented
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.assemble import AssembleAnswer, AssembleAsked
from foveate.service.wire.json import as_bytes, sent

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post(
    "/assemble",
    response_model=AssembleAnswer,
    responses=documented(404, 504, body=True),
)
async def assemble(
    request: Request, asked: AssembleAsked, caller: Annotated[Caller, caller_with("assemble")]
) -> Response:
    """Turn candidates, or what the store finds for the query, into a context that fits."""
    held = request.app.state.held

    def work() -> bytes:
        record = as_json(assembled(held, caller, asked), bundle=asked.bundle)
        note(request.scope, record["manifest"], principals=caller.reading_as(asked.principals))
        return as_bytes(record)

    return sent(await held.work.run(request, work, stops=True))
