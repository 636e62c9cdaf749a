"""Decides which layer lost a question: the first, in pipeline order, that lost its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foveate.evals.diagnosis import layers
from foveate.evals.diagnosis.probe import MIN_EVIDENCE_SHARE, EvidenceTrail, Probe
from foveate.evals.diagnosis.records import AgentSession, RecordedAnswers
from foveate.evals.measures import WordIndex

MAX_IDLE_TURNS = 3
"""Turns in a row without a new chunk; then a session goes round in circles."""
FAR_RANK_FACTOR = 4
"""So many times further down by vectors than by words is the embedder's fault."""
_UNRANKED = 1 << 30

_Loss = tuple[layers.Layer, str] | None
"""The layer that lost a question, and how that shows; None if nothing was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The name of the layer that lost a question, or `""`, and how that shows."""

    id: str
    dataset: str
    layer: str
    detail: str = ""


def decide_verdict(
    probe: Probe,
    limit: int,
    said: RecordedAnswers | None = None,
    session: AgentSession | None = None,
) -> Verdict:
    """Which layer lost the question, if any did; `limit`: candidates that the pipeline takes."""
    lost = _pipeline_loss(probe, limit)
    if lost is None and session is not None:
        lost = _agent_loss(probe, session)
    if lost is None and said is not None:
        lost = _model_loss(probe, said)
    name, detail = (lost[0].name, lost[1]) if lost is not None else ("", "")
    return Verdict(id=probe.case.id, dataset=probe.case.dataset, layer=name, detail=detail)


def _pipeline_loss(probe: Probe, limit: int) -> _Loss:
    lost = (trail for trail in probe.trails if trail.context < MIN_EVIDENCE_SHARE)
    return next((_layer_of_trail(trail, probe, limit) for trail in lost), None)


def _layer_of_trail(trail: EvidenceTrail, probe: Probe, limit: int) -> tuple[layers.Layer, str]:
    name = trail.evidence.doc_id or "its document"
    if trail.stale:
        how = "has changed since it was indexed" if trail.indexed else "was not indexed yet"
        return layers.FRESHNESS, f"{name} {how}"
    if not trail.indexed:
        return layers.EVALUATION, f"{name} is not in the store"
    if trail.document < MIN_EVIDENCE_SHARE:
        return layers.EVALUATION, f"{name} does not say it ({trail.document:.0%} of the words)"
    if trail.pool >= MIN_EVIDENCE_SHARE:
        return layers.ASSEMBLY, trail.reason or "its sentences were not chosen"
    if trail.chunk < MIN_EVIDENCE_SHARE:
        return layers.CHUNKING, f"the best chunk holds {trail.chunk:.0%} of it"
    if probe.reranked is not None and trail.fused is not None and trail.fused <= limit:
        return layers.RERANKING, f"rank {trail.fused} before, {_format_rank(trail.reranked)} after"
    return _retrieval_layer(trail, limit, with_vectors=bool(probe.rankings.vectors))


def _retrieval_layer(
    trail: EvidenceTrail, limit: int, *, with_vectors: bool
) -> tuple[layers.Layer, str]:
    """The embedder if words find it and vectors do not; else the search strategy."""
    said = f"rank {_format_rank(trail.words)} by words"
    if not with_vectors:
        return layers.STRATEGY, f"{said}; {limit} are taken"
    said += f", {_format_rank(trail.vectors)} by vectors"
    said += f", {_format_rank(trail.fused)} together; {limit} are taken"
    words, vectors = trail.words or _UNRANKED, trail.vectors or _UNRANKED
    if words <= limit < vectors or words * FAR_RANK_FACTOR < vectors:
        return layers.EMBEDDING, said
    return layers.STRATEGY, said


def _format_rank(rank: int | None) -> str:
    return "none" if rank is None else str(rank)


def _agent_loss(probe: Probe, session: AgentSession) -> _Loss:
    """Whether an agent lost the evidence by its last turn, or found nothing new."""
    had = [bool(probe.gold & set(turn.chunk_ids)) for turn in session.turns]
    if any(had) and not had[-1]:
        return layers.AGENT, f"there at turn {had.index(True) + 1}, gone at {len(had)}"
    seen: set[str] = set()
    idle = 0
    for turn in session.turns:
        idle = 0 if set(turn.chunk_ids) - seen else idle + 1
        seen |= set(turn.chunk_ids)
    if idle >= MAX_IDLE_TURNS:
        tokens = sum(turn.tokens for turn in session.turns[-idle:])
        return layers.AGENT, f"{idle} turns and {tokens:,} tokens without anything new"
    return None


def _model_loss(probe: Probe, said: RecordedAnswers) -> _Loss:
    answers = probe.case.answers
    if not answers or _is_right(said.answer, answers):
        return None
    if said.baseline is not None and _is_right(said.baseline, answers):
        return layers.ASSEMBLY, "joined by score it was answered, as assembled it was not"
    return layers.MODEL, "the evidence was in the context"


def _is_right(answer: str, answers: Sequence[str]) -> bool:
    spread = WordIndex(answer, 1)
    return any(spread.has_phrase(one) for one in answers)
