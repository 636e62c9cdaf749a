"""What an adapter is: how a system is given its candidates and run.

An adapter is a class with

    start(job)               once: import, build what outlives a question (untimed)
    prepare(rows, vectors)   before every run: native objects, from new strings (timed apart)
    run() -> Made            the job itself: candidates in memory to the final text (timed)

Strings are new objects in every run, as if they had just been fetched: no hash or cache stands on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """One measurement: this workload under this budget in tokens."""

    rows: Sequence[Row]
    vectors: Floats
    query: str
    query_vector: Floats
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The final text; the system's own count of it, if it has one; what else is worth a word."""

    text: str
    claimed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


class Adapter(Protocol):
    """The contract above, as a type."""

    def start(self, job: Job) -> None:
        """Import and build what outlives a question."""

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Build the native objects of one run."""

    def run(self) -> Made:
        """Do the job."""
