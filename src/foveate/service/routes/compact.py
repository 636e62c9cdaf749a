"""`POST /v1/compact` and `POST /v1/expand`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request

from foveate.core.errors import BadOption
from foveate.pipeline.compact import DEFAULT_TOKENIZER, compact, expand
from foveate.pipeline.compact_json import (
    compacted_to_json,
    compaction_figures,
    expanded_to_json,
)
from foveate.pipeline.observers import combine_observers, observe_call
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes import pooled, state_of
from foveate.service.wire.body import StrictRoute
from foveate.service.wire.compaction import (
    CompactAnswer,
    CompactRequest,
    ExpandAnswer,
    ExpandRequest,
)

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)


@router.post("/compact", response_model=CompactAnswer, responses=problem_responses(504, body=True))
@pooled
def compact_list(
    request: Request, body: CompactRequest, caller: Annotated[Caller, require_scope("assemble")]
) -> dict[str, Any]:
    """Fit an agent's message list into a budget; originals of what is shortened are kept."""
    state, principals = state_of(request), caller.narrow_principals(body.principals)
    add_audit_fields(request.scope, principals=principals)
    if body.model is not None and body.tokenizer is not None:
        raise BadOption("give model or tokenizer, not both: a model brings its tokenizer")
    if body.model is None and body.budget is None:
        raise BadOption("give a budget in tokens, or a model to use its window")
    names = state.request_options
    known = names.model(body.model) if body.model is not None else None
    counter = body.tokenizer or (known.tokenizer if known else DEFAULT_TOKENIZER)
    options = {**dict(body), "model": known, "tokenizer": names.tokenizer(counter)}
    del options["principals"]
    call = partial(compact, **options)
    made = observe_call(combine_observers(state.observers), "compact", call, compaction_figures)
    if made.originals:
        state.originals.keep(made.originals, tenant=caller.tenant, principals=principals)
    return compacted_to_json(made)


@router.post("/expand", response_model=ExpandAnswer, responses=problem_responses(504, body=True))
@pooled
def expand_handle(
    request: Request, body: ExpandRequest, caller: Annotated[Caller, require_scope("assemble")]
) -> dict[str, Any]:
    """Show more of a tool's result that was shortened or left a message list."""
    state, principals = state_of(request), caller.narrow_principals(body.principals)
    add_audit_fields(request.scope, principals=principals)
    tokenizer = state.request_options.tokenizer(body.tokenizer or DEFAULT_TOKENIZER)
    options = {**dict(body), "tokenizer": tokenizer, "principals": principals}
    text = expand(originals=state.originals, tenant=caller.tenant, **options)
    return expanded_to_json(body.handle, text, tokenizer)
