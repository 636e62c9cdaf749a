"""Whether a workload is what it says it is: kinds, sizes, overlaps, cosines, and distinct texts.

    python -m bench.peers.check [N ...]

Two texts that are no copies of one another should be different texts: the check takes the share
of word triples that random pairs have in common (over the smaller text).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from bench.peers.workload import SIZES, Workload, load, make

PAIRS = 20_000
SHARED = 0.3


def check(workload: Workload) -> dict[str, Any]:
    """The figures; an assertion fails where a promise of the generator does not hold."""
    rows, truths = workload.rows, workload.truths
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    texts = {row.id: row.text for row in rows}
    overlapping = [(row, t) for row, t in zip(rows, truths, strict=True) if t.after]
    assert all(texts[t.after].endswith(row.text[: t.overlap]) for row, t in overlapping)
    carried = [(fact, [fact["text"] in texts[i] for i in fact["ids"]]) for fact in workload.facts]
    assert all(all(found) for _, found in carried)
    tokens = [row.tokens for row in rows]
    shared = sorted(_shares(workload))
    return {
        **workload.about,
        "kinds": dict(Counter(truth.kind for truth in truths)),
        "documents": len({row.document for row in rows}),
        "tokens a chunk": f"{min(tokens)} to {max(tokens)}, mean {sum(tokens) / len(tokens):.0f}",
        "least cosine of copies": round(min(_copies(workload), default=1.0), 3),
        "facts": dict(Counter(fact["where"] for fact in workload.facts)),
        "pairs": len(shared),
        "pairs sharing 0.3 or more": sum(share >= SHARED for share in shared),
        "most shared": round(shared[-1], 3) if shared else 0.0,
    }


def _copies(workload: Workload) -> Iterator[float]:
    """The cosines of each group's first member with the others."""
    first: dict[int, int] = {}
    for i, truth in enumerate(workload.truths):
        j = first.setdefault(truth.group, i)
        if j != i:
            yield float(workload.vectors[i] @ workload.vectors[j])


def _shares(workload: Workload) -> Iterator[float]:
    """The shares of all pairs of originals, or of many random ones, without overlapping ones."""
    bags = [
        (row.id, truth.after, triples(row.text))
        for row, truth in zip(workload.rows, workload.truths, strict=True)
        if truth.kind in ("base", "adjacent")
    ]
    for i, j in _pairs(len(bags)):
        (one, before_one, a), (two, before_two, b) = bags[i], bags[j]
        if one != before_two and two != before_one:
            yield len(a & b) / max(1, min(len(a), len(b)))


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    """All pairs where they are few."""
    if n * (n - 1) // 2 <= PAIRS:
        yield from ((i, j) for i in range(n) for j in range(i))
        return
    dice = Random(n)  # noqa: S311
    for _ in range(PAIRS):
        i = dice.randrange(1, n)
        yield i, dice.randrange(i)


def triples(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words in lower case."""
    words = text.lower().split()
    return frozenset(zip(words, words[1:], words[2:], strict=False))


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    make(sizes)
    for size in sizes:
        print(
            "\n".join(f"{name}: {value}" for name, value in check(load(size)).items()), end="\n\n"
        )
