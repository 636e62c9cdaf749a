"""What the checks of all stores compute again: the totals of readers, and their findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic

from foveate.core.errors import ExternalError
from foveate.core.state import combine_states, state_hash
from foveate.stores.base import Finding, Report
from foveate.stores.totals import R, Totals

MAX_FINDINGS = 100
"""Findings that a check reports of one part."""


@dataclass(slots=True)
class Recount(Generic[R]):
    """The findings of a check, and the totals of readers; `passes`: errors that end the check."""

    totals: Totals[R] = field(default_factory=Totals)
    found: list[Finding] = field(default_factory=list)
    passes: tuple[type[Exception], ...] = ()
    documents: int = 0
    chunks: int = 0

    def take(self, part: str, findings: Iterable[str]) -> None:
        """Take findings down, not too many of a part; that something cannot be read is one."""
        room = MAX_FINDINGS - sum(one.part == part for one in self.found)
        try:
            for what in islice(findings, room):
                self.found.append(Finding(part=part, what=what))
        except self.passes:
            raise
        except ExternalError as error:
            self.found.append(Finding(part=part, what=str(error)))
        except Exception as error:  # noqa: BLE001 (what a damaged value leads to is not foreseen)
            what = f"holds a value that was not put there: {error}"
            self.found.append(Finding(part=part, what=what))

    def report(self, embedder: str) -> Report:
        """All findings, and the state root of the rows."""
        return Report(
            documents=self.documents,
            chunks=self.chunks,
            state_root=state_hash(combine_states(self.totals.states.values()), embedder=embedder),
            findings=tuple(self.found),
        )
