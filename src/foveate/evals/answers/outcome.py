"""What one answer is worth: against the gold answers, against its context, and as a probability."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from foveate.answer.bracket_names import names_from_context
from foveate.answer.check import check_answer
from foveate.core.text.citation_markers import PlainText, scan_markers
from foveate.evals.answers.requests import AnswerRequest, LoggedCall
from foveate.evals.measures import FREE_TEXT
from foveate.evals.rows import Row

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalise_answer(text: str) -> str:
    """As SQuAD compares answers."""
    bare = "".join(char for char in text.lower() if char not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """1 if the answer equals one of them after normalisation."""
    return float(any(normalise_answer(answer) == normalise_answer(gold) for gold in golds))


def f1_score(answer: str, golds: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over words, of the best one."""
    return max(
        (_pair_f1(normalise_answer(answer), normalise_answer(gold)) for gold in golds), default=0.0
    )


def contains_answer(answer: str, golds: Sequence[str]) -> float:
    """1 if one of them is in the answer, word by word."""
    line = f" {normalise_answer(answer)} "
    return float(any(gold and f" {gold} " in line for gold in map(normalise_answer, golds)))


def _pair_f1(answer: str, gold: str) -> float:
    said, wanted = answer.split(), gold.split()
    same = sum((Counter(said) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def measure_answer(
    one: AnswerRequest, answer: LoggedCall | None, score: LoggedCall | None, failed: str = ""
) -> Row:
    """The measures of what was said; markers are no words of an answer."""
    golds = [gold for gold in one.case.answers if gold.strip()]
    text = strip_markers(answer.text, one) if answer is not None else None
    known_text = text is not None and bool(golds)
    verbatim = known_text and one.case.dataset not in FREE_TEXT
    return Row(
        dataset=one.case.dataset,
        id=one.case.id,
        recipe=one.recipe,
        budget=one.budget,
        failed=failed,
        measures={
            "logprob": score.mean if score is not None else None,
            "f1": f1_score(text or "", golds) if known_text else None,
            "exact": exact_match(text or "", golds) if verbatim else None,
            "inside": contains_answer(text or "", golds) if verbatim else None,
            "supported": supported_share(answer.text, one) if answer is not None else None,
        },
    )


def strip_markers(answer: str, one: AnswerRequest) -> str:
    """The answer without its markers."""
    if one.context is None:
        return answer
    return "".join(
        p.text
        for p in scan_markers(answer, names_from_context(one.context))
        if isinstance(p, PlainText)
    )


def supported_share(answer: str, one: AnswerRequest) -> float | None:
    """The share of citing claims that their sources support; None without any."""
    if one.context is None:
        return None
    cited = [claim for claim in check_answer(answer, one.context).claims if claim.markers]
    return sum(claim.supported for claim in cited) / len(cited) if cited else None
