"""Admission: which candidates enter, and in what order (SPEC I3, I4, D1).

A candidate that the caller may not read leaves no decision and no count. Candidates that enter
are in rank order; the order of the input is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from foveate.core.candidates import check_consistency, is_readable
from foveate.core.checks import check_principals, check_query
from foveate.core.errors import BadInput
from foveate.core.manifest import candidates_hash, stage_name
from foveate.core.request import Inputs, Recipe
from foveate.core.text.sanitise import is_invisible
from foveate.core.text.words import identifier_pattern, long_identifiers
from foveate.core.types import Candidate, Chunk, Decision, Number, Step, rank

NOTHING_FOUND = ("no_candidates", "the retriever found nothing that may be read")
"""The note of a request without candidates; its context is empty."""

IDENTIFIER_MISSING = "identifier_missing"
"""The note of a question that names an identifier which no text holds."""

GATE = "supplement_gate"
NO_GATE = ("supplements_left_out", f"the recipe has no stage {GATE}, which lets them in")
"""The note of a request with supplements whose recipe lets none in."""


def admit(inputs: Inputs) -> Inputs:
    """The inputs without what the caller may not read, checked and in rank order."""
    check_query(inputs.query)
    allowed = frozenset(inputs.principals)
    candidates = inputs.candidates
    if any(c.chunk.principals for c in candidates):
        candidates = tuple(c for c in candidates if is_readable(c.chunk.principals, allowed))
    check_consistency(candidates)
    _check_unprocessed(candidates)
    neighbours = [c for c in inputs.neighbours if is_readable(c.principals, allowed)]
    supplements = [
        s for s in inputs.supplements if is_readable(check_principals(s.principals), allowed)
    ]
    return replace(
        inputs,
        recipe=settle_format(inputs.recipe, [c.chunk.source for c in candidates]),
        candidates=_sort_by_rank(candidates),
        neighbours=_deduplicate_neighbours(neighbours),
        supplements=tuple(sorted(supplements, key=lambda s: s.id)),
        principals=tuple(sorted(allowed)),
        offers=tuple(sorted(inputs.offers, key=repr)) if inputs.offers else (),
    )


def settle_format(recipe: Recipe, sources: Iterable[str]) -> Recipe:
    """The recipe, its format as these sources need it, where it depends on them."""
    form = recipe.format.for_sources(sources)
    return recipe if form == recipe.format else replace(recipe, format=form)


def trace_notes(admitted: Inputs) -> tuple[tuple[str, Number], ...]:
    """The notes of the trace's first entry: those of the inputs, and what is missing in them.

    What is missing follows from the inputs, so it is no part of them: their hash is that of what
    a bundle holds.
    """
    notes = list(admitted.notes)
    if not admitted.candidates:
        notes.append(NOTHING_FOUND)
    elif missing := _missing_identifiers(admitted):
        verb = "is" if len(missing) == 1 else "are"
        notes.append((IDENTIFIER_MISSING, f"{', '.join(missing)} {verb} in none of the texts"))
    if admitted.supplements and all(stage_name(s) != GATE for s in admitted.recipe.stages):
        notes.append(NO_GATE)
    return tuple(notes)


def _missing_identifiers(admitted: Inputs) -> list[str]:
    """The long identifiers of the query that no text, source or heading holds."""
    names = long_identifiers(admitted.query)
    if not names:
        return []
    chunks = (*(c.chunk for c in admitted.candidates), *admitted.neighbours)
    texts = [text for c in chunks for text in (c.text, c.source, c.title, c.section)]
    texts += [supplement.text for supplement in admitted.supplements]
    return [name for name in names if not _holds_any(texts, name.casefold())]


def _holds_any(texts: Sequence[str], name: str) -> bool:
    pattern = identifier_pattern([name])
    return any(name in text and pattern.search(text) for text in map(str.casefold, texts))


def _check_unprocessed(candidates: Sequence[Candidate]) -> None:
    for line, c in enumerate(candidates, 1):
        if c.parts or c.duplicates or c.renditions or c.sentences or c.shown:
            message = f"{c.id!r} comes out of a pipeline; give candidates as they were retrieved"
            raise BadInput(message, line=line)


def _sort_by_rank(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    if len({c.chunk.id for c in candidates}) == len(candidates):
        return tuple(sorted(candidates, key=rank))
    return tuple(sorted(candidates, key=lambda c: (rank(c), candidates_hash((c,)))))


def _deduplicate_neighbours(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    found: dict[str, Chunk] = {}
    for chunk in sorted(chunks, key=lambda c: (c.document_id, c.sequence, c.id)):
        if found.setdefault(chunk.id, chunk) != chunk:
            message = f"two different neighbours have the id {chunk.id!r}; give each its own"
            raise BadInput(message, field="neighbours")
    return tuple(found.values())


def deduplicate_candidates(
    candidates: tuple[Candidate, ...], notes: Sequence[tuple[str, Number]] = ()
) -> Step:
    """The same chunk found several times enters once, with its best score; a blank one never."""
    chunks = [c.chunk for c in candidates]
    blank = {c.id for c in chunks if is_invisible(c.text)}
    if not blank and len({c.id for c in chunks}) == len(chunks):
        return Step(candidates=candidates, notes=dict(notes))
    copies = Counter(c.id for c in chunks)
    first = {c.chunk.id: c for c in reversed(candidates)}
    best = {i: first[i] for i in copies}
    decisions = [Decision(chunk_id=i, action="dropped", reason="blank") for i in best if i in blank]
    decisions += (
        Decision(chunk_id=i, action="merged", reason="found_again", by=i, numbers={"copies": n})
        for i, n in copies.items()
        if n > 1 and i not in blank
    )
    kept = tuple(candidate for i, candidate in best.items() if i not in blank)
    return Step(candidates=kept, decisions=tuple(decisions), notes=dict(notes))
