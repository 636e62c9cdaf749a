"""`POST /v1/replay` and `POST /v1/check-answer`. No store is read.

A bundle is hostile input, and its names come from closed lists. A bundle that the core cannot
process is the caller's error; the log keeps the cause, so that a fault of ours is not lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Request

from foveate.answer.check import check_answer as check_citations
from foveate.answer.wire import check_to_json
from foveate.core.assemble import assemble
from foveate.core.errors import BadInput, BudgetTooSmall, FoveateError, StageBroke
from foveate.core.replay import build_bundle, check_bundle, compare_bundles
from foveate.core.request import Inputs
from foveate.core.types import Context
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.observe.request_state import record_check
from foveate.service.problems import problem_responses
from foveate.service.routes import pooled, state_of
from foveate.service.wire.answers import CheckAnswer, ReplayAnswer
from foveate.service.wire.body import StrictRoute
from foveate.service.wire.requests import CheckRequest, ReplayRequest

PROBLEMS = problem_responses(504, body=True)

router = APIRouter(prefix="/v1", tags=["reviews"], route_class=StrictRoute)
log = logging.getLogger("foveate.service")


@router.post("/replay", response_model=ReplayAnswer, responses=PROBLEMS)
@pooled
def replay(
    request: Request, body: ReplayRequest, caller: Annotated[Caller, require_scope("replay")]
) -> dict[str, Any]:
    """Assemble a bundle again and compare, or explain how two runs differ."""
    given = (body.bundle is not None, body.a is not None, body.b is not None)
    if given not in {(True, False, False), (False, True, True)}:
        raise BadInput("give one bundle, or a and b to compare", field="bundle")
    with _report_damage():
        if body.bundle is not None:
            state = state_of(request)
            check_bundle(body.bundle)
            inputs, context = _assemble_again(state, body.bundle)
            again = build_bundle(inputs, context, state.request_options.recipe_parts)
            state.request_options.hide_paths(again)
            found = compare_bundles(body.bundle, again)
        else:
            check_bundle(body.a)
            check_bundle(body.b)
            found = compare_bundles(body.a or {}, body.b or {})
    return {**found.to_json(), "lines": str(found).splitlines()}


@router.post("/check-answer", response_model=CheckAnswer, responses=PROBLEMS)
@pooled
def check_answer(
    request: Request, body: CheckRequest, caller: Annotated[Caller, require_scope("check")]
) -> dict[str, Any]:
    """Hold an answer against the context that it was given: markers, support, figures."""
    state = state_of(request)
    state.request_options.language(body.language)
    if (body.context is None) == (body.bundle is None):
        raise BadInput("give the answer's context, or its bundle", field="context")
    if body.context is not None:
        context = _read_context(body.context, body.query)
    else:
        context = _context_from_bundle(state, body.bundle or {})
    found = check_citations(body.answer, context, language=body.language, channel=body.channel)
    record_check(found, of="check-answer")
    return check_to_json(found)


def _read_context(record: Mapping[str, Any], query: str) -> Context:
    """The context that `/v1/assemble` answered; raises `BadInput` naming the wrong part."""
    try:
        return Context.from_dict(record, query=query)
    except BadInput as error:
        message = str(error).removeprefix(f"field {error.field!r}: ")
        raise BadInput(message, field=f"context.{error.field}") from None


def _context_from_bundle(state: AppState, bundle: Mapping[str, Any]) -> Context:
    with _report_damage():
        check_bundle(bundle)
        _, context = _assemble_again(state, bundle)
    if context.text != bundle["text"]:
        raise BadInput("the bundle comes out otherwise here; /v1/replay says how", field="bundle")
    return context


def _assemble_again(state: AppState, bundle: Mapping[str, Any]) -> tuple[Inputs, Context]:
    inputs = state.request_options.parse_bundle(bundle)
    tokenizer = state.request_options.tokenizer(str(bundle["manifest"].get("tokenizer", "")))
    try:
        return inputs, assemble(inputs, tokenizer, observers=state.observers)
    except (BudgetTooSmall, StageBroke) as error:
        raise BadInput(f"the bundle cannot be assembled again: {error}") from error


@contextmanager
def _report_damage() -> Iterator[None]:
    """Any unexpected error of the core is damage: bundles may hold anything."""
    try:
        yield
    except FoveateError:
        raise
    except Exception as error:
        log.warning("a bundle cannot be read: %s", type(error).__name__, exc_info=error)
        raise BadInput("the bundle is damaged; make it again with /v1/assemble") from None
