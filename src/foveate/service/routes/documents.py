"""`/v1/documents`: list, read, write, delete."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from foveate.core.errors import BadInput
from foveate.service import documents
from foveate.service.audit import note
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import documented
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.document import (
    DocumentAsked,
    ListAnswer,
    ListAsked,
    WholeOut,
    WrittenAnswer,
)
from foveate.service.wire.json import as_bytes, sent

router = APIRouter(prefix="/v1", tags=["documents"], route_class=StrictRoute)
PROBLEMS = documented(404, 422, 501, 504)
WRITING = documented(404, 501, 504, body=True)

Name = Annotated[
    str,
    Path(
        min_length=1,
        max_length=1_024,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="The document's id; it may hold slashes.",
        examples=["manual/boiler.md"],
    ),
]


def _refuse_bytes(request: Request) -> None:
    """An address that is no UTF-8 would be read as another document's."""
    try:
        unquote_to_bytes(request.scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:
        raise BadInput("the address is not UTF-8", field="document_id") from None


@router.get("/documents", response_model=ListAnswer, responses=PROBLEMS)
async def list_documents(
    request: Request,
    asked: Annotated[ListAsked, Query()],
    caller: Annotated[Caller, caller_with("read")],
) -> Response:
    """The documents that the caller may read whole, by id, in pages."""
    held = request.app.state.held
    return sent(
        await held.work.run(request, lambda: as_bytes(documents.listed(held, caller, asked)))
    )


@router.get(
    "/documents/{document_id:path}",
    response_model=WholeOut,
    responses=PROBLEMS,
    dependencies=[Depends(_refuse_bytes)],
)
async def get_document(
    request: Request, document_id: Name, caller: Annotated[Caller, caller_with("read")]
) -> Response:
    """One document with its text."""
    held = request.app.state.held
    return sent(
        await held.work.run(request, lambda: as_bytes(documents.read(held, caller, document_id)))
    )


@router.put(
    "/documents/{document_id:path}",
    response_model=WrittenAnswer,
    responses=WRITING,
    dependencies=[Depends(_refuse_bytes)],
)
async def put_document(
    request: Request,
    document_id: Name,
    asked: DocumentAsked,
    caller: Annotated[Caller, caller_with("write")],
) -> Response:
    """Keep a document, in the place of the one of this id; repeating it changes nothing."""
    held = request.app.state.held
    ready = await held.work.run(
        request, lambda: documents.prepared(held, caller, document_id, asked)
    )

    def work() -> bytes:
        record = documents.written(held, caller, ready)
        note(request.scope, state_root=record["state_root"])
        return as_bytes(record)

    return sent(await held.writing.run(request, work))


@router.delete(
    "/documents/{document_id:path}",
    status_code=204,
    response_class=Response,
    responses=PROBLEMS,
    dependencies=[Depends(_refuse_bytes)],
)
async def delete_document(
    request: Request, document_id: Name, caller: Annotated[Caller, caller_with("write")]
) -> Response:
    """Delete a document; 204 whether it was there or not."""
    held = request.app.state.held
    await held.writing.run(request, lambda: documents.deleted(held, caller, document_id))
    return Response(status_code=204)
