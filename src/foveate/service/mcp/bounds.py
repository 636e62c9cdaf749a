"""What a call of a tool may ask for at the most: the tools' schemas say so, and are held to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """Sizes in tokens (`budget`, `usual`), characters (`query`, `text`, `answer`) and counts.

    `usual`: the budget of a call that names none. `found`: candidates that a search brings.
    """

    budget: int = 32_000
    usual_budget: int = 4_000
    query: int = 4_000
    text: int = 100_000
    answer: int = 100_000
    search_limit: int = 100
    candidates: int = 200
    filters: int = 16

    @property
    def default_budget(self) -> int:
        """The budget of a call that names none."""
        return min(self.usual_budget, self.budget)

    @property
    def default_limit(self) -> int:
        """The candidates of a context whose call names no number."""
        return min(20, self.search_limit)
