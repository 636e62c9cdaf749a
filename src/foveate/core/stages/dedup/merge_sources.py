"""Copies merged into the kept candidate: it takes their sources and their best score.

Sources become `corroborating`, once each, by source, document, page and chunk. Candidates keep
their order; decisions come by rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from foveate.core.images import IMAGES, images_of
from foveate.core.types import Candidate, Decision, Number, Source, Step, rank
from foveate.core.unchecked import new_decision, replace_unchecked


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Why a candidate leaves: the id of the one that stays for it, and the numbers."""

    by: str
    numbers: Mapping[str, Number]


def _without_own_images(
    candidates: tuple[Candidate, ...], copies: Mapping[str, Copy]
) -> Mapping[str, Copy]:
    if not copies:
        return copies
    found = {
        c.chunk.id: {image.reference for image in images_of(c.chunk.metadata)}
        for c in candidates
        if c.chunk.metadata and IMAGES in c.chunk.metadata
    }
    if not found:
        return copies
    none: set[str] = set()
    return {
        own: copy
        for own, copy in copies.items()
        if found.get(own, none) <= found.get(copy.by, none)
    }


def merge_sources(
    candidates: tuple[Candidate, ...],
    copies: Mapping[str, Copy],
    *,
    reason: str,
    notes: Mapping[str, Number] | None = None,
) -> Step:
    """Take the copies (by chunk id) out: `merged`; mark those that stay for them: `changed`.

    A copy with an image that the text which stays does not have is no copy, and stays too.
    """
    notes, copies = notes or {}, _without_own_images(candidates, copies)
    if not copies:
        return Step(candidates=candidates, notes=notes)
    groups: dict[str, list[Candidate]] = {copy.by: [] for copy in copies.values()}
    involved = [c for c in candidates if c.chunk.id in copies or c.chunk.id in groups]
    involved.sort(key=rank)
    for candidate in involved:
        copy = copies.get(candidate.chunk.id)
        if copy is not None:
            groups[copy.by].append(candidate)
    stay: dict[str, Candidate] = {}
    decisions: list[Decision] = []
    for candidate in involved:
        own = candidate.chunk.id
        copy = copies.get(own)
        if copy is None:
            stay[own] = _corroborated(candidate, groups[own])
            decisions.append(_changed(candidate, stay[own], len(groups[own])))
        else:
            decisions.append(
                new_decision(
                    chunk_id=own, action="merged", reason=reason, by=copy.by, numbers=copy.numbers
                )
            )
    return Step(
        candidates=tuple([stay.get(c.chunk.id, c) for c in candidates if c.chunk.id not in copies]),
        decisions=tuple(decisions),
        notes=notes,
    )


def _corroborated(kept: Candidate, copies: list[Candidate]) -> Candidate:
    own = {kept.chunk.id, *[part.chunk.id for part in kept.parts]}
    gathered = [*kept.corroborating]
    for copy in copies:
        gathered += _sources(copy)
        gathered += copy.corroborating
    if len(gathered) > 1:
        gathered.sort(key=_place, reverse=True)
        gathered = sorted({source.chunk_id: source for source in gathered}.values(), key=_place)
    corroborating = tuple([source for source in gathered if source.chunk_id not in own])
    kept = replace_unchecked(Candidate, kept, corroborating=corroborating)
    score = max([kept.score, *[copy.score for copy in copies]])
    return kept if score == kept.score else replace(kept, score=score)


def _sources(candidate: Candidate) -> list[Source]:
    return [
        Source(
            chunk_id=chunk.id,
            document_id=chunk.document_id,
            source=chunk.source,
            title=chunk.title,
            page=chunk.page,
        )
        for chunk in (candidate.chunk, *[part.chunk for part in candidate.parts])
    ]


def _place(source: Source) -> tuple[str, str, int, str, str]:
    return (source.source, source.document_id, source.page or 0, source.chunk_id, source.title)


def _changed(before: Candidate, after: Candidate, copies: int) -> Decision:
    numbers: dict[str, Number] = {"copies": copies}
    if after.score != before.score:
        numbers |= {"score": after.score, "was": before.score}
    return new_decision(
        chunk_id=before.id, action="changed", reason="corroborated", numbers=numbers
    )
