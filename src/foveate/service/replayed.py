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
from foveate.answer.wire import checked_to_json
from foveate.core.assemble import assemble
from foveate.core.errors import BadInput, BudgetTooSmall, FoveateError, StageBroke
from foveate.core.replay import bundle_of, check_kind, verdict
from foveate.core.types import Context, Inputs
from foveate.service.held import Held
from foveate.service.observe import told
from foveate.service.wire.check import CheckAsked
from foveate.service.wire.replay import ReplayAsked
from foveate.service.wire.shown import context_from

log = logging.getLogger("foveate.service")


def replayed(held: Held, asked: ReplayAsked) -> dict[str, Any]:
    """What a comparison finds; raises `BadInput`."""
    one = asked.bundle is not None
    if one == (asked.a is not None or asked.b is not None) or (asked.a is None) != (
        asked.b is None
    ):
        raise BadInput("give one bundle, or a and b to compare", field="bundle")
    with _damage():
        if one:
            check_kind(asked.bundle)
            inputs, context = _again(held, asked.bundle or {})
            found = verdict(asked.bundle or {}, bundle_of(inputs, context, held.door.known))
        else:
            check_kind(asked.a)
            check_kind(asked.b)
            found = verdict(asked.a or {}, asked.b or {})
    return {
        "identical": found.identical,
        "stage": found.stage,
        "first": found.first,
        "causes": list(found.causes),
        "lines": str(found).splitlines(),
    }


def checked(held: Held, asked: CheckAsked) -> dict[str, Any]:
    """The answer held against its context; raises `BadInput`."""
    held.door.language(asked.language)
    if (asked.context is None) == (asked.bundle is None):
        raise BadInput("give the answer's context, or its bundle", field="context")
    if asked.context is not None:
        context = context_from(asked.context, asked.query)
    else:
        context = _of_bundle(held, asked.bundle or {})
    found = check_answer(asked.answer, context, language=asked.language)
    told.checked(found, of="check-answer")
    return checked_to_json(found)


def _of_bundle(held: Held, bundle: Mapping[str, Any]) -> Context:
    with _damage():
        check_kind(bundle)
        _, context = _again(held, bundle)
    if context.text != bundle["text"]:
        raise BadInput("the bundle comes out otherwise here; /v1/replay says how", field="bundle")
    return context


def _again(held: Held, bundle: Mapping[str, Any]) -> tuple[Inputs, Context]:
    inputs = held.door.inputs(bundle)
    tokenizer = held.door.tokenizer(str(bundle["manifest"].get("tokenizer", "")))
    try:
        return inputs, assemble(inputs, tokenizer, around=held.around)
    except (BudgetTooSmall, StageBroke) as error:
        raise BadInput(f"the bundle cannot be assembled again: {error}") from error


@contextmanager
def _damage() -> Iterator[None]:
    """Whatever the core stumbles over is damage, for bundles may hold anything."""
    try:
        yield
    except FoveateError:
        raise
    except Exception as error:
        log.warning("a bundle cannot be read: %s", type(error).__name__, exc_info=error)
        raise BadInput("the bundle is damaged; make it again with /v1/assemble") from None
