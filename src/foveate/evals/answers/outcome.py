"""What one answer is worth: against the gold answers, against its context, and as a probability."""

from __future__ import annotations

from dataclasses import dataclass

from foveate.answer.bracket_names import names_from_context
from foveate.answer.check import check_answer
from foveate.core.text.citation_markers import PlainText, scan_markers
from foveate.evals.answers.answer_log import LoggedCall
from foveate.evals.answers.compare import contains_answer, exact_match, f1_score
from foveate.evals.answers.requests import AnswerRequest
from foveate.evals.measures import FREE_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One request's measures, None where there is none; `failed`: the calls' errors, else empty."""

    dataset: str
    id: str
    recipe: str
    budget: int
    logprob: float | None = None
    exact: float | None = None
    f1: float | None = None
    inside: float | None = None
    supported: float | None = None
    failed: str = ""


def measure_answer(
    one: AnswerRequest, answer: LoggedCall | None, score: LoggedCall | None, failed: str = ""
) -> Outcome:
    """The measures of what was said; markers are no words of an answer."""
    golds = [gold for gold in one.case.answers if gold.strip()]
    text = strip_markers(answer.text, one) if answer is not None else None
    known_text = text is not None and bool(golds)
    verbatim = known_text and one.case.dataset not in FREE_TEXT
    return Outcome(
        dataset=one.case.dataset,
        id=one.case.id,
        recipe=one.recipe,
        budget=one.budget,
        logprob=score.mean if score is not None else None,
        exact=exact_match(text or "", golds) if verbatim else None,
        f1=f1_score(text or "", golds) if known_text else None,
        inside=contains_answer(text or "", golds) if verbatim else None,
        supported=supported_share(answer.text, one) if answer is not None else None,
        failed=failed,
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
    """The share of the claims that cite a source whose source says so; None where none cites."""
    if one.context is None:
        return None
    cited = [claim for claim in check_answer(answer, one.context).claims if claim.markers]
    return sum(claim.supported for claim in cited) / len(cited) if cited else None
