"""What a context is worth for a question whose evidence is known. Judges the rendered text alone.

| measure | definition |
|---|---|
| recall | mean over the evidence units of the share of their words that stand in the context inside a matching run of five words (CJK: characters); 1 = there verbatim |
| full | share of the units with a coverage of 0.95 or more |
| complete | 1 where every unit is that well covered: what a question over several documents needs |
| answer | 1 where an answer stands in the context; None where answers are free text or unknown |
| weighted | recall, each unit weighted by how well models read its place (`attention.py`) |
| redundancy | 1 - distinct / all runs of eight words |
| use | tokens / budget |
| over | 1 where the context is over its budget |
| covered | sum of the units' coverage; tokens / covered is the price of evidence |

They are the definitions of the reference implementation that comes with the evaluation data; the
tests compare with it. Tokens are cl100k_base where nothing else is asked for.
"""  # noqa: E501  # a table's row is one line

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from foveate.evals.attention import DEFAULT, weight
from foveate.evals.words import words

RUN = 5
"""Words in a row that must agree for them to count as found."""
REPEAT = 8
"""Words in a row that, when they come again, are redundant."""
ENOUGH = 0.95

FREE_TEXT = frozenset({"claude_docs", "code_libafl", "chunkeval", "financebench"})
"""Sets whose answers are free text, so that they need not stand in any source word by word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of one context for one question."""

    tokens: int
    recall: float
    full: float
    complete: float
    answer: float | None
    weighted: float
    redundancy: float
    use: float | None
    over: float
    covered: float


def measure(
    text: str,
    evidence: Sequence[str],
    answers: Sequence[str] = (),
    *,
    tokens: int,
    budget: int | None = None,
    dataset: str = "",
    curve: str = DEFAULT,
) -> Measures:
    """Measure the text against the evidence, of which there is at least one unit.

    >>> found = measure("The well is nine metres deep.", ["It is nine metres deep."], tokens=7)
    >>> found.recall, found.full
    (0.0, 0.0)
    >>> measure("So it is nine metres deep now.", ["It is nine metres deep."], tokens=8).recall
    1.0
    """
    spread = Spread(text, tokens)
    found = [spread.cover(unit, curve) for unit in evidence]
    shares = [share for share, _ in found]
    return Measures(
        tokens=tokens,
        recall=fmean(shares),
        full=fmean(share >= ENOUGH for share in shares),
        complete=float(all(share >= ENOUGH for share in shares)),
        answer=_answered(spread, answers) if answers and dataset not in FREE_TEXT else None,
        weighted=fmean(share * place for share, place in found),
        redundancy=spread.redundancy(),
        use=tokens / budget if budget else None,
        over=float(bool(budget) and tokens > (budget or 0)),
        covered=sum(shares),
    )


class Spread:
    """One text spread out for looking things up: its words in a row, one space around each."""

    __slots__ = ("_line", "_tokens", "_words")

    def __init__(self, text: str, tokens: int) -> None:
        self._words = words(text)
        self._line = f" {' '.join(self._words)} "
        self._tokens = tokens

    def cover(self, evidence: str, curve: str = DEFAULT) -> tuple[float, float]:
        """(share of the evidence's words that are there, the best weight of where they are)."""
        runs, total, whole = _runs(evidence)
        if not runs:
            return 0.0, 0.0
        if whole in self._line:  # verbatim: every run is there
            found = list(range(len(runs)))
        else:
            found = [i for i, run in enumerate(runs) if run in self._line]
        if not found:
            return 0.0, 0.0
        length = min(RUN, total)
        middle = runs[found[len(found) // 2]]
        last = max(len(self._words) - 1, 1)
        places = ((at + length / 2) / last for at in self._positions(middle))
        best = max(weight(place, self._tokens, curve) for place in places)
        return _hit(found, length) / total, best

    def has(self, phrase: str) -> bool:
        """Whether the phrase's words stand here in a row."""
        looked_for = " ".join(words(phrase))
        return bool(looked_for) and f" {looked_for} " in self._line

    def redundancy(self) -> float:
        """Share of the runs of eight words that came before."""
        total = len(self._words) - REPEAT + 1
        if total <= 0:
            return 0.0
        runs = zip(*(self._words[i:] for i in range(REPEAT)), strict=False)
        return 1 - len(set(runs)) / total

    def _positions(self, run: str) -> list[int]:
        """The indices of the words at which the run begins."""
        found, at, seen, counted = [], self._line.find(run), 0, 0
        while at >= 0:
            seen += self._line.count(" ", counted, at)
            counted = at
            found.append(seen)
            at = self._line.find(run, at + 1)
        return found


@lru_cache(maxsize=4_096)
def _runs(evidence: str) -> tuple[tuple[str, ...], int, str]:
    """The evidence's runs of words, how many words it has, and all of it, spelled as in a line."""
    looked_for = words(evidence)
    length = min(RUN, len(looked_for))
    if not looked_for:
        return (), 0, ""
    starts = range(len(looked_for) - length + 1)
    runs = tuple(f" {' '.join(looked_for[i : i + length])} " for i in starts)
    return runs, len(looked_for), f" {' '.join(looked_for)} "


def _hit(found: Sequence[int], length: int) -> int:
    """How many words the runs that begin at these words cover together; `found` rises."""
    covered, end = 0, 0
    for start in found:
        covered += start + length - max(start, end)
        end = start + length
    return covered


def _answered(spread: Spread, answers: Sequence[str]) -> float:
    return float(any(spread.has(answer) for answer in answers))
