"""What the tools do: arguments that their schemas allow, and a desk → an answer.

Sync, and the same for every transport. The arguments name no file and no address: recipes and
formats come from closed lists, sources are shown and never opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from foveate.answer.check import check_answer
from foveate.around import Around
from foveate.assembler import Assembler, prepare_candidates
from foveate.core.errors import BadInput
from foveate.core.types import Context
from foveate.plan import Plan
from foveate.ports import Cache, Embedder, Store
from foveate.service.mcp import shown
from foveate.service.mcp.bounds import Bounds
from foveate.service.mcp.failures import Refused
from foveate.service.observe import told

HANDLE = ("query", "budget", "recipe", "format", "where", "limit")
"""The arguments that decide a context, beside candidates that the caller brings."""


Opened: TypeAlias = AbstractContextManager[tuple[Store, Embedder | None]]


class Settle(Protocol):
    """Names of a call as values, from closed lists."""

    def __call__(self, *, query: str, recipe: str | None, budget: int, format: str | None) -> Plan:
        """The plan; raises `UnknownName` or `BadOption`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a call works with: a store while it needs one, and the principals of whoever asks.

    `around`: who watches the steps.
    """

    opened: Callable[[], Opened]
    settle: Settle
    principals: tuple[str, ...] = ()
    cache: Cache | None = None
    around: Around | None = None
    bounds: Bounds = field(default_factory=Bounds)


def assemble(desk: Desk, asked: Mapping[str, Any]) -> shown.Answer:
    """The context for a question, from the store or from the candidates that came along."""
    try:
        context = _context(desk, asked, asked.get("candidates"))
    except BadInput as error:
        if error.field != "candidates" or "candidates" in asked:
            raise
        return shown.nothing(_settled(desk, asked))
    handle = {name: asked[name] for name in HANDLE if name in asked}
    handle["budget"] = context.budget.documents
    handle["hash"] = context.manifest.output_hash
    return shown.assembled(context, handle)


def search(desk: Desk, asked: Mapping[str, Any]) -> shown.Answer:
    """What the store finds."""
    query, where = asked["query"], asked.get("where")
    with desk.opened() as (store, embedder):
        limit = asked.get("limit", 10)
        assembler = Assembler(store=store, embedder=embedder, limit=limit, around=desk.around)
        return shown.searched(assembler.search(query, principals=desk.principals, where=where))


def check(desk: Desk, asked: Mapping[str, Any]) -> shown.Answer:
    """An answer held against its context, which is made again: the same question gives the same.

    Raises `Refused` where it does not, because the store or what the caller may read has changed.
    """
    handle = asked["context"]
    context = _context(desk, handle, asked.get("candidates"))
    if context.manifest.output_hash != handle["hash"]:
        raise Refused(
            "this context cannot be made again: the store has changed, or an argument did; call "
            "assemble again and check the answer against what that gives"
        )
    found = check_answer(asked["answer"], context)
    told.checked(found, of="mcp")
    return shown.checked(found, context)


def _settled(desk: Desk, asked: Mapping[str, Any]) -> Plan:
    return desk.settle(
        query=asked["query"],
        recipe=asked.get("recipe"),
        budget=asked.get("budget", desk.bounds.default),
        format=asked.get("format"),
    )


def _context(
    desk: Desk, asked: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]] | None
) -> Context:
    query = asked["query"]
    settled = _settled(desk, asked)
    if candidates is not None:
        made = prepare_candidates(
            query, candidates, settled, principals=desk.principals, around=desk.around
        )
        return made.context
    with desk.opened() as (store, embedder):
        assembler = Assembler(
            store=store,
            embedder=embedder,
            plan=settled,
            limit=asked.get("limit", desk.bounds.usually_found),
            cache=desk.cache,
            around=desk.around,
        )
        return assembler.assemble(query, principals=desk.principals, where=asked.get("where"))
