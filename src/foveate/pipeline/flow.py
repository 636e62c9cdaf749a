"""One flow for every face: search, rerank, neighbours, assemble, cache.

A search gives candidates, ranked by its store, by identifiers of the question, and by a reranker.
To these the flow adds what the core decides with, and drops, reorders and rewrites nothing. Each
call to a port is one `Call`, so the flow runs blocking and in an event loop alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from foveate.core.assemble import TokenCountCache, assemble
from foveate.core.candidates import candidate_to_json
from foveate.core.errors import ExternalError
from foveate.core.image_fit import chunks_with_images
from foveate.core.request import Inputs, Recipe
from foveate.core.scores import ScoredList
from foveate.core.text.words import long_identifiers
from foveate.core.types import Candidate, Chunk, Context, Number, Supplement, rank
from foveate.pipeline.bounded_calls import failure_reason
from foveate.pipeline.follow_up import add_earlier_words
from foveate.pipeline.named import NAMED_DEPTH, holders, keep_named
from foveate.pipeline.observers import CallFigures, Observers
from foveate.pipeline.options import ResolvedOptions
from foveate.pipeline.steps import Call, Flow
from foveate.ports import Cache, Embedder, Reranker, SearchResult, Store
from foveate.providers.chat import provider_name
from foveate.providers.tokenizers.counts import counts_for

if TYPE_CHECKING:
    from foveate.pipeline.compressor import Compressor
    from foveate.pipeline.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What a flow may call. Everything is optional; a search needs a store."""

    store: Store | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    taxonomy: Taxonomy | None = None
    compressor: Compressor | None = None
    cache: Cache | None = None
    observers: Observers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyResult:
    """A context, the inputs it was made of, and how its candidates were found.

    `inputs` is None for a context from the cache. `found` is None where the caller brought the
    candidates.
    """

    context: Context
    inputs: Inputs | None = None
    found: CallFigures | None = None


def search(ports: Ports, query: str, resolved: ResolvedOptions) -> Flow[SearchResult]:
    """Embed the query, search the store, rerank what was found."""
    store, embedder, options = ports.store, ports.embedder, resolved.options
    assert store is not None
    vector = options.query_embedding
    if embedder is not None and vector is None:
        vector = (yield _embed(embedder, [query]))[0]
    names = long_identifiers(query)
    limit = max(options.limit, 2 * options.depth) if names else options.limit
    found: SearchResult = yield _search(
        store, query, vector, resolved, limit=limit, depth=options.depth
    )
    best = found.candidates
    if names:
        named = holders(best, names)
        if not named:
            words, most = " ".join(names), NAMED_DEPTH
            deeper = yield _search(store, words, None, resolved, limit=most, depth=most)
            if deeper.state_root == found.state_root:  # no write came between
                named = holders(deeper.candidates, names)
        best = keep_named(best, named, options.limit)
    candidates, notes = yield from rerank(ports.reranker, query, best)
    return replace(found, candidates=candidates, notes=(*found.notes, *notes))


def _search(
    store: Store,
    query: str,
    vector: Sequence[float] | None,
    resolved: ResolvedOptions,
    *,
    limit: int,
    depth: int,
) -> Call:
    return Call(
        "search",
        lambda: store.search(
            query,
            vector,
            limit=limit,
            depth=depth,
            principals=resolved.principals,
            where=resolved.options.where,
        ),
        search_figures,
    )


def _embed(embedder: Embedder, texts: Sequence[str]) -> Call:
    names = {"provider": provider_name(embedder.name), "model": embedder.name}
    return Call("embed", lambda: embedder.embed(texts), lambda _: names)


def search_figures(found: SearchResult) -> CallFigures:
    """How candidates were found, and how many."""
    return {
        "badge": found.badge,
        "lexical_matches": found.lexical_matches,
        "exact": found.exact,
        "candidates": len(found.candidates),
    }


def search_to_json(query: str, found: SearchResult) -> dict[str, Any]:
    """A search as plain JSON, without vectors: what the command line prints and a service sends."""
    records = [candidate_to_json(candidate) for candidate in found.candidates]
    for record in records:
        record.pop("embedding", None)
    return {"query": query, **search_figures(found), "candidates": records}


def assemble_candidates(
    ports: Ports, query: str, candidates: tuple[Candidate, ...], resolved: ResolvedOptions
) -> Flow[AssemblyResult]:
    """The context for candidates at hand."""
    ranked, notes = yield from rerank(ports.reranker, query, candidates)
    inputs = inputs_for(query, ranked, resolved, notes)
    return (yield from _assemble(replace(ports, store=None), inputs, resolved))


def assemble_from_store(
    ports: Ports, query: str, resolved: ResolvedOptions
) -> Flow[AssemblyResult]:
    """The context for what the store finds, a follow-up with the words of questions before it."""
    asked, notes = add_earlier_words(query, resolved.history)
    found = yield from search(ports, asked, resolved)
    zone = resolved.budget.query
    if notes and zone and resolved.tokenizer.count(asked) > zone:
        asked = query  # which fits its zone, or is refused as it was asked
    inputs = replace(
        inputs_for(asked, found.candidates, resolved, (*found.notes, *notes)),
        state_root=found.state_root,
        exact=found.exact,
        index=found.index,
    )
    result = yield from _assemble(ports, inputs, resolved)
    context = replace(result.context, query=query) if notes else result.context
    return replace(result, context=context, found=search_figures(found))


def cached_from_store(ports: Ports, query: str, resolved: ResolvedOptions) -> Flow[AssemblyResult]:
    """The context from the cache, or from the store into the cache.

    The key covers everything that decides the context. A run in which a port failed is not kept.
    """
    cache, store = ports.cache, ports.store
    if cache is None or store is None or _brings_values(resolved):
        return (yield from assemble_from_store(ports, query, resolved))
    from foveate.pipeline.context_codec import cache_key, decode_context, encode_context

    principals = resolved.principals
    root = yield Call("root", lambda: store.state_root(principals=principals))
    key = cache_key(query, root, resolved, _port_names(ports))
    data = yield Call("recall", lambda: cache.get(key), lambda data: {"hit": int(data is not None)})
    kept = decode_context(data, key) if data is not None else None
    if kept is not None:
        context, found = kept
        return AssemblyResult(context=context, found=found)
    result = yield from assemble_from_store(ports, query, resolved)
    after = yield Call("root", lambda: store.state_root(principals=principals))
    if root == after == result.context.manifest.state_root and not _degraded(result):
        value = encode_context(result.context, key, result.found or {})
        yield Call("keep", lambda: cache.put(key, value), lambda _: {"bytes": len(value)})
    return result


def _brings_values(resolved: ResolvedOptions) -> bool:
    """Whether the caller brings values of its own, of which no short key says all."""
    options = resolved.options
    return bool(
        tuple(options.neighbours)
        or tuple(options.supplements)
        or options.query_embedding is not None
    )


def _port_names(ports: Ports) -> tuple[object, ...]:
    compressor = ports.compressor
    return (
        ports.embedder.name if ports.embedder is not None else "",
        ports.reranker.name if ports.reranker is not None else "",
        ports.taxonomy.hash if ports.taxonomy is not None else "",
        *(compressor.cache_key() if compressor is not None else ()),
    )


def _degraded(result: AssemblyResult) -> bool:
    inputs = result.inputs
    assert inputs is not None
    return any(name == FAILED for name, _ in inputs.notes) or any(o.why for o in inputs.offers)


def inputs_for(
    query: str,
    candidates: tuple[Candidate, ...],
    resolved: ResolvedOptions,
    notes: tuple[tuple[str, Number], ...] = (),
) -> Inputs:
    """What the core gets for these candidates."""
    options = resolved.options
    if isinstance(candidates, ScoredList):
        notes = (*candidates.notes, *notes)
    return Inputs(
        query=query,
        candidates=candidates,
        recipe=resolved.recipe,
        budget=resolved.budget,
        neighbours=tuple(options.neighbours),
        supplements=tuple(options.supplements),
        principals=resolved.principals,
        messages=resolved.messages,
        intent=options.intent,
        query_embedding=options.query_embedding,
        instant=options.instant,
        language=options.language,
        notes=notes,
    )


def _assemble(ports: Ports, inputs: Inputs, resolved: ResolvedOptions) -> Flow[AssemblyResult]:
    inputs = yield from _side_knowledge(ports, inputs)
    inputs = yield from _vectors(ports, inputs)
    tokenizer, store = resolved.tokenizer, ports.store
    known = counts_for(tokenizer.fingerprint)
    hashes: list[str] = []
    stored: Mapping[str, int] = {}
    if store is not None:
        inputs = yield from _neighbours(store, inputs)
        chunks = (*(c.chunk for c in inputs.candidates), *inputs.neighbours)
        hashes = [chunk.content_hash for chunk in chunks]
        stored = yield Call(
            "counts",
            lambda: store.counts(tokenizer.fingerprint, hashes),
            lambda stored: {"texts": len(hashes), "known": len(stored)},
        )
        known.update(stored)
    inputs = yield from _compressed(ports, inputs, resolved, known)
    if resolved.image_formula and chunks_with_images(inputs):  # without images it is no input
        inputs = replace(inputs, image_formula=resolved.image_formula)
    context = assemble(inputs, tokenizer, known, ports.observers)
    new = {h: known[h] for h in hashes if h not in stored and h in known}
    if store is not None and new:
        yield Call("keep_counts", lambda: store.remember(tokenizer.fingerprint, new))
    return AssemblyResult(inputs=inputs, context=context)


def _side_knowledge(ports: Ports, inputs: Inputs) -> Flow[Inputs]:
    taxonomy, embedder, query = ports.taxonomy, ports.embedder, inputs.query
    if taxonomy is None:
        return inputs
    intent: str
    entries: tuple[Supplement, ...]
    intent, entries = yield Call("aside", lambda: taxonomy.match_entries(query, embedder))
    return replace(
        inputs, intent=inputs.intent or intent, supplements=(*inputs.supplements, *entries)
    )


def _vectors(ports: Ports, inputs: Inputs) -> Flow[Inputs]:
    """Vectors for candidates without one, if a stage compares them."""
    embedder, found = ports.embedder, inputs.candidates
    bare = [n for n, candidate in enumerate(found) if candidate.chunk.embedding is None]
    if embedder is None or not bare or not _compares_vectors(inputs.recipe):
        return inputs
    texts = [found[n].text for n in bare]
    vectors = yield _embed(embedder, texts)
    filled = list(found)
    for n, vector in zip(bare, vectors, strict=True):
        filled[n] = replace(found[n], chunk=replace(found[n].chunk, embedding=vector))
    return replace(inputs, candidates=tuple(filled))


def _compares_vectors(recipe: Recipe) -> bool:
    from foveate.core.stages.dedup.near import DedupNear

    return any(isinstance(s, DedupNear) and s.method == "semantic" for s in recipe.stages)


def _neighbours(store: Store, inputs: Inputs) -> Flow[Inputs]:
    from foveate.core.grouping import head_places
    from foveate.core.stages.expand import Expand

    window = max((s.window for s in inputs.recipe.stages if isinstance(s, Expand)), default=0)
    if not window or inputs.neighbours:
        return inputs
    chunks = [candidate.chunk for candidate in inputs.candidates]
    places = [(chunk.document_id, chunk.sequence) for chunk in chunks]
    found = yield from _chunks_at(store, places, window, inputs)
    near = (*chunks, *found)
    known = {(chunk.document_id, chunk.sequence) for chunk in near}
    heads = {place for chunk in near for place in head_places(chunk)}
    if heads := heads - known:
        found = (*found, *(yield from _chunks_at(store, sorted(heads), 0, inputs)))
    return replace(inputs, neighbours=found)


def _chunks_at(
    store: Store, places: Sequence[tuple[str, int]], window: int, inputs: Inputs
) -> Flow[tuple[Chunk, ...]]:
    found: Sequence[Chunk] = yield Call(
        "neighbours",
        lambda: store.neighbours(places, window, principals=inputs.principals),
        lambda found: {"places": len(places), "found": len(found)},
    )
    return tuple(found)


def _compressed(
    ports: Ports, inputs: Inputs, resolved: ResolvedOptions, known: TokenCountCache
) -> Flow[Inputs]:
    compressor = ports.compressor
    if compressor is None:
        return inputs
    from foveate.pipeline.compressor import check_compressor_used, compress_for_request

    check_compressor_used(inputs.recipe)
    offers = yield Call(
        "shorten",
        lambda: compress_for_request(
            inputs, resolved.tokenizer, known, compressor, ports.observers
        ),
        lambda offers: {"offers": len(offers), "failed": sum(bool(o.why) for o in offers)},
    )
    return replace(inputs, offers=offers)


FAILED = "not_reranked"
"""The note of a reranker that failed."""
Notes: TypeAlias = tuple[tuple[str, Number], ...]


def rerank(
    reranker: Reranker | None, query: str, candidates: tuple[Candidate, ...]
) -> Flow[tuple[tuple[Candidate, ...], Notes]]:
    """The candidates in the reranker's order, and notes.

    Its scores become `rerank_score` and `score`. If it fails, the candidates stay as they were
    found.
    """
    if reranker is None or not candidates:
        return candidates, ()
    texts = [candidate.text for candidate in candidates]
    try:
        scores = yield Call(
            "rerank",
            lambda: reranker.rerank(query, texts),
            lambda _: {"texts": len(texts)},
        )
        ranked = _scored(candidates, scores)
    except Exception as error:  # noqa: BLE001  # whatever fails outside, the search's order stands
        return candidates, ((FAILED, f"{reranker.name}: {failure_reason(error)}"),)
    return ranked, (("reranked_by", reranker.name), ("reranked", len(ranked)))


def _scored(candidates: Sequence[Candidate], scores: Sequence[float]) -> tuple[Candidate, ...]:
    """Sorted by the scores; raises `ExternalError` where they are none."""
    given = [float(score) for score in scores]
    if len(given) != len(candidates) or not all(map(isfinite, given)):
        raise ExternalError(f"{len(given)} scores for {len(candidates)} texts, or not all finite")
    return tuple(
        sorted(
            (
                replace(candidate, score=score, rerank_score=score)
                for candidate, score in zip(candidates, given, strict=True)
            ),
            key=rank,
        )
    )
