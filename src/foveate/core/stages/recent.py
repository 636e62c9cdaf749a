"""PreferRecent: of two equally good texts, the recent one scores higher.

score' = score + |score| x weight x 0.5 ** (age / half-life). Age counts back from the request's
`instant`, else from the newest candidate. An undated text keeps its score.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from typing import ClassVar

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.types import Candidate, Decision, Step

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferRecent:
    """Raise the scores of recently modified texts.

    `half_life_days`: after that many days the rise is half as large. `weight`: the largest rise,
    as a share of the score, 0 to 1. A second run would raise again, so it does not settle.
    """

    half_life_days: float = 30.0
    weight: float = 0.3

    settles: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isfinite(self.half_life_days) and self.half_life_days > 0):
            raise BadOption(
                f"prefer_recent: half_life_days is {self.half_life_days!r}; it must be over 0"
            )
        if not 0 <= self.weight <= 1:
            raise BadOption(f"prefer_recent: weight is {self.weight!r}; it must be 0 to 1")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Give each dated candidate its new score; one decision `recent` for each that changed."""
        now = _reference_time(candidates, request)
        if now is None:
            return Step(candidates=candidates)
        kept: list[Candidate] = []
        decisions: list[Decision] = []
        for candidate in candidates:
            age = age_in_days(candidate, now)
            score = raise_score(candidate.score, age, self.half_life_days, self.weight)
            if age is None or score == candidate.score:
                kept.append(candidate)
                continue
            kept.append(replace(candidate, score=score))
            numbers = {"old": candidate.score, "new": score, "age_days": age}
            decisions.append(
                Decision(chunk_id=candidate.id, action="changed", reason="recent", numbers=numbers)
            )
        return Step(candidates=tuple(kept), decisions=tuple(decisions))


def raise_score(score: float, age: float | None, half_life: float, weight: float) -> float:
    """The score with its rise; `age` and `half_life` in days, age None for unknown.

    >>> (
    ...     raise_score(0.8, 30.0, 30.0, 0.5),
    ...     raise_score(-0.8, 30.0, 30.0, 0.5),
    ...     raise_score(0.8, None, 30.0, 0.5),
    ... )
    (1.0, -0.6000000000000001, 0.8)
    """
    if age is None:
        return score
    # Powers may differ in the last bit from one C library to the next; nine decimals do not.
    share: float = weight * round(0.5 ** (age / half_life), 9)
    return min(score + abs(score) * share, sys.float_info.max)


def age_in_days(candidate: Candidate, now: datetime) -> float | None:
    """Days since the text was modified, 0 for the future, None where no date is known."""
    modified = candidate.chunk.modified_at
    if modified is None or candidate.origin == "supplement":
        return None
    return max(0.0, (now - modified).total_seconds() / _DAY)


def _reference_time(candidates: tuple[Candidate, ...], request: Request) -> datetime | None:
    if request.instant is not None:
        instant = request.instant
        return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    dates = (c.chunk.modified_at for c in candidates if c.origin != "supplement")
    return max((date for date in dates if date is not None), default=None)
