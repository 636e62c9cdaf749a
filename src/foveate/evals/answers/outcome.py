"""What one answer is worth: against the gold answers, against its context, and as a probability."""

from __future__ import annotations

from dataclasses import dataclass

from foveate.answer.check import check_answer
from foveate.answer.named import names_of
from foveate.core.text.marks import Plain, scanned
from foveate.evals.answers.compare import exact, f1, inside
from foveate.evals.answers.kept import Said
from foveate.evals.answers.pose import Posed
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


def measured(one: Posed, answer: Said | None, score: Said | None, failed: str = "") -> Outcome:
    """The measures of what was said; markers are no words of an answer."""
    golds = [gold for gold in one.case.answers if gold.strip()]
    text = bare(answer.text, one) if answer is not None else None
    known_text = text is not None and bool(golds)
    verbatim = known_text and one.case.dataset not in FREE_TEXT
    return Outcome(
        dataset=one.case.dataset,
        id=one.case.id,
        recipe=one.recipe,
        budget=one.budget,
        logprob=score.mean if score is not None else None,
        exact=exact(text or "", golds) if verbatim else None,
        f1=f1(text or "", golds) if known_text else None,
        inside=inside(text or "", golds) if verbatim else None,
        supported=supported(answer.text, one) if answer is not None else None,
        failed=failed,
    )


def bare(answer: str, one: Posed) -> str:
    """The answer without its markers."""
    if one.context is None:
        return answer
    return "".join(p.text for p in scanned(answer, names_of(one.context)) if isinstance(p, Plain))


def supported(answer: str, one: Posed) -> float | None:
    """The share of the claims that cite a source whose source says so; None where none cites."""
    if one.context is None:
        return None
    cited = [claim for claim in check_answer(answer, one.context).claims if claim.markers]
    return sum(claim.supported for claim in cited) / len(cited) if cited else None
