"""What `POST /v1/assemble` does, once the request is read: search or take candidates, assemble.

Everything here is CPU work of one request, and runs on a thread of the worker pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from foveate import plugins
from foveate.core.context_json import context_to_json
from foveate.core.errors import BadInput
from foveate.core.replay import build_bundle
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.options import AssembleOptions
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.wire.assemble import AssembleRequest, ContextRequest


def assemble_request(held: AppState, caller: Caller, asked: AssembleRequest) -> AssemblyResult:
    """The context of a request; raises the errors of `foveate.assemble`."""
    options = held.request_options.options(
        recipe=asked.recipe,
        budget=asked.budget,
        tokenizer=asked.tokenizer,
        model=asked.model,
        format=asked.format,
        order=asked.order,
        language=asked.language,
        channel=asked.channel,
        prompt=asked.prompt,
    )
    messages = tuple((one.role, one.content) for one in asked.messages)
    options = replace(options, messages=messages)
    return assemble_evidence(held, caller, asked.query, asked, options, cached=not asked.bundle)


def assemble_evidence(
    held: AppState,
    caller: Caller,
    query: str,
    asked: ContextRequest,
    options: AssembleOptions,
    *,
    cached: bool = True,
) -> AssemblyResult:
    """The context for the candidates of a request, or for what the caller's store finds."""
    options = replace(
        options,
        principals=caller.narrow_principals(asked.principals),
        where=asked.where,
        limit=asked.limit,
        depth=asked.depth,
    )
    most = held.settings.candidates
    if asked.candidates is not None and len(asked.candidates) > most:
        given = len(asked.candidates)
        raise BadInput(f"{given} candidates; send {most} at the most", field="candidates")
    with assembler_for(held, caller, options, store=asked.candidates is None) as assembler:
        return assembler.run(query, asked.candidates, cached=cached)


@contextmanager
def assembler_for(
    held: AppState, caller: Caller, options: AssembleOptions, *, store: bool = True
) -> Iterator[Assembler]:
    """The service's ports for this caller; with the caller's store, if one is needed."""
    assembler = Assembler(options=options, taxonomy=held.taxonomy, observers=held.observers)
    if not store:
        yield assembler
        return
    with held.stores.borrow(caller.tenant) as shelf:
        yield replace(
            assembler,
            store=shelf.store,
            embedder=shelf.embedder,
            cache=held.cache_for_tenant(caller.tenant),
        )


def result_to_json(result: AssemblyResult, *, bundle: bool = False) -> dict[str, Any]:
    """The JSON of the command line, and how the candidates were found."""
    record = context_to_json(result.context)
    if result.found is not None:
        record["found"] = dict(result.found)
    if bundle and result.inputs is not None:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        record["bundle"] = build_bundle(
            result.inputs, result.context, plugins.component_registry(), when=when
        )
    return record
