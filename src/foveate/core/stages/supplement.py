"""SupplementGate: side knowledge enters only if retrieval was not enough.

1. Shut unless the request's intent is one of `intents`, and the best retrieved candidate is under
   `max_similarity` (by semantic score, else by score) or missing.
2. A supplement that the reader may not see neither enters nor is counted.
3. The most similar first, then by id; all before the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from foveate.core.candidates import is_readable
from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.types import Candidate, Chunk, Decision, Number, Step, Supplement


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementGate:
    """Let side knowledge in for these intents, when nothing retrieved is similar enough.

    `max_similarity`: from this best semantic score up, retrieval was enough. A supplement that is
    less similar to the query than nothing (0) stays out. No intents: nothing ever enters.
    """

    intents: tuple[str, ...] = ()
    max_similarity: float = 0.5

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        given: object = self.intents
        if isinstance(given, str):
            raise BadOption(f"supplement: intents is {given!r}; give a tuple of strings")
        object.__setattr__(self, "intents", tuple(self.intents))
        if not isfinite(self.max_similarity):
            raise BadOption(
                f"supplement: max_similarity is {self.max_similarity!r}; give a finite number"
            )

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Put supplements first, each with a decision `retrieval_not_enough`, or note how many not.

        The note `suppressed` counts supplements the reader may see that did not enter; beside it
        stand the best `similarity` of what was retrieved, its `limit`, and the `intent` where that
        was none of the gate's.
        """
        waiting = _eligible_supplements(candidates, request)
        best = best_similarity(candidates)
        short = best is None or best < self.max_similarity
        let_in = [s for s in waiting if s.similarity >= 0]
        if request.intent not in self.intents or not short:
            let_in = []
        numbers: dict[str, Number] = {"threshold": self.max_similarity}
        if best is not None:
            numbers["best"] = best
        notes: dict[str, Number] = {}
        if suppressed := len(waiting) - len(let_in):
            notes["suppressed"] = suppressed
            notes |= {"similarity": best} if best is not None else {}
            notes["limit"] = self.max_similarity
            if request.intent not in self.intents:
                notes["intent"] = request.intent or "none"
        return Step(
            candidates=(*map(_candidate_from_supplement, let_in), *candidates)
            if let_in
            else candidates,
            decisions=tuple(_entry_decision(s, numbers) for s in let_in),
            notes=notes,
        )


def best_similarity(candidates: tuple[Candidate, ...]) -> float | None:
    """The best semantic score of what was retrieved; the best score where none is known."""
    retrieved = [c for c in candidates if c.origin == "retrieved"]
    semantic = [c.semantic_score for c in retrieved if c.semantic_score is not None]
    return max(semantic or [c.score for c in retrieved], default=None)


def _eligible_supplements(candidates: tuple[Candidate, ...], request: Request) -> list[Supplement]:
    there = {candidate.id for candidate in candidates}
    allowed = frozenset(request.principals)
    found: dict[str, Supplement] = {}
    for supplement in request.supplements:
        if _supplement_chunk_id(supplement) not in there and is_readable(
            supplement.principals, allowed
        ):
            found.setdefault(supplement.id, supplement)
    return sorted(found.values(), key=lambda s: (-s.similarity, s.id))


def _candidate_from_supplement(supplement: Supplement) -> Candidate:
    chunk = Chunk(
        id=_supplement_chunk_id(supplement),
        document_id=_supplement_chunk_id(supplement),
        text=supplement.text,
        title=supplement.title,
        principals=supplement.principals,
    )
    return Candidate(chunk=chunk, score=supplement.similarity, origin="supplement")


def _entry_decision(supplement: Supplement, numbers: dict[str, Number]) -> Decision:
    return Decision(
        chunk_id=_supplement_chunk_id(supplement),
        action="entered",
        reason="retrieval_not_enough",
        numbers={"similarity": supplement.similarity, **numbers},
    )


def _supplement_chunk_id(supplement: Supplement) -> str:
    """Supplements have a name space of their own: their ids cannot meet a chunk's by accident."""
    return f"supplement:{supplement.id}"
