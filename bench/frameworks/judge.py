"""One context of one framework, judged: the evidence in it, its tokens, repeats, and its citations.

A citation is right where a reader who sees a piece of evidence, or the better half of one, and
goes by the marker that stands above it, is led to a document that says as much of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.frameworks.sides import Made
from foveate.core.contracts import Tokenizer
from foveate.evals.cases import Case, Evidence
from foveate.evals.measures import FULL_SHARE, WordIndex, measure

HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One context. `shown`: pieces of evidence that can be seen in it; `right`: cited rightly.

    `misled`: of those, with a forged marker in every text, how many are not.
    """

    recall: float
    tokens: int
    over: bool
    redundancy: float
    shown: int
    right: int
    seconds: float = 0.0
    misled: int = 0


def judged(made: Made, case: Case, budget: int, tokenizer: Tokenizer, seconds: float) -> Judged:
    """Judge a context by its text and by what its markers lead to."""
    tokens = tokenizer.count(made.text)
    figures = measure(made.text, [one.text for one in case.evidence], tokens=tokens, budget=budget)
    whole = WordIndex(made.text, tokens)
    parts = [(n, WordIndex(text, 1)) for n, text in marked(made)]
    found = [_cited(one, whole, parts, made, case) for one in case.evidence]
    return Judged(
        recall=figures.recall,
        tokens=tokens,
        over=tokens > budget,
        redundancy=figures.redundancy,
        shown=sum(one is not None for one in found),
        right=sum(one is True for one in found),
        seconds=seconds,
    )


def misled(made: Made, case: Case) -> int:
    """How many pieces of evidence a reader would credit to another source."""
    whole, parts = WordIndex(made.text, 1), [(n, WordIndex(text, 1)) for n, text in marked(made)]
    return sum(_cited(one, whole, parts, made, case) is False for one in case.evidence)


def marked(made: Made) -> Iterator[tuple[int, str]]:
    """Each marker, and the text below it, as a reader takes it."""
    heads = list(made.marks.finditer(made.text))
    ends = [head.start() for head in heads[1:]]
    for head, end in zip(heads, [*ends, len(made.text)], strict=False):
        yield int(head[1]), made.text[head.end() : end]


def _cited(
    one: Evidence, whole: WordIndex, parts: list[tuple[int, WordIndex]], made: Made, case: Case
) -> bool | None:
    """Whether the marker above it leads to where it is said; None where it cannot be seen."""
    share, marker = max(((text.coverage(one.text)[0], n) for n, text in parts), default=(0.0, 0))
    if share < HALF:
        return False if whole.coverage(one.text)[0] >= FULL_SHARE else None
    homes = {one.doc_id} | {chunk.doc_id for chunk in case.chunks if chunk.id in one.chunk_ids}
    led = made.leads_to(marker)
    if homes & led:
        return True
    said = "\n".join(chunk.text for chunk in case.chunks if chunk.doc_id in led)
    return WordIndex(said, 1).coverage(one.text)[0] >= share
