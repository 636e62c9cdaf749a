"""The way in from Python: `assemble` for candidates at hand, `Assembler` for ports and options."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

from foveate.core.checks import check_query
from foveate.core.errors import BadOption
from foveate.core.typed import check_fields
from foveate.core.types import Context
from foveate.pipeline.flow import (
    AssemblyResult,
    Ports,
    assemble_candidates,
    cached_from_store,
    search,
)
from foveate.pipeline.follow_up import add_earlier_words
from foveate.pipeline.inputs import candidates_of, check_store
from foveate.pipeline.observers import StepObserver, combine_observers
from foveate.pipeline.options import (
    AssembleKeywords,
    AssembleOptions,
    ResolvedOptions,
    check_options,
    resolve_options,
    show_keywords,
)
from foveate.pipeline.steps import Flow, arun, run
from foveate.ports import Cache, Embedder, Reranker, SearchResult, Store

if TYPE_CHECKING:
    from foveate.pipeline.compressor import Compressor
    from foveate.pipeline.taxonomy import Taxonomy


@show_keywords
def assemble(
    query: str,
    candidates: Any,
    options: AssembleOptions | None = None,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    taxonomy: Taxonomy | None = None,
    compressor: Compressor | None = None,
    observers: StepObserver | None = None,
    **keywords: Unpack[AssembleKeywords],
) -> Context:
    """Turn candidates into the context that is sent to a model.

    `candidates`: `Candidate`s, mappings with at least `text`, what LangChain, LlamaIndex or
    Haystack retrieved (docs/frameworks.md), the result of a Chroma or Qdrant query, or a pandas,
    polars or Arrow table. `options`, or its fields as keywords (docs/options.md). `embedder`: makes
    the vectors of candidates that have none, if a stage compares vectors. `compressor`: the model
    that is asked for shorter versions if the recipe wants them. `observers`: see every step, for
    example `foveate.Tracing()`; they change nothing.

    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> print(assemble("Who wrote it?", found, budget=99).text)
    [1] notes.md
    Ada wrote the first programme.

    Raises `BadInput`, `BadOption`, `UnknownName`, `BudgetTooSmall` or `StageBroke`.
    """
    assembler = Assembler(
        options=AssembleOptions() if options is None else options,
        embedder=embedder,
        reranker=reranker,
        taxonomy=taxonomy,
        compressor=compressor,
        observers=observers,
    )
    return assembler.run(query, candidates, **keywords).context


@show_keywords
async def aassemble(
    query: str,
    candidates: Any,
    options: AssembleOptions | None = None,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    taxonomy: Taxonomy | None = None,
    compressor: Compressor | None = None,
    observers: StepObserver | None = None,
    **keywords: Unpack[AssembleKeywords],
) -> Context:
    """`assemble` without blocking the event loop."""
    assembler = Assembler(
        options=AssembleOptions() if options is None else options,
        embedder=embedder,
        reranker=reranker,
        taxonomy=taxonomy,
        compressor=compressor,
        observers=observers,
    )
    return await assembler.aassemble(query, candidates, **keywords)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembler:
    """Ports and options: from a question to its context.

    `store`: where candidates come from, unless a call brings them; `embedder`: for the question's
    vector, and for candidates without one if a stage compares vectors. `options`: what every call
    starts from; keywords of a call replace its fields. `cache`: where contexts are kept; a cached
    context is the same to the last byte, and a write to the store puts it out of reach at once.
    `reranker`: scores the candidates again and decides their order; if it fails, the order of the
    search stays, and the trace says so. `taxonomy`: side knowledge that may enter if retrieval was
    not enough. `compressor`: the model that is asked for shorter versions of what the budget cost,
    if the recipe wants them. `observers`: see every search and assembly; they change nothing.

    Raises `BadOption` or `UnknownName` at once for options that cannot be resolved.
    """

    store: Store | None = field(default=None, kw_only=False)
    embedder: Embedder | None = None
    options: AssembleOptions = field(default_factory=AssembleOptions)
    cache: Cache | None = None
    reranker: Reranker | None = None
    taxonomy: Taxonomy | None = None
    compressor: Compressor | None = None
    observers: StepObserver | None = None

    def __post_init__(self) -> None:
        check_store(self.store)
        check_options(self.options)
        check_fields(self)

    @show_keywords
    def search(self, query: str, **keywords: Unpack[AssembleKeywords]) -> SearchResult:
        """What the store finds for the query, the best `keep` of it."""
        ports = self._ports()
        return run(self._search(ports, query, keywords), ports.observers, "retrieve")

    @show_keywords
    async def asearch(self, query: str, **keywords: Unpack[AssembleKeywords]) -> SearchResult:
        """`search` without blocking the event loop."""
        ports = self._ports()
        return await arun(self._search(ports, query, keywords), ports.observers, "retrieve")

    @show_keywords
    def assemble(
        self, query: str, candidates: Any = None, **keywords: Unpack[AssembleKeywords]
    ) -> Context:
        """The context for the candidates, or for what the store finds."""
        return self.run(query, candidates, **keywords).context

    @show_keywords
    async def aassemble(
        self, query: str, candidates: Any = None, **keywords: Unpack[AssembleKeywords]
    ) -> Context:
        """`assemble` without blocking the event loop."""
        return (await self.arun(query, candidates, **keywords)).context

    @show_keywords
    def run(
        self,
        query: str,
        candidates: Any = None,
        *,
        cached: bool = True,
        **keywords: Unpack[AssembleKeywords],
    ) -> AssemblyResult:
        """Like `assemble`, with the inputs that a bundle is made of.

        A context from the cache has no inputs; `cached=False` passes the cache over.
        """
        ports = self._ports(cached=cached)
        return run(self._assemble(ports, query, candidates, keywords), ports.observers)

    @show_keywords
    async def arun(
        self,
        query: str,
        candidates: Any = None,
        *,
        cached: bool = True,
        **keywords: Unpack[AssembleKeywords],
    ) -> AssemblyResult:
        """`run` without blocking the event loop."""
        ports = self._ports(cached=cached)
        return await arun(self._assemble(ports, query, candidates, keywords), ports.observers)

    @show_keywords
    def resolve(self, query: str = "", **keywords: Unpack[AssembleKeywords]) -> ResolvedOptions:
        """The recipe, budget and tokenizer of a call with these keywords."""
        return resolve_options(self.options.changed(keywords), query, taxonomy=self.taxonomy)

    def _ports(self, *, cached: bool = True) -> Ports:
        return Ports(
            store=self.store,
            embedder=self.embedder,
            reranker=self.reranker,
            taxonomy=self.taxonomy,
            compressor=self.compressor,
            cache=self.cache if cached else None,
            observers=combine_observers(self.observers),
        )

    def _search(self, ports: Ports, query: str, keywords: AssembleKeywords) -> Flow[SearchResult]:
        self._check_store()
        resolved = self.resolve(check_query(query), **keywords)
        asked, notes = add_earlier_words(query, resolved.history)
        found = yield from search(ports, asked, resolved)
        best = found.candidates[: resolved.options.keep]
        return replace(found, candidates=best, notes=(*found.notes, *notes))

    def _assemble(
        self, ports: Ports, query: str, candidates: Any, keywords: AssembleKeywords
    ) -> Flow[AssemblyResult]:
        resolved = self.resolve(check_query(query), **keywords)
        if candidates is not None:
            found = candidates_of(candidates)
            return (yield from assemble_candidates(ports, query, found, resolved))
        self._check_store()
        return (yield from cached_from_store(ports, query, resolved))

    def _check_store(self) -> None:
        if self.store is None:
            raise BadOption(
                "there are no candidates and no store to find them in; pass candidates such as "
                "[{'text': '…'}], or make an Assembler with store="
            )
