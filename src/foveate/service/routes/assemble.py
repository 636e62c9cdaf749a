"""`POST /v1/assemble` and `POST /v1/search`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request

from foveate import plugins
from foveate.core.candidates import candidates_from_items
from foveate.core.context_json import context_to_json
from foveate.core.errors import BadInput
from foveate.core.replay import build_bundle
from foveate.core.types import Chunk, Supplement
from foveate.pipeline.flow import AssemblyResult, search_to_json
from foveate.pipeline.options import AssembleOptions
from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.request_options import NEIGHBOUR_REACH
from foveate.service.routes import pooled, state_of
from foveate.service.tenant_images import image_bytes_to_json
from foveate.service.wire.answers import AssembleAnswer, SearchAnswer
from foveate.service.wire.body import StrictRoute
from foveate.service.wire.requests import (
    AssembleRequest,
    ContextRequest,
    SearchRequest,
)

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post(
    "/assemble", response_model=AssembleAnswer, responses=problem_responses(404, 504, body=True)
)
@pooled
def assemble(
    request: Request, body: AssembleRequest, caller: Annotated[Caller, require_scope("assemble")]
) -> dict[str, Any]:
    """Turn candidates, or what the store finds for the query, into a context that fits."""
    state = state_of(request)
    result = assemble_request(state, caller, body)
    record = result_to_json(request, caller, body, result, bundle=body.bundle)
    if body.image_bytes:
        lost: set[str] = set()
        images = image_bytes_to_json(state, caller.tenant, body, result.context, lost)
        record["image_bytes"] = images
        if lost:
            record["lost_images"] = sorted(lost)
    return record


def assemble_request(state: AppState, caller: Caller, body: AssembleRequest) -> AssemblyResult:
    """The context of a request; raises the errors of `foveate.assemble`."""
    options = state.request_options.options_from(body)
    return assemble_evidence(state, caller, body.query, body, options, cached=not body.bundle)


def assemble_evidence(
    state: AppState,
    caller: Caller,
    query: str,
    body: ContextRequest,
    options: AssembleOptions,
    *,
    cached: bool = True,
) -> AssemblyResult:
    """The context for the candidates of a request, or for what the caller's store finds."""
    most = state.settings.candidates
    options = replace(
        options,
        principals=caller.narrow_principals(body.principals),
        neighbours=_read_neighbours(body.neighbours, 2 * NEIGHBOUR_REACH * most),
        supplements=tuple(
            Supplement(**{**one.model_dump(), "principals": tuple(one.principals)})
            for one in body.supplements
        ),
    )
    candidates = body.candidates
    if candidates is not None and len(candidates) > most:
        raise BadInput(f"{len(candidates)} candidates; send {most} at the most", field="candidates")
    with state.assembler(caller.tenant, options, store=candidates is None) as assembler:
        return assembler.run(query, candidates, cached=cached)


def _read_neighbours(rows: list[Any], most: int) -> tuple[Chunk, ...]:
    if len(rows) > most:
        raise BadInput(f"{len(rows)} neighbours; send {most} at the most", field="neighbours")
    try:
        return tuple(one.chunk for one in candidates_from_items(rows))
    except BadInput as error:
        raise BadInput(f"neighbours: {error}", field=error.field) from error


def result_to_json(
    request: Request,
    caller: Caller,
    body: ContextRequest,
    result: AssemblyResult,
    *,
    bundle: bool = False,
) -> dict[str, Any]:
    """The JSON of the command line, and how the candidates were found; noted for the audit."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    record = context_to_json(result.context)
    record["manifest"]["when"] = when
    names = state_of(request).request_options
    names.hide_paths(record)
    add_audit_fields(
        request.scope, record["manifest"], principals=caller.narrow_principals(body.principals)
    )
    if result.found is not None:
        record["found"] = dict(result.found)
    if bundle and result.inputs is not None:
        record["bundle"] = build_bundle(
            result.inputs, result.context, plugins.component_registry(), when=when
        )
        names.hide_paths(record["bundle"])
    return record


@router.post(
    "/search", response_model=SearchAnswer, responses=problem_responses(404, 504, body=True)
)
@pooled
def search(
    request: Request, body: SearchRequest, caller: Annotated[Caller, require_scope("search")]
) -> dict[str, Any]:
    """What the store finds for a question, before anything is assembled."""
    principals = caller.narrow_principals(body.principals)
    options = AssembleOptions(
        limit=body.limit, depth=body.depth, principals=principals, where=body.where
    )
    with state_of(request).assembler(caller.tenant, options) as assembler:
        found = replace(assembler, reranker=None).search(body.query)
    add_audit_fields(request.scope, state_root=found.state_root, principals=principals)
    return search_to_json(body.query, found)
