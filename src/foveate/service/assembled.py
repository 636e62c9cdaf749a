"""What `POST /v1/assemble` does, once it is taken in: settle, search or take, assemble, spell.

Everything here is CPU work of one request, and runs on a thread of `work.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from foveate import plugins
from foveate.assembler import Assembler, pairs, prepare_candidates
from foveate.core.errors import BadInput
from foveate.core.replay import bundle_of
from foveate.core.types import Context, Inputs
from foveate.core.wire import context_to_json
from foveate.plan import Plan
from foveate.ports import Found
from foveate.prepare import Prepared, flow, run
from foveate.service.auth.caller import Caller
from foveate.service.held import Held
from foveate.service.wire.assemble import AssembleAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What was made, and how its candidates were found; None where they were sent along."""

    prepared: Prepared
    found: Found | None = None

    @property
    def context(self) -> Context:
        """The context alone."""
        return self.prepared.context


def assembled(held: Held, caller: Caller, asked: AssembleAsked) -> Assembled:
    """The context of a request; raises the errors of `foveate.assemble`."""
    principals = caller.reading_as(asked.principals)
    settled = plan_of(held, asked)
    if asked.candidates is not None:
        return _from_candidates(held, settled, asked, principals)
    return _from_store(held, caller.tenant, settled, asked, principals)


def plan_of(held: Held, asked: AssembleAsked) -> Plan:
    """The names of a request as values."""
    return held.door.plan(
        query=asked.query,
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


def as_json(made: Assembled, *, bundle: bool = False) -> dict[str, Any]:
    """As the command line prints it, and how the candidates were found."""
    record = context_to_json(made.context)
    if made.found is not None:
        record["found"] = found_as_json(made.found)
    if bundle:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        inputs = made.prepared.inputs
        record["bundle"] = bundle_of(inputs, made.context, plugins.known(), when=when)
    return record


def found_as_json(found: Found) -> dict[str, Any]:
    """How candidates were found, and how many."""
    return {
        "badge": found.badge,
        "lexical_matches": found.lexical_matches,
        "exact": found.exact,
        "candidates": len(found.candidates),
    }


def _from_candidates(
    held: Held, settled: Plan, asked: AssembleAsked, principals: tuple[str, ...]
) -> Assembled:
    candidates = asked.candidates or []
    most = held.settings.candidates
    if len(candidates) > most:
        raise BadInput(f"{len(candidates)} candidates; send {most} at the most", field="candidates")
    prepared = prepare_candidates(
        asked.query,
        candidates,
        settled,
        principals=principals,
        messages=_messages(asked),
        language=asked.language,
    )
    return Assembled(prepared=prepared)


def _from_store(
    held: Held, tenant: str, settled: Plan, asked: AssembleAsked, principals: tuple[str, ...]
) -> Assembled:
    with held.shelves.of(tenant) as shelf:
        assembler = Assembler(
            store=shelf.store,
            embedder=shelf.embedder,
            plan=settled,
            limit=asked.limit,
            depth=asked.depth,
        )
        found = assembler.search(asked.query, principals=principals, where=asked.where)
        inputs = Inputs(
            query=asked.query,
            candidates=found.candidates,
            recipe=settled.recipe,
            budget=settled.budget,
            principals=principals,
            messages=(*settled.messages, *pairs(_messages(asked))),
            language=asked.language,
            state_root=found.state_root,
            exact=found.exact,
            index=found.index,
            notes=found.notes,
        )
        return Assembled(prepared=run(flow(inputs, settled.tokenizer, shelf.store)), found=found)


def _messages(asked: AssembleAsked) -> list[dict[str, str]]:
    return [one.model_dump() for one in asked.messages]
