"""`POST /v1/assemble`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate.service.app_state import AppState
from foveate.service.assemble import assemble_request, result_to_json
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.assemble import AssembleAnswer, AssembleRequest
from foveate.service.wire.json import encode_json, json_bytes_response

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post(
    "/assemble",
    response_model=AssembleAnswer,
    responses=problem_responses(404, 504, body=True),
)
async def assemble(
    request: Request, asked: AssembleRequest, caller: Annotated[Caller, require_scope("assemble")]
) -> Response:
    """Turn candidates, or what the store finds for the query, into a context that fits."""
    held: AppState = request.app.state.app_state

    def work() -> bytes:
        record = result_to_json(assemble_request(held, caller, asked), bundle=asked.bundle)
        add_audit_fields(
            request.scope, record["manifest"], principals=caller.narrow_principals(asked.principals)
        )
        return encode_json(record)

    return json_bytes_response(await held.pool.run(request, work, stops=True))
