"""`/v1/documents`: list, read, write, delete."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from foveate.core.errors import BadInput
from foveate.service import documents
from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.document import (
    DocumentRequest,
    FullDocumentOut,
    ListAnswer,
    ListRequest,
    PutDocumentAnswer,
)
from foveate.service.wire.json import encode_json, json_bytes_response

router = APIRouter(prefix="/v1", tags=["documents"], route_class=StrictRoute)
PROBLEMS = problem_responses(404, 422, 501, 504)
WRITE_PROBLEMS = problem_responses(404, 501, 504, body=True)

DocumentId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=1_024,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="The document's id; it may hold slashes.",
        examples=["manual/boiler.md"],
    ),
]


def _check_utf8_path(request: Request) -> None:
    """An address that is no UTF-8 would be read as another document's."""
    try:
        unquote_to_bytes(request.scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:
        raise BadInput("the address is not UTF-8", field="document_id") from None


@router.get("/documents", response_model=ListAnswer, responses=PROBLEMS)
async def list_documents(
    request: Request,
    asked: Annotated[ListRequest, Query()],
    caller: Annotated[Caller, require_scope("read")],
) -> Response:
    """The documents that the caller may read whole, by id, in pages."""
    held: AppState = request.app.state.app_state
    return json_bytes_response(
        await held.pool.run(
            request, lambda: encode_json(documents.list_documents(held, caller, asked))
        )
    )


@router.get(
    "/documents/{document_id:path}",
    response_model=FullDocumentOut,
    responses=PROBLEMS,
    dependencies=[Depends(_check_utf8_path)],
)
async def get_document(
    request: Request, document_id: DocumentId, caller: Annotated[Caller, require_scope("read")]
) -> Response:
    """One document with its text."""
    held: AppState = request.app.state.app_state
    return json_bytes_response(
        await held.pool.run(
            request, lambda: encode_json(documents.read_document(held, caller, document_id))
        )
    )


@router.put(
    "/documents/{document_id:path}",
    response_model=PutDocumentAnswer,
    responses=WRITE_PROBLEMS,
    dependencies=[Depends(_check_utf8_path)],
)
async def put_document(
    request: Request,
    document_id: DocumentId,
    asked: DocumentRequest,
    caller: Annotated[Caller, require_scope("write")],
) -> Response:
    """Keep a document, in the place of the one of this id; repeating it changes nothing."""
    held: AppState = request.app.state.app_state
    lane = caller.tenant
    ready = await held.write_pool.run(
        request,
        lambda: documents.prepare_document(held, caller, document_id, asked),
        stops=True,
        lane=lane,
    )

    def work() -> bytes:
        record = documents.write_document(held, caller, ready)
        add_audit_fields(request.scope, state_root=record["state_root"])
        return encode_json(record)

    return json_bytes_response(await held.write_pool.run(request, work, lane=lane))


@router.delete(
    "/documents/{document_id:path}",
    status_code=204,
    response_class=Response,
    responses=PROBLEMS,
    dependencies=[Depends(_check_utf8_path)],
)
async def delete_document(
    request: Request, document_id: DocumentId, caller: Annotated[Caller, require_scope("write")]
) -> Response:
    """Delete a document; 204 whether it was there or not."""
    held: AppState = request.app.state.app_state
    await held.write_pool.run(
        request, lambda: documents.delete_document(held, caller, document_id), lane=caller.tenant
    )
    return Response(status_code=204)
