"""`/v1/documents`: documents of a tenant, written with our own loaders and chunker.

A writer may replace and delete documents that it may not read, and gets the same response in each
case. Unchanged content is not written again. These documents have no file, so no folder's index
deletes them.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from blake3 import blake3
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from starlette.convertors import PathConvertor, register_url_convertor

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.core.images import image_hash
from foveate.ingest import Enrich
from foveate.ingest.document_task import embed_texts
from foveate.ingest.enrich import enrich_document
from foveate.ingest.load import load_where_safe
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.prepare import Settings as Cutting
from foveate.ingest.prepare import build_chunks, content_digest
from foveate.ingest.sandbox import Sandbox
from foveate.plugins import tokenizer
from foveate.ports import Document, ListableStore, LoadedDocument
from foveate.providers.tokenizers.simple import CallbackTokenizer
from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes import pooled, state_of
from foveate.service.settings import Settings
from foveate.service.tenant_images import check_metadata, keep_images
from foveate.service.tenant_stores import TenantStore
from foveate.service.wire.answers import FullDocumentOut, ListAnswer, PutDocumentAnswer
from foveate.service.wire.body import StrictRoute
from foveate.service.wire.errors import NO_CONTROL_CHARACTERS, ProblemError, shorten
from foveate.service.wire.json import json_response
from foveate.service.wire.requests import DocumentRequest, ListRequest
from foveate.service.worker_pool import check_deadline

TOKENIZER = "cl100k_base"
_SUFFIXES = {"text/plain": ".txt", "text/markdown": ".md", "text/html": ".html"}
_NO_FILE_NAME = "\0"
"""As a file's name, which loaders take for a title where the text has none; no text holds it."""


def read_limits(settings: Settings) -> Limits:
    """The bounds on reading a document; on its seconds in the sandbox too."""
    return Limits(chunks=settings.chunks, seconds=max(1, min(int(settings.seconds), 120)))


def keep_text(state: AppState, caller: Caller, name: str, body: DocumentRequest) -> dict[str, Any]:
    """Keep the document of a request under this id; raises `BadInput`."""
    return keep_document(state, caller, *_load_document(name, body, read_limits(state.settings)))


def keep_document(
    state: AppState, caller: Caller, loaded: LoadedDocument, document: Document
) -> dict[str, Any]:
    """Prepare the document within the deadline, and write it in one transaction.

    The response does not depend on what was there. Raises `BadInput`.
    """
    check_metadata(state, document.metadata)
    counter = _timed(tokenizer(TOKENIZER))
    with state.stores.borrow(caller.tenant) as opened:
        how = _chunk_settings(state.settings, counter.fingerprint, opened)
        document = replace(document, content_hash=_content_hash(document, loaded, how))
        there = _listing_store(opened).document(document.id, principals=caller.principals)
        pieces, counts = build_chunks(loaded, document, how, counter, read_limits(state.settings))
        check_deadline()
        described, chunks = enrich_document(document, pieces, how.enrich, counter, how.language)
        keep_images(state, caller.tenant, [image.data for image in loaded.images])
        if there is None or there.content_hash != document.content_hash:
            texts = [chunk.text for chunk in pieces]
            vectors = embed_texts(opened.embedder, texts, check_deadline)
            put = partial(opened.writer().put, described, fingerprint=counter.fingerprint)
            try:
                put(chunks, vectors, counts)
            except BadInput as error:
                if error.field != "id":
                    raise
                # Another document has the usual ids.
                mark = blake3(document.id.encode()).hexdigest(8)
                put([replace(one, id=f"{one.id}#{mark}") for one in chunks], vectors, counts)
        return {
            "id": document.id,
            "content_hash": document.content_hash,
            "chunks": len(chunks),
            "state_root": opened.store.state_root(principals=caller.principals),
        }


def _document_to_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "summary": document.summary,
        "modified_at": document.modified_at.isoformat() if document.modified_at else None,
        "principals": list(document.principals),
        "metadata": dict(document.metadata),
        "content_hash": content_digest(document.content_hash),
    }


def _listing_store(opened: TenantStore) -> ListableStore:
    """The store, if it can list documents; raises a 501 problem."""
    if not isinstance(opened.store, ListableStore):
        raise ProblemError(501, "not-implemented", "this service's store cannot show documents")
    return opened.store


def _timed(counter: Tokenizer) -> Tokenizer:
    """The tokenizer, which counts nothing after the deadline; chunks are counted when cut."""

    def count(text: str) -> int:
        check_deadline()
        return counter.count(text)

    return CallbackTokenizer(name=counter.name, fingerprint=counter.fingerprint, tokens=count)


def _load_document(
    name: str, body: DocumentRequest, limits: Limits
) -> tuple[LoadedDocument, Document]:
    path = Path(f"{_NO_FILE_NAME}{_SUFFIXES[body.media_type]}")
    with Sandbox(limits) as sandbox:
        (loaded,) = load_where_safe(body.text.encode(), path, limits, sandbox)
    if isinstance(loaded, BadInput):
        raise loaded
    if not loaded.text.strip():
        raise BadInput("holds nothing to read", field="text")
    own = loaded.title if loaded.title != _NO_FILE_NAME else name
    return loaded, Document(
        id=name,
        source=body.source or name,
        text=loaded.text,
        title=body.title if body.title is not None else own,
        summary=body.summary if body.summary is not None else loaded.summary,
        modified_at=_parse_time(body.modified_at) or loaded.modified_at,
        principals=tuple(sorted(set(body.principals))) or loaded.principals,
        metadata={**loaded.metadata, **body.metadata},
    )


def _content_hash(document: Document, loaded: LoadedDocument, how: Cutting) -> str:
    """A hash of all that is stored, and of the chunk settings."""
    values = [getattr(document, field) for field in Document.__dataclass_fields__]
    sections = [(each.start, each.end, each.path) for each in loaded.sections]
    images = [(image_hash(i.data), i.start, i.end, i.page, i.caption) for i in loaded.images]
    line = json.dumps([how.key(), values, sections, *images], sort_keys=True, default=str)
    return blake3(f"put\n{line}".encode()).hexdigest(16)


def _parse_time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput("must be an ISO 8601 date and time", field="modified_at") from None


def _chunk_settings(settings: Settings, fingerprint: str, opened: TenantStore) -> Cutting:
    """The settings that `foveate index` uses too."""
    return Cutting(
        size=settings.size,
        overlap=settings.overlap,
        language="en",
        fingerprint=fingerprint,
        embedder=opened.embedder.name if opened.embedder is not None else "",
        principals=(),
        enrich=Enrich(summaries=settings.summaries, questions=settings.questions),
    )


router = APIRouter(prefix="/v1", tags=["documents"], route_class=StrictRoute)
PROBLEMS = problem_responses(404, 422, 501, 504, 507)
WRITE_PROBLEMS = problem_responses(404, 501, 504, 507, body=True)

MAX_ID_LENGTH = 1_024
_ABOUT_ID: Any = {
    "min_length": 1,
    "description": "The document's id; it may hold slashes.",
    "examples": ["manual/boiler.md"],
}
DocumentId = Annotated[str, PathParameter(**_ABOUT_ID)]
"""Of whatever is in the store, so that all of it can be shown and deleted."""
NewDocumentId = Annotated[
    str, PathParameter(max_length=MAX_ID_LENGTH, pattern=NO_CONTROL_CHARACTERS, **_ABOUT_ID)
]


class _AnyText(PathConvertor):
    regex = "(?s:.*)"  # the framework's own ends at a line break


register_url_convertor("any", _AnyText())
AT_ID = "/documents/{document_id:any}"


def check_new_id(document_id: str) -> None:
    """Raise `BadInput` for an id that a document may not be put under."""
    if not re.fullmatch(NO_CONTROL_CHARACTERS, document_id) or len(document_id) > MAX_ID_LENGTH:
        message = f"must be 1 to {MAX_ID_LENGTH:,} characters without control characters"
        raise BadInput(f"{message}, not {shorten(document_id, 60)!r}", field="document_id")


@router.get("/documents", response_model=ListAnswer, responses=PROBLEMS)
@pooled
def list_documents(
    request: Request,
    page: Annotated[ListRequest, Query()],
    caller: Annotated[Caller, require_scope("read")],
) -> dict[str, Any]:
    """The documents that the caller may read whole, by id, in pages."""
    with state_of(request).stores.borrow(caller.tenant) as opened:
        found = _listing_store(opened).listed(
            after=page.cursor, limit=page.limit + 1, principals=caller.principals
        )
    more, found = len(found) > page.limit, found[: page.limit]
    return {
        "documents": [_document_to_json(document) for document in found],
        "next": found[-1].id if more else None,
    }


@router.get(AT_ID, response_model=FullDocumentOut, responses=PROBLEMS)
@pooled
def get_document(
    request: Request, document_id: DocumentId, caller: Annotated[Caller, require_scope("read")]
) -> dict[str, Any]:
    """One document with its text."""
    with state_of(request).stores.borrow(caller.tenant) as opened:
        found = _listing_store(opened).document(document_id, principals=caller.principals)
    if found is None:
        raise ProblemError(404, "not-found", "there is no such document")
    return {**_document_to_json(found), "text": found.text}


@router.put(AT_ID, response_model=PutDocumentAnswer, responses=WRITE_PROBLEMS)
async def put_document(
    request: Request,
    document_id: NewDocumentId,
    body: DocumentRequest,
    caller: Annotated[Caller, require_scope("write")],
) -> Response:
    """Keep a document, in the place of the one of this id; repeating it changes nothing."""
    state = state_of(request)

    def work() -> Response:
        record = keep_text(state, caller, document_id, body)
        add_audit_fields(request.scope, state_root=record["state_root"])
        return json_response(record)

    return await state.write_pool.run(request, work, lane=caller.tenant)


@router.delete(AT_ID, status_code=204, response_class=Response, responses=PROBLEMS)
async def delete_document(
    request: Request, document_id: DocumentId, caller: Annotated[Caller, require_scope("write")]
) -> Response:
    """Delete a document; 204 whether it was there or not."""
    state = state_of(request)

    def work() -> None:
        with state.stores.borrow(caller.tenant) as opened:
            opened.writer().delete(document_id)

    await state.write_pool.run(request, work, lane=caller.tenant)
    return Response(status_code=204)
