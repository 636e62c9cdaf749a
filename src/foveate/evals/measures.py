"""What a context is worth for a question whose evidence is known. Judges the rendered text alone.

| measure | definition |
|---|---|
| recall | mean over the evidence units of the share of their words that stand in the context inside a matching run of five words (CJK: characters); 1 = there verbatim |
| complete | 1 if 0.95 of every unit is covered: what a question over several documents needs |
| answer | 1 if an answer stands in the context; None if answers are free text or unknown |
| weighted | recall, each unit weighted by how well models read its place |
| redundancy | 1 - distinct / all runs of eight words |
| use | tokens / budget |
| over | 1 if the context is over its budget |
| covered | sum of the units' coverage; tokens / covered is the price of evidence |

They are the definitions of the reference implementation that comes with the evaluation data; the
tests compare with it. Tokens are cl100k_base where nothing else is asked for.
"""  # noqa: E501  # a table's row is one line

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

import numpy as np

# Not the words of the stages (`core/text/words.py`), so that a measure does not share their
# errors: letters and digits, CJK by character, as in the published reference figures.
_CJK = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"{_CJK}|[^\W_]+")


def split_words(text: str) -> list[str]:
    """Lower-cased words in reading order.

    >>> split_words("Snake_case, 3.5 bar and 猫が")
    ['snake', 'case', '3', '5', 'bar', 'and', '猫', 'が']
    """
    return [word.lower() for word in _WORD.findall(text)]


CURVE_PLACES = (0.0, 4 / 19, 9 / 19, 14 / 19, 1.0)
CURVE_ACCURACY = (75.8, 57.2, 53.8, 55.4, 63.2)
"""Answers right, in per cent, with the evidence at these relative places of twenty passages.

Liu et al. 2023, "Lost in the middle", arXiv:2307.03172v3, tables 5 to 7, gpt-3.5-turbo-0613.
"""
CURVE_CONTEXT_TOKENS = 2_650
"""Tokens (cl100k_base) of the twenty passages with which the curve was measured, on average."""


def attention_weight(position: float, tokens: int) -> float:
    """How much a text at this relative position counts, at most 1, in a context of `tokens`.

    Interpolates the published curve, divided by its best value. The dip shrinks with the square
    root of the context's share of `CURVE_CONTEXT_TOKENS`, as measured with ten passages.

    >>> (
    ...     attention_weight(0.0, 2650),
    ...     round(attention_weight(0.5, 2650), 3),
    ...     round(attention_weight(0.5, 100), 3),
    ... )
    (1.0, 0.712, 0.944)
    """
    read = float(np.interp(position, CURVE_PLACES, CURVE_ACCURACY)) / max(CURVE_ACCURACY)
    return 1 - (1 - read) * min(1.0, sqrt(tokens / CURVE_CONTEXT_TOKENS))


RUN_LENGTH = 5
"""Words in a row that must agree for them to count as found."""
REPEAT_LENGTH = 8
"""Words in a row that, when they come again, are redundant."""
FULL_SHARE = 0.95

WordRun = tuple[str, ...]
"""Words that follow each other."""

FREE_TEXT = frozenset({"claude_docs", "code_libafl", "chunkeval", "financebench"})
"""Sets whose answers are free text, so that they need not stand in any source word by word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of one context for one question."""

    tokens: int
    recall: float
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
) -> Measures:
    """Measure the text against the evidence, of which there is at least one unit.

    >>> found = measure("The well is nine metres deep.", ["It is nine metres deep."], tokens=7)
    >>> found.recall, found.complete
    (0.0, 0.0)
    >>> measure("So it is nine metres deep now.", ["It is nine metres deep."], tokens=8).recall
    1.0
    """
    spread = WordIndex(text, tokens)
    found = [spread.coverage(unit) for unit in evidence]
    shares = [share for share, _ in found]
    return Measures(
        tokens=tokens,
        recall=fmean(shares),
        complete=float(all(share >= FULL_SHARE for share in shares)),
        answer=float(any(map(spread.has_phrase, answers)))
        if answers and dataset not in FREE_TEXT
        else None,
        weighted=fmean(share * place for share, place in found),
        redundancy=spread.redundancy(),
        use=tokens / budget if budget else None,
        over=float(bool(budget) and tokens > (budget or 0)),
        covered=sum(shares),
    )


class WordIndex:
    """One text spread out for looking things up: its words in a row, one space around each."""

    __slots__ = ("_line", "_runs", "_tokens", "_words")

    def __init__(self, text: str, tokens: int) -> None:
        self._words = split_words(text)
        self._line = f" {' '.join(self._words)} "
        self._runs: dict[int, set[WordRun]] = {}
        self._tokens = tokens

    def coverage(self, evidence: str) -> tuple[float, float]:
        """(share of the evidence's words that are there, the best weight of where they are)."""
        looked_for = tuple(split_words(evidence))
        length = min(RUN_LENGTH, len(looked_for))
        runs = word_runs(looked_for, length)
        if _join_words(looked_for) in self._line:  # verbatim: every run is there
            found = list(range(len(runs)))
        else:
            known = self._distinct_runs(length)
            found = [i for i, run in enumerate(runs) if run in known]
        if not found:
            return 0.0, 0.0
        last = max(len(self._words) - 1, 1)
        middle = self._positions(_join_words(runs[found[len(found) // 2]]))
        best = max(attention_weight((at + length / 2) / last, self._tokens) for at in middle)
        covered = {start + i for start in found for i in range(length)}
        return len(covered) / len(looked_for), best

    def has_phrase(self, phrase: str) -> bool:
        """Whether the phrase's words stand here in a row."""
        looked_for = split_words(phrase)
        return bool(looked_for) and _join_words(looked_for) in self._line

    def redundancy(self) -> float:
        """Share of the runs of eight words that came before."""
        total = len(self._words) - REPEAT_LENGTH + 1
        return 0.0 if total <= 0 else 1 - len(self._distinct_runs(REPEAT_LENGTH)) / total

    def _distinct_runs(self, length: int) -> set[WordRun]:
        if length not in self._runs:
            self._runs[length] = set(word_runs(self._words, length))
        return self._runs[length]

    def _positions(self, run: str) -> list[int]:
        """The word indices at which the run begins."""
        found, at, seen, counted = [], self._line.find(run), 0, 0
        while at >= 0:
            seen += self._line.count(" ", counted, at)
            counted = at
            found.append(seen)
            at = self._line.find(run, at + 1)
        return found


def word_runs(row: Sequence[str], length: int) -> list[WordRun]:
    """Every so many words that follow each other.

    >>> word_runs(["a", "b", "c"], 2), word_runs([], 0)
    ([('a', 'b'), ('b', 'c')], [])
    """
    return list(zip(*(row[i:] for i in range(length)), strict=False))


def _join_words(row: Sequence[str]) -> str:
    """The words of a line, one space around each."""
    return f" {' '.join(row)} "
