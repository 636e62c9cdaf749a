"""The way in from Python: `assemble` for candidates at hand, `Assembler` for a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from foveate.around import Around, Guarded, guarded
from foveate.candidates import candidates_of
from foveate.core import zones
from foveate.core.contracts import Format, Tokenizer
from foveate.core.types import Chunk, Context, Inputs, Recipe, Supplement, Vector
from foveate.given import pairs, question, reader
from foveate.packed import key_of, packed, unpacked
from foveate.plan import Channel, Plan, plan
from foveate.ports import Cache, Embedder, Found, Reranker, Store
from foveate.prepare import Call, Flow, Prepared, arun, flow, run, said_of
from foveate.rerank import FAILED, kept, rerank
from foveate.shortener import Shortener
from foveate.taxonomy import Taxonomy, gated

__all__ = ["Assembler", "assemble", "pairs", "prepare_candidates", "reader"]


def assemble(
    query: str,
    candidates: Any,
    *,
    budget: int | zones.Budget | None = None,
    recipe: str | Recipe = "default",
    tokenizer: str | Tokenizer | None = None,
    model: str | None = None,
    format: str | Format | None = None,
    order: str | None = None,
    principals: Iterable[str] = (),
    neighbours: Iterable[Chunk] = (),
    supplements: Iterable[Supplement] = (),
    messages: Iterable[Mapping[str, Any]] = (),
    intent: str = "",
    query_embedding: Vector | None = None,
    instant: datetime | None = None,
    language: str = "en",
    channel: Channel = "text",
    prompt: str | None = None,
    shortener: Shortener | None = None,
    around: Around | None = None,
) -> Context:
    """Turn candidates into the context that is sent.

    `candidates`: `Candidate`s, mappings with at least `text`, what LangChain, LlamaIndex or
    Haystack retrieved (docs/frameworks.md), or a pandas, polars or Arrow table.
    `budget`: tokens for the documents, or a `Budget`. `recipe`: a name, a TOML file's path, or a
    `Recipe`. `principals`: who asks; what is restricted to others never enters. `messages`: chat
    messages that share the model's window, and `prompt` the system prompt (see `messages`).
    `shortener`: the model that is asked for shorter versions where the recipe wants them.
    `around`: who watches the steps, `foveate.Tracing()` for one; it changes nothing.

    >>> found = [{"text": "Ada wrote the first programme.", "source": "notes.md"}]
    >>> print(assemble("Who wrote it?", found, budget=99).text)
    [1] Source: notes.md
    Ada wrote the first programme.

    Raises `BadInput`, `BadOption`, `UnknownName`, `BudgetTooSmall` or `StageBroke`.
    """
    settled = plan(
        recipe=recipe,
        budget=budget,
        tokenizer=tokenizer,
        model=model,
        format=format,
        order=order,
        query=query,
        channel=channel,
        prompt=prompt,
        language=language,
    )
    return prepare_candidates(
        query,
        candidates,
        settled,
        principals=principals,
        neighbours=neighbours,
        supplements=supplements,
        messages=messages,
        intent=intent,
        query_embedding=query_embedding,
        instant=instant,
        language=language,
        shortener=shortener,
        around=around,
    ).context


def prepare_candidates(
    query: str,
    candidates: Any,
    settled: Plan,
    *,
    principals: Iterable[str] = (),
    neighbours: Iterable[Chunk] = (),
    supplements: Iterable[Supplement] = (),
    messages: Iterable[Mapping[str, Any]] = (),
    intent: str = "",
    query_embedding: Vector | None = None,
    instant: datetime | None = None,
    language: str = "en",
    shortener: Shortener | None = None,
    around: Around | None = None,
) -> Prepared:
    """Candidates at hand by a settled plan: the context, and the inputs that a bundle is made of.

    The arguments and the errors are those of `assemble`.
    """
    watch = guarded(around)
    inputs = Inputs(
        query=question(query),
        candidates=candidates_of(candidates),
        recipe=settled.recipe,
        budget=settled.budget,
        neighbours=tuple(neighbours),
        supplements=tuple(supplements),
        principals=reader(principals),
        messages=(*settled.messages, *pairs(messages)),
        intent=intent,
        query_embedding=query_embedding,
        instant=instant,
        language=language,
    )
    return run(flow(inputs, settled.tokenizer, None, shortener, watch), watch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembler:
    """A store, an embedder and a plan: from a question to its context.

    `limit`: how many candidates a search brings; `depth`: how many each of its two legs looks at.
    `reranker`: reads them anew and decides their order, of which the best `keep` stay; where it
    fails, the search's own order stands, and the trace says so.
    `shortener`: is asked for shorter versions of what the budget cost, where the recipe wants them.
    `cache`: where contexts are kept; a context that was kept is the same to the last byte, and a
    write to the store makes it out of reach at once. `taxonomy`: side knowledge that may enter
    where retrieval was not enough; the recipe gets a gate for it, unless it has one.
    `around`: who watches every search and assembly, from several threads at once where they come
    from several; it changes nothing.
    """

    store: Store
    embedder: Embedder | None = None
    plan: Plan = field(default_factory=plan)
    limit: int = 20
    depth: int = 50
    cache: Cache | None = None
    reranker: Reranker | None = None
    keep: int | None = None
    taxonomy: Taxonomy | None = None
    shortener: Shortener | None = None
    around: Around | None = None

    def __post_init__(self) -> None:
        """Give the recipe its gate, and what keeps the best."""
        recipe = self.plan.recipe
        if self.taxonomy is not None:
            recipe = gated(recipe, self.taxonomy)
        if self.keep is not None:
            recipe = kept(recipe, self.keep)
        object.__setattr__(self, "plan", replace(self.plan, recipe=recipe))

    def search(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Found:
        """What the store finds for the query, the best `keep` of it."""
        steps = self._search(question(query), reader(principals), where)
        found = run(steps, guarded(self.around), "retrieve")
        return replace(found, candidates=found.candidates[: self.keep])

    def assemble(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Context:
        """Search, bring the neighbours, assemble; or what the cache has of it."""
        around = guarded(self.around)
        return run(self._cached(question(query), reader(principals), where, around), around)

    def prepare(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Prepared:
        """The same anew, with the inputs that a bundle is made of."""
        around = guarded(self.around)
        return run(self._flow(question(query), reader(principals), where, around), around)

    async def asearch(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Found:
        """`search` without blocking the event loop."""
        steps = self._search(question(query), reader(principals), where)
        found = await arun(steps, guarded(self.around), "retrieve")
        return replace(found, candidates=found.candidates[: self.keep])

    async def aprepare(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Prepared:
        """`prepare` without blocking the event loop."""
        around = guarded(self.around)
        return await arun(self._flow(question(query), reader(principals), where, around), around)

    async def aassemble(
        self, query: str, *, principals: Iterable[str] = (), where: Mapping[str, Any] | None = None
    ) -> Context:
        """`assemble` without blocking the event loop."""
        around = guarded(self.around)
        return await arun(self._cached(question(query), reader(principals), where, around), around)

    def _search(
        self, query: str, principals: tuple[str, ...], where: Mapping[str, Any] | None
    ) -> Flow[Found]:
        embedder, store = self.embedder, self.store
        vector = None
        if embedder is not None:
            vector = (yield Call("embed", lambda: embedder.embed([query])))[0]
        found: Found = yield Call(
            "search",
            lambda: store.search(
                query,
                vector,
                limit=self.limit,
                depth=self.depth,
                principals=principals,
                where=where,
            ),
            said_of,
        )
        return (yield from rerank(self.reranker, query, found))

    def _cached(
        self,
        query: str,
        principals: tuple[str, ...],
        where: Mapping[str, Any] | None,
        around: Guarded | None,
    ) -> Flow[Context]:
        """From the cache where it has it; else assembled, and kept if nobody wrote meanwhile."""
        cache, store = self.cache, self.store
        if cache is None:
            return (yield from self._flow(query, principals, where, around)).context
        scope = (
            tuple(sorted(set(principals))),
            sorted((where or {}).items(), key=repr),
            (self.limit, self.depth, self.keep),
            self.reranker.name if self.reranker is not None else "",
            self.embedder.name if self.embedder is not None else "",
            self.taxonomy.hash if self.taxonomy is not None else "",
            *_settings(self.shortener),
        )
        root = yield Call("root", lambda: store.state_root(principals=principals))
        key = key_of(query, root, self.plan, *scope)
        data = yield Call(
            "recall", lambda: cache.get(key), lambda data: {"hit": int(data is not None)}
        )
        context = unpacked(data, key) if data is not None else None
        if context is not None:
            return context
        made = yield from self._flow(query, principals, where, around)
        context = made.context
        after = yield Call("root", lambda: store.state_root(principals=principals))
        whole = all(name != FAILED for name, _ in made.inputs.notes)
        whole = whole and not any(offer.why for offer in made.inputs.offers)
        if whole and root == after == context.manifest.state_root:
            value = packed(context, key)
            yield Call("keep", lambda: cache.put(key, value), lambda _: {"bytes": len(value)})
        return context

    def _flow(
        self,
        query: str,
        principals: tuple[str, ...],
        where: Mapping[str, Any] | None,
        around: Guarded | None,
    ) -> Flow[Prepared]:
        found = yield from self._search(query, principals, where)
        taxonomy, embedder = self.taxonomy, self.embedder
        intent, supplements = "", ()
        if taxonomy is not None:
            intent, supplements = yield Call("aside", lambda: taxonomy.about(query, embedder))
        inputs = Inputs(
            query=query,
            candidates=found.candidates,
            intent=intent,
            supplements=supplements,
            recipe=self.plan.recipe,
            budget=self.plan.budget,
            principals=principals,
            messages=self.plan.messages,
            state_root=found.state_root,
            exact=found.exact,
            index=found.index,
            notes=found.notes,
        )
        return (yield from flow(inputs, self.plan.tokenizer, self.store, self.shortener, around))


def _settings(shortener: Shortener | None) -> tuple[object, ...]:
    """What of a shortener can change a context; nothing where there is none."""
    if shortener is None:
        return ()
    return (shortener.model.name, shortener.most, shortener.window)
