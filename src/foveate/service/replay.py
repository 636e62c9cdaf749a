"""Bundles: assembled again, compared, or held against an answer. All of them are hostile.

Nothing is read but the bundle, and names in it pass the door. What the core cannot make anything
of is the bundle's fault; the log keeps what it was, so that a fault of ours is not lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from foveate.answer.check import check_answer
from foveate.answer.wire import check_to_json
from foveate.core.assemble import assemble
from foveate.core.errors import BadInput, BudgetTooSmall, FoveateError, StageBroke
from foveate.core.replay import build_bundle, check_bundle, compare_bundles
from foveate.core.request import Inputs
from foveate.core.types import Context
from foveate.service.app_state import AppState
from foveate.service.observe import answer_figures
from foveate.service.wire.check import CheckRequest
from foveate.service.wire.context_in import context_from_json
from foveate.service.wire.replay import ReplayRequest

log = logging.getLogger("foveate.service")


def run_replay(held: AppState, asked: ReplayRequest) -> dict[str, Any]:
    """What a comparison finds; raises `BadInput`."""
    one = asked.bundle is not None
    if one == (asked.a is not None or asked.b is not None) or (asked.a is None) != (
        asked.b is None
    ):
        raise BadInput("give one bundle, or a and b to compare", field="bundle")
    with _report_damage():
        if one:
            check_bundle(asked.bundle)
            inputs, context = _assemble_again(held, asked.bundle or {})
            found = compare_bundles(
                asked.bundle or {}, build_bundle(inputs, context, held.request_options.recipe_parts)
            )
        else:
            check_bundle(asked.a)
            check_bundle(asked.b)
            found = compare_bundles(asked.a or {}, asked.b or {})
    return {
        "identical": found.identical,
        "stage": found.stage,
        "first": found.first,
        "causes": list(found.causes),
        "lines": str(found).splitlines(),
    }


def run_check(held: AppState, asked: CheckRequest) -> dict[str, Any]:
    """The answer held against its context; raises `BadInput`."""
    held.request_options.language(asked.language)
    if (asked.context is None) == (asked.bundle is None):
        raise BadInput("give the answer's context, or its bundle", field="context")
    if asked.context is not None:
        context = context_from_json(asked.context, asked.query)
    else:
        context = _context_from_bundle(held, asked.bundle or {})
    found = check_answer(asked.answer, context, language=asked.language)
    answer_figures.record_check(found, of="check-answer")
    return check_to_json(found)


def _context_from_bundle(held: AppState, bundle: Mapping[str, Any]) -> Context:
    with _report_damage():
        check_bundle(bundle)
        _, context = _assemble_again(held, bundle)
    if context.text != bundle["text"]:
        raise BadInput("the bundle comes out otherwise here; /v1/replay says how", field="bundle")
    return context


def _assemble_again(held: AppState, bundle: Mapping[str, Any]) -> tuple[Inputs, Context]:
    inputs = held.request_options.parse_bundle(bundle)
    tokenizer = held.request_options.tokenizer(str(bundle["manifest"].get("tokenizer", "")))
    try:
        return inputs, assemble(inputs, tokenizer, observers=held.observers)
    except (BudgetTooSmall, StageBroke) as error:
        raise BadInput(f"the bundle cannot be assembled again: {error}") from error


@contextmanager
def _report_damage() -> Iterator[None]:
    """Whatever the core stumbles over is damage, for bundles may hold anything."""
    try:
        yield
    except FoveateError:
        raise
    except Exception as error:
        log.warning("a bundle cannot be read: %s", type(error).__name__, exc_info=error)
        raise BadInput("the bundle is damaged; make it again with /v1/assemble") from None
