"""What `POST /v1/assemble` does, once it is taken in: settle, search or take, assemble, spell.

Everything here is CPU work of one request, and runs on a thread of `work.py`. A context from the
store is kept in the cache with how its candidates were found; a bundle is never taken from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from foveate import plugins
from foveate.around import guarded
from foveate.assembler import prepare_candidates
from foveate.core.errors import BadInput
from foveate.core.replay import bundle_of
from foveate.core.types import Context, Inputs
from foveate.core.wire import context_to_json
from foveate.packed import key_of, packed, unpacked
from foveate.plan import Plan
from foveate.ports import Found
from foveate.prepare import Call, Flow, Prepared, flow, run, said_of
from foveate.service.auth.caller import Caller
from foveate.service.held import Held
from foveate.service.shelves import Shelf
from foveate.service.wire.assemble import AssembleAsked, GroundsAsked

FORM = b"1"  # of what is kept before a context; another one is not read


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What was made. `found`: how its candidates were found, None where they were sent along.

    `prepared` is None for a context that was kept.
    """

    context: Context
    prepared: Prepared | None = None
    found: Mapping[str, Any] | None = None


def assembled(held: Held, caller: Caller, asked: AssembleAsked) -> Assembled:
    """The context of a request; raises the errors of `foveate.assemble`."""
    settled = held.door.plan(
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
    messages = tuple((one.role, one.content) for one in asked.messages)
    return grounds(held, caller, asked.query, asked, settled, messages=messages, anew=asked.bundle)


def grounds(
    held: Held,
    caller: Caller,
    query: str,
    asked: GroundsAsked,
    settled: Plan,
    *,
    messages: tuple[tuple[str, str], ...] = (),
    anew: bool = False,
) -> Assembled:
    """The context for a query by a settled plan; `anew`: not from the cache."""
    principals = caller.reading_as(asked.principals)
    if asked.candidates is not None:
        return _from_candidates(
            held, query, asked, settled, principals=principals, messages=messages
        )
    with held.shelves.of(caller.tenant) as shelf:
        search = _Search(
            held=held,
            shelf=shelf,
            tenant=caller.tenant,
            query=query,
            asked=asked,
            principals=principals,
            plan=settled,
            messages=messages,
        )
        return search.assembled(anew=anew)


def as_json(made: Assembled, *, bundle: bool = False) -> dict[str, Any]:
    """As the command line prints it, and how the candidates were found."""
    record = context_to_json(made.context)
    if made.found is not None:
        record["found"] = made.found
    if bundle and made.prepared is not None:
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
    held: Held,
    query: str,
    asked: GroundsAsked,
    settled: Plan,
    *,
    principals: tuple[str, ...],
    messages: tuple[tuple[str, str], ...],
) -> Assembled:
    candidates = asked.candidates or []
    most = held.settings.candidates
    if len(candidates) > most:
        raise BadInput(f"{len(candidates)} candidates; send {most} at the most", field="candidates")
    prepared = prepare_candidates(
        query,
        candidates,
        settled,
        principals=principals,
        messages=[{"role": role, "content": content} for role, content in messages],
        language=asked.language,
        around=held.around,
    )
    return Assembled(context=prepared.context, prepared=prepared)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """A request that brings no candidates: the store's, or a context that was kept."""

    held: Held
    shelf: Shelf
    tenant: str
    query: str
    asked: GroundsAsked
    principals: tuple[str, ...]
    plan: Plan
    messages: tuple[tuple[str, str], ...]

    def assembled(self, *, anew: bool) -> Assembled:
        """From the cache, or anew."""
        seen: dict[str, Any] = {}
        steps = self._anew(seen) if anew else self._kept(seen)
        made = run(steps, guarded(self.held.around))
        if isinstance(made, Context):
            return Assembled(context=made, found=seen)
        return Assembled(context=made.context, prepared=made, found=seen)

    def _kept(self, seen: dict[str, Any]) -> Flow[Prepared | Context]:
        """As `Assembler` keeps contexts: under the state before, if it is the state after."""
        cache, store = self.held.cache_of(self.tenant), self.shelf.store
        if cache is None:
            return (yield from self._anew(seen))
        root = yield Call("root", lambda: store.state_root(principals=self.principals))
        key = self._key(root)
        data = yield Call("recall", lambda: cache.get(key), lambda d: {"hit": int(d is not None)})
        context = _recalled(data, key, seen)
        if context is not None:
            return context
        made = yield from self._anew(seen)
        after = yield Call("root", lambda: store.state_root(principals=self.principals))
        if root == after == made.context.manifest.state_root:
            value = FORM + json.dumps(seen).encode() + b"\n" + packed(made.context, key)
            yield Call("keep", lambda: cache.put(key, value), lambda _: {"bytes": len(value)})
        return made

    def _key(self, root: str) -> str:
        asked, embedder = self.asked, self.shelf.embedder
        scope = (
            "service",
            tuple(sorted(set(self.principals))),
            sorted((asked.where or {}).items(), key=repr),
            (asked.limit, asked.depth),
            self.messages,
            asked.language,
            embedder.name if embedder is not None else "",
        )
        return key_of(self.query, root, self.plan, *scope)

    def _anew(self, seen: dict[str, Any]) -> Flow[Prepared]:
        asked, plan, store = self.asked, self.plan, self.shelf.store
        found = yield from self._found()
        seen.update(found_as_json(found))
        inputs = Inputs(
            query=self.query,
            candidates=found.candidates,
            recipe=plan.recipe,
            budget=plan.budget,
            principals=self.principals,
            messages=(*plan.messages, *self.messages),
            language=asked.language,
            state_root=found.state_root,
            exact=found.exact,
            index=found.index,
            notes=found.notes,
        )
        return (yield from flow(inputs, plan.tokenizer, store, None, guarded(self.held.around)))

    def _found(self) -> Flow[Found]:
        asked, store, embedder = self.asked, self.shelf.store, self.shelf.embedder
        vector = None
        if embedder is not None:
            vector = (yield Call("embed", lambda: embedder.embed([self.query])))[0]
        found: Found = yield Call(
            "search",
            lambda: store.search(
                self.query,
                vector,
                limit=asked.limit,
                depth=asked.depth,
                principals=self.principals,
                where=asked.where,
            ),
            said_of,
        )
        return found


def _recalled(data: bytes | None, key: str, seen: dict[str, Any]) -> Context | None:
    """A context that was kept, and how its candidates were found; None for anything else."""
    if data is None or data[:1] != FORM:
        return None
    said, _, rest = data[1:].partition(b"\n")
    context = unpacked(rest, key)
    try:
        found = json.loads(said)
    except ValueError:
        return None
    if context is None or not isinstance(found, dict):
        return None
    seen.update(found)
    return context
