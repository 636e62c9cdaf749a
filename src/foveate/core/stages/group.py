"""Group: the chunks of one document stand together, in reading order.

Documents are ordered by their best score, then source and id. Supplements stay first.
"""

from __future__ import annotations

from dataclasses import dataclass

from foveate.core.grouping import group_by_document, split_supplements
from foveate.core.request import Request
from foveate.core.types import Candidate, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Put the chunks of each document together, the document with the best chunk first."""

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Reorder the candidates; no decisions."""
        aside, rest = split_supplements(candidates)
        return Step(candidates=(*aside, *(c for group in group_by_document(rest) for c in group)))
