"""`POST /v1/documents`: files of every format that `foveate index` reads, as a form.

PDF, Office, CSV and mail files are read by a process of their own within limits, as `foveate index`
does. A file may hold many documents. What cannot be read is reported; the others are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response

from foveate.core.errors import BadInput
from foveate.ingest.load import NO_TEXT, load_file
from foveate.ingest.loaders.limits import ReadOptions
from foveate.ingest.prepare import document_metadata
from foveate.ingest.sandbox import Sandbox
from foveate.ports import Document, LoadedDocument
from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.routes import state_of
from foveate.service.routes.documents import (
    WRITE_PROBLEMS,
    check_new_id,
    keep_document,
    read_limits,
)
from foveate.service.tenant_images import image_folder
from foveate.service.wire.answers import UploadAnswer
from foveate.service.wire.body import StrictRoute, parse_strict_json
from foveate.service.wire.json import json_response
from foveate.service.wire.multipart import FormPart, parse_form
from foveate.service.wire.requests import MAX_PRINCIPAL_LENGTH
from foveate.service.worker_pool import check_deadline

_FIELDS = ("file", "images", "principals", "metadata")

router = APIRouter(prefix="/v1", tags=["documents"], route_class=StrictRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadForm:
    """The files of a form, whether their images are kept, and what all their documents get."""

    files: tuple[FormPart, ...]
    principals: tuple[str, ...]
    metadata: dict[str, Any]
    images: bool = False


@router.post(
    "/documents",
    response_model=UploadAnswer,
    responses=WRITE_PROBLEMS,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {
                            "file": {
                                "type": "array",
                                "items": {"type": "string", "format": "binary"},
                                "description": "The files; a file's name is its document's id.",
                            },
                            "images": {
                                "type": "boolean",
                                "description": "Also keep images of PDF, Word and PowerPoint files "
                                "[false].",
                            },
                        },
                    }
                }
            },
        }
    },
)
async def upload_documents(
    request: Request, caller: Annotated[Caller, require_scope("write")]
) -> Response:
    """Keep the documents of files, in the place of those of these names.

    Beside the files, a form may have `principals`, one a part: who may read them (none: everybody
    in the tenant); `metadata`, a JSON object; and `images`, with which the images of PDF, Word and
    PowerPoint files are kept too.
    """
    state = state_of(request)
    form = read_form(request.headers.get("content-type", ""), await request.body())
    found, refused = await state.write_pool.run(
        request, lambda: read_files(state, caller, form), lane=caller.tenant
    )
    kept: list[dict[str, Any]] = []
    for name, loaded in found:
        try:
            keep = partial(keep_upload, state, caller, name, loaded, form)
            written = await state.write_pool.run(request, keep, lane=caller.tenant)
        except BadInput as error:
            refused.append({"file": name, "detail": str(error)})
            continue
        kept.append({**written, "left_out": dict(loaded.left_out)})
    root = kept[-1]["state_root"] if kept else ""
    add_audit_fields(request.scope, state_root=root)
    record = {
        "documents": [{k: v for k, v in one.items() if k != "state_root"} for one in kept],
        "refused": refused,
        "state_root": root,
    }
    return json_response(record)


def read_form(content_type: str, body: bytes) -> UploadForm:
    """The form; raises `BadInput` naming the field that is wrong."""
    parts = parse_form(content_type, body)
    for part in parts:
        if part.name not in _FIELDS:
            raise BadInput(f"unknown; known: {', '.join(_FIELDS)}", field=part.name)
    files = tuple(part for part in parts if part.name == "file")
    if not files or not all(part.file for part in files):
        raise BadInput("send at least one file, with its name", field="file")
    metadata: Any = {}
    for part in parts:
        if part.name == "metadata":
            metadata = parse_strict_json(part.data)
    if not isinstance(metadata, dict):
        raise BadInput("must be a JSON object", field="metadata")
    images = [part.data for part in parts if part.name == "images"]
    if not set(images) <= {b"true", b"false"}:
        raise BadInput("must be true or false", field="images")
    names = {_read_principal(part.data) for part in parts if part.name == "principals"}
    return UploadForm(
        files=files,
        principals=tuple(sorted(names)),
        metadata=metadata,
        images=b"true" in images,
    )


def _read_principal(data: bytes) -> str:
    try:
        name = data.decode()
    except UnicodeDecodeError:
        name = ""
    if not 0 < len(name) <= MAX_PRINCIPAL_LENGTH:
        message = f"must be 1 to {MAX_PRINCIPAL_LENGTH:,} characters of UTF-8, one name a part"
        raise BadInput(message, field="principals")
    return name


def read_files(
    state: AppState, caller: Caller, form: UploadForm
) -> tuple[list[tuple[str, LoadedDocument]], list[dict[str, str]]]:
    """The documents of the files, each with its id; and why a file, or a part of it, is none."""
    found, refused = list[tuple[str, LoadedDocument]](), list[dict[str, str]]()
    if form.images:
        image_folder(state, caller.tenant)  # refuses what cannot be kept, before a file is read
    options = ReadOptions(images=form.images)
    limits = read_limits(state.settings)
    with Sandbox(limits) as sandbox:
        for part in form.files:
            check_deadline()
            name = part.file or ""
            reasons, known, blank = list[str](), len(found), 0
            try:
                for loaded in load_file(part.data, Path(name), limits, sandbox, options):
                    if isinstance(loaded, BadInput):
                        reasons.append(str(loaded))
                    elif loaded.text.strip():
                        found.append((_document_id(name, loaded), loaded))
                    else:
                        blank += 1
            except BadInput as error:
                reasons.append(str(error))
            if len(found) > known and blank:
                reasons.append(f"{blank} of its documents without text")
            elif len(found) == known and not reasons:
                reasons.append(NO_TEXT)
            refused += [{"file": name, "detail": reason} for reason in reasons]
    return found, refused


def _document_id(name: str, loaded: LoadedDocument) -> str:
    return loaded.id if loaded.id and loaded.own_id else f"{name}{loaded.id}"


def keep_upload(
    state: AppState, caller: Caller, name: str, loaded: LoadedDocument, form: UploadForm
) -> dict[str, Any]:
    """Write a document of a file, as of a request; raises `BadInput`."""
    check_new_id(name)
    document = Document(
        id=name,
        source=loaded.source or name,
        text=loaded.text,
        title=loaded.title,
        summary=loaded.summary,
        modified_at=loaded.modified_at,
        principals=form.principals or loaded.principals,
        metadata={**document_metadata(loaded), **form.metadata},
    )
    return keep_document(state, caller, loaded, document)
