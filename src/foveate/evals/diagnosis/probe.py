"""One question followed through the pipeline: where its evidence was last seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.core.types import Candidate, Chunk, Context
from foveate.evals.cases import Case, Evidence
from foveate.evals.measures import WordIndex
from foveate.pipeline.assembler import Assembler
from foveate.ports import Embedder, Store

SEARCH_DEPTH = 200
"""Candidates; what neither leg ranks among so many counts as not found."""
ALL_NEIGHBOURS = 1 << 30
"""Chunks around the first: all of a document, by whatever store."""
EVIDENCE_HITS = 20
"""Chunks, best first by the words of an evidence, whose documents it is looked for in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """Chunk ids best first, by words, by vectors, and as the search fuses them."""

    words: tuple[str, ...]
    vectors: tuple[str, ...]
    fused: tuple[Candidate, ...]


@dataclass(slots=True)
class StoreReader:
    """A store seen by one reader, with what was read of it remembered for the run."""

    store: Store
    embedder: Embedder | None = None
    principals: tuple[str, ...] = ()
    _documents: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """All readable chunks of a document in order."""
        if document_id not in self._documents:
            found = self.store.neighbours(
                [(document_id, 0)], ALL_NEIGHBOURS, principals=self.principals
            )
            self._documents[document_id] = tuple(found)
        return self._documents[document_id]

    def locate(self, evidence: Evidence) -> Evidence:
        """The evidence with a document: of those that its words find, the one that holds most."""
        if evidence.doc_id:
            return evidence
        hits = self._search(evidence.text, None)[:EVIDENCE_HITS]
        names = dict.fromkeys(hit.chunk.document_id for hit in hits)
        shares = {
            name: evidence_share(evidence.text, [join_chunks(self.chunks(name))]) for name in names
        }
        return replace(evidence, doc_id=max(shares, key=shares.__getitem__, default=""))

    def rank(self, query: str) -> Rankings:
        """How each leg ranks for the query."""
        vector = self.embedder.embed([query])[0] if self.embedder is not None else None
        return Rankings(
            words=_candidate_ids(self._search(query, None)),
            vectors=_candidate_ids(self._search("", vector)) if vector is not None else (),
            fused=self._search(query, vector),
        )

    def _search(self, query: str, vector: Any) -> tuple[Candidate, ...]:
        return self.store.search(
            query, vector, limit=SEARCH_DEPTH, depth=SEARCH_DEPTH, principals=self.principals
        ).candidates


def evidence_share(evidence: str, texts: Iterable[str]) -> float:
    """The share of the evidence's words that are in the texts in a row."""
    return WordIndex("\n".join(texts), 1).coverage(evidence)[0]


def join_chunks(chunks: Iterable[Chunk]) -> str:
    """A document's text from its chunks, by their offsets if they have any."""
    text, end = "", 0
    for chunk in chunks:
        if chunk.start is None or not text:
            text += ("\n" if text else "") + chunk.text
        else:
            text += chunk.text[max(0, end - chunk.start) :]
        end = chunk.end if chunk.end is not None else end
    return text


def _candidate_ids(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    return tuple(candidate.id for candidate in candidates)


MIN_EVIDENCE_SHARE = 0.8
"""The share of an evidence's words from which on it counts as there."""

CurrentText = Callable[[str], str | None]
"""A document's id → its text as it is now, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTrail:
    """Where one evidence unit was seen; shares are of its words.

    `indexed`: its document is in the store. `document`, `chunk`, `pool`, `context`: the shares in
    the document, its best chunk, the candidates with neighbours, the context. Ranks count from 1;
    None if not ranked. `reason`: the stage that dropped it, and why.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question: the trails of its evidence, the rankings, and the chunks that hold it.

    `reranked`: chunk ids as the reranker orders them; None without one.
    """

    case: Case
    trails: tuple[EvidenceTrail, ...]
    rankings: Rankings
    reranked: tuple[str, ...] | None
    gold: frozenset[str]


def probe_case(
    case: Case,
    reader: StoreReader,
    assembler: Assembler,
    *,
    current: CurrentText | None = None,
) -> Probe:
    """Follow the case through the store and the pipeline."""
    ranked = reader.rank(case.question)
    pool, context, refused = _assemble_case(case, reader, assembler)
    after = None
    if assembler.reranker is not None:
        found = assembler.search(case.question, principals=reader.principals)
        after = _candidate_ids(found.candidates)
    located = [reader.locate(evidence) for evidence in case.evidence]
    golds = [_gold_chunk_ids(evidence, reader) for evidence in located]
    fused = _candidate_ids(ranked.fused)

    def follow(evidence: Evidence, gold: frozenset[str]) -> EvidenceTrail:
        chunks = reader.chunks(evidence.doc_id)
        stored = evidence_share(evidence.text, [join_chunks(chunks)])
        now = current(evidence.doc_id) if current is not None else None
        changed = now is not None and evidence_share(evidence.text, [now]) >= MIN_EVIDENCE_SHARE
        mine = {c.id: c for c in pool if c.document_id == evidence.doc_id}
        found = join_chunks(sorted(mine.values(), key=lambda c: (c.sequence, c.id)))
        return EvidenceTrail(
            evidence=evidence,
            indexed=bool(chunks),
            stale=changed and stored < MIN_EVIDENCE_SHARE,
            document=stored,
            chunk=max((evidence_share(evidence.text, [c.text]) for c in chunks), default=0.0),
            pool=evidence_share(evidence.text, [found]),
            context=evidence_share(evidence.text, [context.text]) if context is not None else 0.0,
            words=_first_gold_rank(gold, ranked.words),
            vectors=_first_gold_rank(gold, ranked.vectors),
            fused=_first_gold_rank(gold, fused),
            reranked=_first_gold_rank(gold, after or ()),
            reason=_drop_reason(gold, context) if context is not None else refused,
        )

    return Probe(
        case=case,
        trails=tuple(map(follow, located, golds)),
        rankings=ranked,
        reranked=after,
        gold=frozenset[str]().union(*golds),
    )


def _assemble_case(
    case: Case, reader: StoreReader, assembler: Assembler
) -> tuple[list[Chunk], Context | None, str]:
    """The chunks, their context, or why there is none."""
    who = reader.principals
    try:
        result = assembler.run(case.question, cached=False, principals=who)
    except BudgetTooSmall as error:
        found = assembler.search(case.question, principals=who).candidates
        return [candidate.chunk for candidate in found], None, str(error)
    except BadInput:
        return [], None, "nothing was found"
    inputs = result.inputs
    assert inputs is not None  # not from a cache
    chunks = [c.chunk for c in inputs.candidates][: assembler.options.keep]
    return [*chunks, *inputs.neighbours], result.context, ""


def _gold_chunk_ids(evidence: Evidence, reader: StoreReader) -> frozenset[str]:
    """The chunks that hold the evidence, or else those that hold most of it."""
    shares = {c.id: evidence_share(evidence.text, [c.text]) for c in reader.chunks(evidence.doc_id)}
    best = max(shares.values(), default=0.0)
    return frozenset(
        name for name, share in shares.items() if share >= min(best, MIN_EVIDENCE_SHARE) > 0
    )


def _first_gold_rank(gold: frozenset[str], ids: Sequence[str]) -> int | None:
    return next((rank for rank, name in enumerate(ids, 1) if name in gold), None)


def _drop_reason(gold: frozenset[str], context: Context) -> str:
    """The last stage that dropped a chunk of the evidence, and its reason."""
    found = [
        f"{stage.stage}: {decision.reason}"
        for stage in context.trace
        for decision in stage.decisions
        if decision.chunk_id in gold and decision.action == "dropped"
    ]
    return found[-1] if found else ""
