"""Copies merged into the kept candidate: it takes them as `duplicates`, and their best score.

Duplicates stand once each, by source, document, page and chunk. Candidates keep their order;
decisions come by rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from foveate.core.images import images_of
from foveate.core.types import Candidate, Chunk, Decision, Duplicate, Number, Step, rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Why a candidate leaves: the id of the one that stays for it, and the numbers."""

    by: str
    numbers: Mapping[str, Number]


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
    images = {c.chunk.id: image_references([c.chunk]) for c in candidates} if copies else {}
    copies = {own: copy for own, copy in copies.items() if images[own] <= images[copy.by]}
    groups: dict[str, list[Candidate]] = {copy.by: [] for copy in copies.values()}
    stay: dict[str, Candidate] = {}
    decisions: list[Decision] = []
    involved = [c for c in candidates if c.chunk.id in copies or c.chunk.id in groups]
    for candidate in sorted(involved, key=rank):
        if copy := copies.get(candidate.chunk.id):
            groups[copy.by].append(candidate)
    for candidate in sorted(involved, key=rank):
        own, copy = candidate.chunk.id, copies.get(candidate.chunk.id)
        if copy is None:
            stay[own] = _corroborated(candidate, groups[own])
            decisions.append(_changed(candidate, stay[own], len(groups[own])))
        else:
            decisions.append(
                Decision(
                    chunk_id=own, action="merged", reason=reason, by=copy.by, numbers=copy.numbers
                )
            )
    return Step(
        candidates=tuple([stay.get(c.chunk.id, c) for c in candidates if c.chunk.id not in copies]),
        decisions=tuple(decisions),
        notes=notes or {},
    )


def image_references(chunks: Iterable[Chunk]) -> set[str]:
    """What stands for the images of these chunks."""
    return {image.reference for chunk in chunks for image in images_of(chunk.metadata)}


def _corroborated(kept: Candidate, copies: list[Candidate]) -> Candidate:
    own = {kept.chunk.id, *[part.chunk.id for part in kept.parts]}
    found = {duplicate.chunk.id: duplicate for duplicate in kept.duplicates}
    whole = (0, len(kept.chunk.text))
    for copy in copies:
        for chunk in _chunks(copy):
            if chunk.id not in own:
                found.setdefault(chunk.id, Duplicate(chunk=chunk, span=whole))
    kept = replace(kept, duplicates=tuple(sorted(found.values(), key=_place)))
    best = max((kept, *copies), key=lambda candidate: candidate.score)
    return kept if best is kept else replace(kept, score=best.score, scored=best.scored)


def _chunks(copy: Candidate) -> list[Chunk]:
    """The copy's text, those it was stitched from, and those that were merged into it."""
    return [copy.chunk, *[p.chunk for p in copy.parts], *[d.chunk for d in copy.duplicates]]


def _place(duplicate: Duplicate) -> tuple[str, str, int, str]:
    chunk = duplicate.chunk
    return (chunk.source, chunk.document_id, chunk.page or 0, chunk.id)


def _changed(before: Candidate, after: Candidate, copies: int) -> Decision:
    numbers: dict[str, Number] = {"copies": copies}
    if after.score != before.score:
        numbers |= {"score": after.score, "was": before.score}
    return Decision(chunk_id=before.id, action="changed", reason="corroborated", numbers=numbers)
