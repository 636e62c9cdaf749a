"""Decides which layer lost a question: the first, in pipeline order, that lost its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from foveate.core.candidates import parse_json
from foveate.core.errors import name_in_errors
from foveate.core.typed import read_value
from foveate.evals.diagnosis import layers
from foveate.evals.diagnosis.layers import AgentTurn
from foveate.evals.diagnosis.probe import MIN_EVIDENCE_SHARE, EvidenceTrail, Probe
from foveate.evals.measures import WordIndex
from foveate.pipeline.text_files import read_lines

T = TypeVar("T")

MAX_IDLE_TURNS = 3
"""Turns in a row without a new chunk; then a session goes round in circles."""
FAR_RANK_FACTOR = 4
"""So many times further down by vectors than by words is the embedder's fault."""
_UNRANKED = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """Recorded answers to the assembled context, and to one joined by score."""

    answer: str
    baseline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The layer that lost a question, or `""`, and how that shows."""

    id: str
    dataset: str
    layer: str
    detail: str = ""


def decide_verdict(
    probe: Probe,
    limit: int,
    said: RecordedAnswers | None = None,
    session: Sequence[AgentTurn] = (),
) -> Verdict:
    """Which layer lost the question, if any did; `limit`: candidates that the pipeline takes."""
    layer, detail = _find_losing_layer(probe, limit)
    if not layer and session:
        layer, detail = _agent_loss(probe, session)
    if not layer and said is not None:
        layer, detail = _model_loss(probe, said)
    return Verdict(id=probe.case.id, dataset=probe.case.dataset, layer=layer, detail=detail)


def _find_losing_layer(probe: Probe, limit: int) -> tuple[str, str]:
    for trail in probe.trails:
        if trail.context < MIN_EVIDENCE_SHARE:
            layer, detail = _layer_of_trail(trail, limit)
            return layer.name, detail
    return "", ""


def _layer_of_trail(trail: EvidenceTrail, limit: int) -> tuple[layers.Layer, str]:
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
    if trail.with_reranker and trail.fused is not None and trail.fused <= limit:
        return layers.RERANKING, f"rank {trail.fused} before, {_format_rank(trail.reranked)} after"
    return _retrieval_layer(trail, limit)


def _retrieval_layer(trail: EvidenceTrail, limit: int) -> tuple[layers.Layer, str]:
    """The embedder if words find it and vectors do not; else the search strategy."""
    said = f"rank {_format_rank(trail.words)} by words, {_format_rank(trail.vectors)} by vectors"
    said += f", {_format_rank(trail.fused)} together; {limit} are taken"
    if not trail.with_vectors:
        return layers.STRATEGY, f"rank {_format_rank(trail.words)} by words; {limit} are taken"
    words, vectors = trail.words or _UNRANKED, trail.vectors or _UNRANKED
    if words <= limit < vectors or words * FAR_RANK_FACTOR < vectors:
        return layers.EMBEDDING, said
    return layers.STRATEGY, said


def _format_rank(rank: int | None) -> str:
    return "none" if rank is None else str(rank)


def _agent_loss(probe: Probe, session: Sequence[AgentTurn]) -> tuple[str, str]:
    """Whether an agent lost the evidence by its last turn, or found nothing new."""
    had = [bool(probe.gold & set(turn.chunk_ids)) for turn in session]
    if any(had) and not had[-1]:
        return layers.AGENT.name, f"there at turn {had.index(True) + 1}, gone at {len(session)}"
    seen: set[str] = set()
    idle = 0
    for turn in session:
        idle = 0 if set(turn.chunk_ids) - seen else idle + 1
        seen |= set(turn.chunk_ids)
    if idle >= MAX_IDLE_TURNS:
        tokens = sum(turn.tokens for turn in session[-idle:])
        return layers.AGENT.name, f"{idle} turns and {tokens:,} tokens without anything new"
    return "", ""


def _model_loss(probe: Probe, said: RecordedAnswers) -> tuple[str, str]:
    answers = probe.case.answers
    if not answers or _is_right(said.answer, answers):
        return "", ""
    if said.baseline is not None and _is_right(said.baseline, answers):
        return layers.ASSEMBLY.name, "joined by score it was answered, as assembled it was not"
    return layers.MODEL, "the evidence was in the context"


def _is_right(answer: str, answers: Sequence[str]) -> bool:
    spread = WordIndex(answer, 1)
    return any(spread.has_phrase(one) for one in answers)


def count_by_layer(verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    """Questions lost by layer, in the order of the layers; others (the model) last."""
    names = [layer.name for layer in layers.LAYERS] + [layers.MODEL]
    return {name: sum(v.layer == name for v in verdicts) for name in names}


def read_answers(path: Path) -> dict[str, RecordedAnswers]:
    """Read lines of `{"id", "answer", "baseline"}`: the answer as assembled, and as joined."""
    return _read_records(path, RecordedAnswers)


def read_sessions(path: Path) -> dict[str, tuple[AgentTurn, ...]]:
    """Read lines of `{"id", "turns": [{"tokens", "chunk_ids"}]}`: the chunks an agent had."""
    return {name: one.turns for name, one in _read_records(path, _AgentSession).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentSession:
    turns: tuple[AgentTurn, ...]


def _read_records(path: Path, kind: type[T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for number, line in read_lines(str(path)):
        with name_in_errors(f"{path}: line {number}"):
            record = parse_json(line)
            value = read_value(kind, record)
            found[read_value(str, record.get("id"), "id")] = value
    return found
