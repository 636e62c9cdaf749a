"""From who leaves to candidates and decisions. Nothing of a copy is lost but its text.

Rules: a copy's sources (its own, those of its parts, those it had gathered) stay with the kept
candidate as `corroborating`, once each, never the kept one itself, by source, document, page and
chunk; the kept one takes the best score of its copies; candidates keep their order; decisions
come by rank, so that they do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from foveate.core.types import Candidate, Decision, Number, Source, Step, rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Why a candidate leaves: the id of the one that stays for it, and the numbers."""

    by: str
    numbers: Mapping[str, Number]


def fold(
    candidates: tuple[Candidate, ...],
    copies: Mapping[str, Copy],
    *,
    reason: str,
    notes: Mapping[str, Number] | None = None,
) -> Step:
    """Take the copies (by chunk id) out: `merged`; mark those that stay for them: `changed`."""
    notes = notes or {}
    if not copies:
        return Step(candidates=candidates, notes=notes)
    ranked = sorted(candidates, key=rank)
    groups: dict[str, list[Candidate]] = {}
    for candidate in ranked:
        if candidate.id in copies:
            groups.setdefault(copies[candidate.id].by, []).append(candidate)
    stay = {c.id: _corroborated(c, groups[c.id]) for c in ranked if c.id in groups}
    decisions: list[Decision] = []
    for candidate in ranked:
        if candidate.id in copies:
            copy = copies[candidate.id]
            decisions.append(_merged(candidate, copy, reason))
        elif candidate.id in stay:
            decisions.append(_changed(candidate, stay[candidate.id], len(groups[candidate.id])))
    return Step(
        candidates=tuple(stay.get(c.id, c) for c in candidates if c.id not in copies),
        decisions=tuple(decisions),
        notes=notes,
    )


def _corroborated(kept: Candidate, copies: list[Candidate]) -> Candidate:
    own = {source.chunk_id for source in _sources(kept)}
    gathered = [*kept.corroborating]
    for copy in copies:
        gathered += (*_sources(copy), *copy.corroborating)
    by_chunk = {source.chunk_id: source for source in sorted(gathered, key=_place, reverse=True)}
    return replace(
        kept,
        score=max(kept.score, *(copy.score for copy in copies)),
        corroborating=tuple(
            sorted((s for s in by_chunk.values() if s.chunk_id not in own), key=_place)
        ),
    )


def _sources(candidate: Candidate) -> Iterable[Source]:
    parts = (Candidate(chunk=part.chunk).as_source() for part in candidate.parts)
    return (candidate.as_source(), *parts)


def _place(source: Source) -> tuple[str, str, int, str, str]:
    return (source.source, source.document_id, source.page or 0, source.chunk_id, source.title)


def _merged(candidate: Candidate, copy: Copy, reason: str) -> Decision:
    return Decision(
        chunk_id=candidate.id, action="merged", reason=reason, by=copy.by, numbers=copy.numbers
    )


def _changed(before: Candidate, after: Candidate, copies: int) -> Decision:
    numbers: dict[str, Number] = {"copies": copies}
    if after.score != before.score:
        numbers |= {"score": after.score, "was": before.score}
    return Decision(chunk_id=before.id, action="changed", reason="corroborated", numbers=numbers)
