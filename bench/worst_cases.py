"""Inputs made to blow up: how the work of the default recipe grows with their size.

    python -m bench.worst_cases              a minute
    python -m bench.worst_cases --small      only the counts, which the tests assert on

Each case is run at a size and at four times that size, measured in characters of the input. The
exponent says how the measure grows: 1 is in proportion, 2 is quadratic. Work is counted at small
sizes (calls of functions, Python's and C's; characters that the tokenizer reads; pairs of texts
compared in full; peak memory that Python allocated): the same on every machine. Time is taken at
large sizes, and is for the eye.

Where not even the smallest context fits (one text of a million letters), the answer is the
smallest budget that would do, which takes up to twenty assemblies to find. Sizes are chosen so
that a case does not pass from the one to the other.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log
from types import FrameType
from typing import Any

from bench.forget import forget
from foveate.core.assemble import assemble
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.core.types import Candidate, Chunk, Trace
from foveate.core.zones import Budget
from foveate.providers.tokenizers import load_tokenizer

BUDGET = Budget(documents=4_000, window=None)
QUERY = "Which gate of the lock opens first, and who opens it?"
SENTENCE = "The keeper of the lock opens the lower gate first, and then the upper one. "
WORDS = tuple(f"w{number}" for number in range(50_000))
TIMES = 4
NOTHING = 2**20  # bytes: less memory than this says nothing about growth


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`texts(n)`: the chunks of size n; `overlap`: how much of a chunk the next claims to repeat.

    `small` and `large` are n where work is counted and where time is taken.
    """

    name: str
    texts: Callable[[int], Iterable[str]]
    small: int
    large: int
    overlap: int = 0


def sliding(n: int) -> Iterable[str]:
    """A hundred words each, five on from the one before: each nearly its neighbour."""
    return (" ".join(WORDS[5 * i : 5 * i + 100]) + "." for i in range(n))


def prefixes(n: int) -> Iterable[str]:
    """Each text holds all the shorter ones; n is the longest, in sentences."""
    told = [f"Gate {WORDS[i]} opens before {WORDS[i + 1]}. " for i in range(n)]
    return ("".join(told[: i + 1]) for i in range(n))


CASES = (
    Case(name="one letter", texts=lambda n: ["a" * n], small=20_000, large=250_000),
    Case(name="one word", texts=lambda n: ["ab " * n], small=5_000, large=80_000),
    Case(name="blank lines", texts=lambda n: ["a\n\n" * n], small=250, large=500),
    Case(
        name="brackets",
        texts=lambda n: ("[1] <" * 20 + WORDS[i] for i in range(n)),
        small=40,
        large=2_500,
    ),
    Case(name="digits in a row", texts=lambda n: ["7" * n], small=2_000, large=250_000),
    Case(name="identical chunks", texts=lambda n: [SENTENCE * 20] * n, small=100, large=2_500),
    Case(
        name="one sentence, repeated",
        texts=lambda n: (SENTENCE * (1 + i % 23) for i in range(n)),
        small=12,
        large=2_500,
    ),
    Case(
        name="overlaps of ab",
        texts=lambda n: ["ab" * 600] * n,
        small=100,
        large=2_500,
        overlap=600,
    ),
    Case(
        name="overlaps, nearly",
        texts=lambda n: ("ab" * 600 + WORDS[i] for i in range(n)),
        small=100,
        large=2_500,
        overlap=600,
    ),
    Case(name="nested prefixes", texts=prefixes, small=14, large=200),
    Case(name="chain of near copies", texts=sliding, small=20, large=2_500),
    Case(
        name="digits only",
        texts=lambda n: (f"{i:06d} " * 60 for i in range(n)),
        small=30,
        large=2_500,
    ),
)


@dataclass(slots=True)
class Work:
    """What a run took; `size` is the input's, in characters."""

    size: int = 0
    calls: int = 0
    read: int = 0
    compared: int = 0
    peak: int = 0
    seconds: float = 0.0

    def exponent(self, larger: Work, measure: str) -> float:
        """How the measure grows from this size to the larger one."""
        least = NOTHING if measure == "peak" else 1
        small, large = (max(least, getattr(work, measure)) for work in (self, larger))
        return log(large / small) / log(larger.size / self.size)


@dataclass(slots=True)
class Reading:
    """A tokenizer that notes how many characters it reads."""

    inner: Tokenizer
    name: str = "cl100k_base"
    fingerprint: str = "reading"
    read: int = 0

    def count(self, text: str) -> int:
        """Count, and note it."""
        self.read += len(text)
        return self.inner.count(text)

    def truncate(self, text: str, n: int) -> str:
        """Cut, and note it."""
        self.read += len(text)
        return self.inner.truncate(text, n)


def pool(case: Case, n: int) -> tuple[Candidate, ...]:
    """The case's chunks, in documents of a hundred, best first."""
    found = []
    for number, text in enumerate(case.texts(n)):
        document, sequence = divmod(number, 100)
        start = sequence * (len(text) - case.overlap) if case.overlap else None
        chunk = Chunk(
            text=text,
            id=f"c{number}",
            document_id=f"d{document}",
            sequence=sequence,
            start=start,
            end=None if start is None else start + len(text),
        )
        found.append(Candidate(chunk=chunk, score=1 - number / 1_000_000))
    return tuple(found)


def run(case: Case, n: int, recipe: str = "default", *, counted: bool = True) -> Work:
    """Assemble once, with nothing remembered, counting the work or taking the time."""
    candidates = pool(case, n)
    tokenizer = Reading(inner=load_tokenizer("cl100k_base"))
    inputs = Inputs(
        query=QUERY, candidates=candidates, recipe=builtin_recipes()[recipe], budget=BUDGET
    )
    work = Work(size=sum(len(c.text) for c in candidates))
    forget()
    if not counted:
        begun = time.process_time()
        trace_of(inputs, tokenizer)
        work.seconds = time.process_time() - begun
        return work
    trace, work.calls, work.peak = counting(lambda: trace_of(inputs, tokenizer))
    work.read = tokenizer.read
    work.compared = sum(int(stage.notes.get("compared", 0)) for stage in trace)
    return work


def trace_of(inputs: Inputs, tokenizer: Tokenizer) -> Trace:
    """The trace of the assembly; none where nothing fits, which is an answer, too."""
    try:
        return assemble(inputs, tokenizer, {}).trace
    except BudgetTooSmall:
        return ()


def counting(job: Callable[[], Any]) -> tuple[Any, int, int]:
    """What the job gives, the calls of functions that it makes, the bytes it allocates at most."""
    calls = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(note)
    try:
        made = job()
    finally:
        sys.setprofile(before)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return made, calls, peak


def main() -> None:
    """One line a case."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--small", action="store_true", help="only the counts")
    parser.add_argument("--recipe", default="default")
    chosen = parser.parse_args()
    counts = f"{'characters':>12}{'calls':>10}{'^':>6}{'read':>10}{'^':>6}{'compared':>10}"
    counts += f"{'MB':>6}{'^':>6}"
    print(f"{'case':24}{counts}   {'characters':>12}{'seconds':>9}{'^':>6}")
    for case in CASES:
        told = "" if chosen.small else timed(case, chosen.recipe)
        print(f"{case.name:24}{counted(case, chosen.recipe)}   {told}", flush=True)


def counted(case: Case, recipe: str) -> str:
    """The counts at four times the small size, and how they grew."""
    few, many = (run(case, size, recipe) for size in (case.small, TIMES * case.small))
    grew = {name: few.exponent(many, name) for name in ("calls", "read", "peak")}
    return (
        f"{many.size:12,}{many.calls:10,}{grew['calls']:6.2f}{many.read:10,}{grew['read']:6.2f}"
        f"{many.compared:10,}{many.peak / 2**20:6.1f}{grew['peak']:6.2f}"
    )


def timed(case: Case, recipe: str) -> str:
    """Seconds at four times the large size, and how they grew."""
    few, many = (
        run(case, size, recipe, counted=False) for size in (case.large, TIMES * case.large)
    )
    slope = log(max(many.seconds, 1e-6) / max(few.seconds, 1e-6)) / log(many.size / few.size)
    return f"{many.size:12,}{many.seconds:9.2f}{slope:6.2f}"


if __name__ == "__main__":
    main()
