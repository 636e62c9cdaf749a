"""Floor: candidates that are too weak, too short, or too many of one document are dropped.

The tests run in the order of the fields; the first that fails names the reason. Supplements are not
tested. The order stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.types import Candidate, Decision, Step, rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Drop candidates under a score, under a length, or over a quota.

    `min_score`: kept from this score up. `min_tokens`: shorter chunks are degenerate (0, the
    default, keeps all; blank text has no tokens). `max_per_document`: the best-ranked that many
    stay; `max_candidates`: of all of them.
    """

    min_score: float | None = None
    min_tokens: int = 0
    max_per_document: int | None = None
    max_candidates: int | None = None

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.min_score is not None and not isfinite(self.min_score):
            raise BadOption(f"floor: min_score is {self.min_score!r}; give a finite number")
        if self.min_tokens < 0:
            raise BadOption(f"floor: min_tokens is {self.min_tokens!r}; it must be 0 or more")
        for name in ("max_per_document", "max_candidates"):
            most = getattr(self, name)
            if most is not None and most < 1:
                raise BadOption(f"floor: {name} is {most!r}; it must be 1 or more")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop what fails a test: `below_floor`, `degenerate`, `document_quota` or `quota`."""
        dropped = {d.chunk_id: d for d in _floor_decisions(candidates, self, request)}
        if self.max_per_document is not None:
            fit = [c for c in candidates if c.id not in dropped]
            dropped |= {
                d.chunk_id: d for d in _document_quota_decisions(fit, self.max_per_document)
            }
        if self.max_candidates is not None:
            fit = [c for c in candidates if c.id not in dropped and c.origin != "supplement"]
            dropped |= {d.chunk_id: d for d in _quota_decisions(fit, self.max_candidates)}
        return Step(
            candidates=tuple(c for c in candidates if c.id not in dropped),
            decisions=tuple(dropped[c.id] for c in candidates if c.id in dropped),
        )


def _floor_decisions(
    candidates: tuple[Candidate, ...], floor: Floor, request: Request
) -> Iterator[Decision]:
    for candidate in candidates:
        if candidate.origin == "supplement":
            continue
        if floor.min_score is not None and candidate.score < floor.min_score:
            numbers = {"score": candidate.score, "floor": floor.min_score}
            yield _drop_decision(candidate, "below_floor", numbers)
        elif floor.min_tokens:
            tokens = _count_tokens(candidate, request) if candidate.text.strip() else 0
            if tokens < floor.min_tokens:
                numbers = {"tokens": tokens, "min": floor.min_tokens}
                yield _drop_decision(candidate, "degenerate", numbers)


def _count_tokens(candidate: Candidate, request: Request) -> int:
    shown = candidate.shown
    return (
        request.token_counter.count_chunk(candidate.chunk)
        if shown is None
        else request.token_counter.count_text(shown.text)
    )


def _document_quota_decisions(candidates: list[Candidate], quota: int) -> Iterator[Decision]:
    seen: dict[str, int] = {}
    for candidate in sorted(candidates, key=rank):
        if candidate.origin == "supplement":
            continue
        place = seen[candidate.document_id] = seen.get(candidate.document_id, 0) + 1
        if place > quota:
            yield _drop_decision(candidate, "document_quota", {"rank": place, "quota": quota})


def _quota_decisions(candidates: list[Candidate], quota: int) -> Iterator[Decision]:
    for place, candidate in enumerate(sorted(candidates, key=rank)[quota:], quota + 1):
        yield _drop_decision(candidate, "quota", {"rank": place, "quota": quota})


def _drop_decision(candidate: Candidate, reason: str, numbers: dict[str, int | float]) -> Decision:
    return Decision(chunk_id=candidate.id, action="dropped", reason=reason, numbers={**numbers})
