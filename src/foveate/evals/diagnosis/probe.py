"""One question followed through the pipeline: where its evidence was last seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foveate.assembler import Assembler
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.types import Chunk, Context
from foveate.evals.cases import Case, Evidence
from foveate.evals.diagnosis.shelf import Ranked, Shelf, held, whole

ENOUGH = 0.8
"""The share of an evidence's words from which on it counts as there."""

Current = Callable[[str], str | None]
"""A document's id → its text as it is now, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Where one evidence unit was seen; shares are of its words.

    `indexed`: its document is in the store. `document`, `chunk`, `pool`, `context`: the shares in
    the stored document, in its best chunk, in candidates with neighbours, in the context. Ranks
    count from 1, None beyond what was looked at. `reason`: the stage that let it go, and why.
    """

    evidence: Evidence
    indexed: bool
    stale: bool
    document: float
    chunk: float
    pool: float
    context: float
    words: int | None
    vectors: int | None
    fused: int | None
    reranked: int | None
    reason: str = ""
    with_reranker: bool = False
    with_vectors: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question: the trails of its evidence, the rankings, and the context that was made."""

    case: Case
    trails: tuple[Trail, ...]
    ranked: Ranked
    reranked: tuple[str, ...] | None
    gold: frozenset[str]
    context: Context | None


def probe(
    case: Case,
    shelf: Shelf,
    assembler: Assembler,
    *,
    current: Current | None = None,
) -> Probe:
    """Follow the case through the store and the assembler's plan."""
    ranked = shelf.ranked(case.question)
    pool, context, refused = _assembled(case, shelf, assembler)
    after = None
    if assembler.reranker is not None:
        after = tuple(
            candidate.id
            for candidate in assembler.search(case.question, principals=shelf.principals).candidates
        )
    golds = {n: _gold(evidence, shelf) for n, evidence in enumerate(case.evidence)}
    seen = _Seen(ranked, after, pool, context, refused)
    trails = tuple(
        _trail(evidence, golds[n], shelf, seen, current) for n, evidence in enumerate(case.evidence)
    )
    return Probe(
        case=case,
        trails=trails,
        ranked=ranked,
        reranked=after,
        gold=frozenset().union(*golds.values()) if golds else frozenset(),
        context=context,
    )


def _assembled(
    case: Case, shelf: Shelf, assembler: Assembler
) -> tuple[list[Chunk], Context | None, str]:
    """The chunks at hand, the context made of them, or why there is none."""
    who = shelf.principals
    try:
        prepared = assembler.prepare(case.question, principals=who)
    except BudgetTooSmall as error:
        found = assembler.search(case.question, principals=who).candidates
        return [candidate.chunk for candidate in found], None, str(error)
    except BadInput:
        return [], None, "nothing was found"
    chunks = [c.chunk for c in prepared.inputs.candidates]
    if assembler.keep is not None:
        chunks = chunks[: assembler.keep]
    return [*chunks, *prepared.inputs.neighbours], prepared.context, ""


def _gold(evidence: Evidence, shelf: Shelf) -> frozenset[str]:
    """The chunks that hold the evidence; where none holds enough, those that hold most."""
    shares = {c.id: held(evidence.text, [c.text]) for c in shelf.chunks(evidence.doc_id)}
    best = max(shares.values(), default=0.0)
    return frozenset(name for name, share in shares.items() if share >= min(best, ENOUGH) > 0)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the pipeline made of the question."""

    ranked: Ranked
    reranked: tuple[str, ...] | None
    pool: Sequence[Chunk]
    context: Context | None
    refused: str


def _trail(
    evidence: Evidence,
    gold: frozenset[str],
    shelf: Shelf,
    seen: _Seen,
    current: Current | None,
) -> Trail:
    chunks = shelf.chunks(evidence.doc_id)
    ranked, after, context = seen.ranked, seen.reranked, seen.context
    stored = held(evidence.text, [whole(chunks)])
    now = current(evidence.doc_id) if current is not None else None
    return Trail(
        evidence=evidence,
        indexed=bool(chunks),
        stale=now is not None and stored < ENOUGH <= held(evidence.text, [now]),
        document=stored,
        chunk=max((held(evidence.text, [c.text]) for c in chunks), default=0.0),
        pool=held(evidence.text, [whole(_in_order(seen.pool, evidence.doc_id))]),
        context=held(evidence.text, [context.text]) if context is not None else 0.0,
        words=_rank(gold, ranked.words),
        vectors=_rank(gold, ranked.vectors),
        fused=_rank(gold, [candidate.id for candidate in ranked.fused]),
        reranked=_rank(gold, after) if after is not None else None,
        reason=_reason(gold, context) if context is not None else seen.refused,
        with_reranker=after is not None,
        with_vectors=bool(ranked.vectors),
    )


def _in_order(pool: Sequence[Chunk], document_id: str) -> list[Chunk]:
    mine: Mapping[str, Chunk] = {c.id: c for c in pool if c.document_id == document_id}
    return sorted(mine.values(), key=lambda c: (c.sequence, c.id))


def _rank(gold: frozenset[str], ids: Sequence[str]) -> int | None:
    return next((rank for rank, name in enumerate(ids, 1) if name in gold), None)


def _reason(gold: frozenset[str], context: Context) -> str:
    """The last stage that dropped a chunk of the evidence, and its reason."""
    found = [
        f"{stage.stage}: {decision.reason}"
        for stage in context.trace
        for decision in stage.decisions
        if decision.chunk_id in gold and decision.action == "dropped"
    ]
    return found[-1] if found else ""
