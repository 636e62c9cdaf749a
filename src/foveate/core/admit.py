"""The door: who may come in, and in what order (SPEC I3, I4, D1).

What the caller may not read never enters, leaves no decision and no count. The same chunk found
twice comes in once. From here on the order of the input is gone: candidates stand in rank order.
"""

from __future__ import annotations

from dataclasses import replace

from foveate.core.candidates import check_together, readable
from foveate.core.errors import BadInput
from foveate.core.types import Candidate, Decision, Inputs, Step, rank


def admitted(inputs: Inputs) -> Inputs:
    """The inputs without what the caller may not read, checked and in rank order."""
    if not inputs.query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    try:
        inputs.query.encode()
    except UnicodeEncodeError:
        raise BadInput("holds a lone surrogate", field="query") from None
    allowed = frozenset(inputs.principals)
    candidates = [c for c in inputs.candidates if readable(c.chunk.principals, allowed)]
    if not candidates:
        raise BadInput(
            "there are no candidates to assemble; the retriever found nothing that may be read",
            field="candidates",
        )
    check_together(tuple(candidates))
    neighbours = [c for c in inputs.neighbours if readable(c.principals, allowed)]
    supplements = [s for s in inputs.supplements if readable(s.principals, allowed)]
    return replace(
        inputs,
        candidates=tuple(sorted(candidates, key=rank)),
        neighbours=tuple(sorted(neighbours, key=lambda c: (c.document_id, c.sequence, c.id))),
        supplements=tuple(sorted(supplements, key=lambda s: s.id)),
        principals=tuple(sorted(allowed)),
    )


def once_each(candidates: tuple[Candidate, ...]) -> Step:
    """The same chunk found several times enters once, with its best score."""
    best: dict[str, Candidate] = {}
    copies: dict[str, int] = {}
    for candidate in candidates:
        best.setdefault(candidate.id, candidate)
        copies[candidate.id] = copies.get(candidate.id, 0) + 1
    decisions = tuple(
        Decision(chunk_id=i, action="merged", reason="found_again", by=i, numbers={"copies": n})
        for i, n in copies.items()
        if n > 1
    )
    return Step(candidates=tuple(best.values()), decisions=decisions)
