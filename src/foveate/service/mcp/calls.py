"""What the tools do: arguments that their schemas allow, and a desk → an answer.

Sync, and the same for every transport. The arguments name no file and no address: recipes and
formats come from closed lists, sources are shown and never opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from foveate.answer.check import check_answer
from foveate.core.errors import BadInput
from foveate.core.types import Context
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.observers import StepObserver
from foveate.pipeline.options import AssembleOptions, resolve_options
from foveate.ports import Cache, Embedder, Store
from foveate.service.mcp import results
from foveate.service.mcp.bounds import ToolLimits
from foveate.service.mcp.failures import ToolCallError
from foveate.service.observe import answer_figures

CONTEXT_ARGUMENTS = ("query", "budget", "recipe", "format", "where", "limit")
"""The arguments that decide a context, beside candidates that the caller brings."""


OpenStore: TypeAlias = AbstractContextManager[tuple[Store, Embedder | None]]


class OptionsOfCall(Protocol):
    """Names of a call as values, from closed lists."""

    def __call__(self, *, recipe: str | None, budget: int, format: str | None) -> AssembleOptions:
        """The options; raises `UnknownName` or `BadOption`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a call works with: a store while it needs one, and the principals of whoever asks.

    `observers`: who watches the steps.
    """

    open_store: Callable[[], OpenStore]
    options: OptionsOfCall
    principals: tuple[str, ...] = ()
    cache: Cache | None = None
    observers: StepObserver | None = None
    limits: ToolLimits = field(default_factory=ToolLimits)


def assemble(desk: ToolContext, asked: Mapping[str, Any]) -> results.ToolResult:
    """The context for a question, from the store or from the candidates that came along."""
    try:
        context = _build_context(desk, asked, asked.get("candidates"))
    except BadInput as error:
        if error.field != "candidates" or "candidates" in asked:
            raise
        return results.empty_result(resolve_options(_options(desk, asked)))
    handle = {name: asked[name] for name in CONTEXT_ARGUMENTS if name in asked}
    handle["budget"] = context.budget.documents
    handle["hash"] = context.manifest.output_hash
    return results.assemble_result(context, handle)


def search(desk: ToolContext, asked: Mapping[str, Any]) -> results.ToolResult:
    """What the store finds."""
    query, where = asked["query"], asked.get("where")
    with desk.open_store() as (store, embedder):
        assembler = Assembler(store=store, embedder=embedder, observers=desk.observers)
        found = assembler.search(
            query, limit=asked.get("limit", 10), principals=desk.principals, where=where
        )
        return results.search_result(found)


def check(desk: ToolContext, asked: Mapping[str, Any]) -> results.ToolResult:
    """An answer held against its context, which is made again: the same question gives the same.

    Raises `ToolCallError` where it does not, because the store or what the caller may read has
    changed.
    """
    handle = asked["context"]
    context = _build_context(desk, handle, asked.get("candidates"))
    if context.manifest.output_hash != handle["hash"]:
        raise ToolCallError(
            "this context cannot be made again: the store has changed, or an argument did; call "
            "assemble again and check the answer against what that gives"
        )
    found = check_answer(asked["answer"], context)
    answer_figures.record_check(found, of="mcp")
    return results.check_result(found, context)


def _options(desk: ToolContext, asked: Mapping[str, Any]) -> AssembleOptions:
    options = desk.options(
        recipe=asked.get("recipe"),
        budget=asked.get("budget", desk.limits.default_budget),
        format=asked.get("format"),
    )
    limit = asked.get("limit", desk.limits.default_limit)
    return replace(options, principals=desk.principals, where=asked.get("where"), limit=limit)


def _build_context(
    desk: ToolContext, asked: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]] | None
) -> Context:
    assembler = Assembler(options=_options(desk, asked), cache=desk.cache, observers=desk.observers)
    if candidates is not None:
        return assembler.assemble(asked["query"], candidates)
    with desk.open_store() as (store, embedder):
        return replace(assembler, store=store, embedder=embedder).assemble(asked["query"])
