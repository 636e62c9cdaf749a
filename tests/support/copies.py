"""What is kept of a copy that was dropped."""

from __future__ import annotations

from foveate.core.types import Candidate, Duplicate


def duplicates(kept: Candidate, *copies: Candidate) -> tuple[Duplicate, ...]:
    """The copies as the candidate that stays for them holds them: for its whole text."""
    return tuple(Duplicate(chunk=copy.chunk, span=(0, len(kept.text))) for copy in copies)
