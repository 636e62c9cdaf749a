"""Spends the budget (SPEC S9): the one stage that decides what is shown, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from foveate.core.checks import check_choice
from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.compress.table import query_words
from foveate.core.stages.pack.budget_tracker import (
    BudgetTracker,
    rendition_options,
    tracker_for_budget,
)
from foveate.core.stages.pack.choice import Choice, Choices, why_left_out
from foveate.core.stages.pack.cut import truncate_candidate
from foveate.core.stages.pack.evidence import Fill
from foveate.core.stages.pack.identifiers import note_identifiers_left_out
from foveate.core.stages.pack.policies import POLICIES, STOPPING, Policy, Taking
from foveate.core.types import Candidate, Decision, Number, Rendition, Sentences, Step

Overflow = Literal["skip", "stop", "truncate", "truncate_last"]
NAMED_TERMS = 6  # of a question, in what a decision says


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Choose what the reader sees, within the budget.

    `policy`: `greedy` by score; `documents` whole documents, best first; `groups` the same chunk by
    chunk, each as it reads; `interleaved` round robin over documents; `score_weighted` by score
    until one does not fit; `value` worth per token, over sentences or chunks and their renditions.
    `overflow`: what happens to one that does not fit (default: the policy's own, skip or stop);
    `truncate` cuts it at the end of a `sentence` or `token`, if more than `3 * min_tokens` are
    left; `truncate_last` first takes all that fit whole, then cuts the best of the rest (in the
    policies that go text by text). `per_document` counts that many tokens a document instead of its
    real header. `cap`: a chunk over that many tokens is shown in a shorter rendition where one is
    offered. `fill`: `budget` uses the budget up; `relevance` stops before sentences that are noise
    beside the best (policy `value` over sentences). `as_taken`: what is chosen goes on in the order
    in which it was taken, for `Order(by="as_packed")`, instead of the order in which it came.
    """

    policy: str = "value"
    overflow: Overflow | None = None
    cut: Literal["sentence", "token"] = "sentence"
    min_tokens: int = 20
    per_document: int | None = None
    cap: int | None = None
    fill: Fill = "budget"
    as_taken: bool = False

    keeps_order: ClassVar[bool] = True
    policies: ClassVar[Mapping[str, Policy]] = POLICIES
    """Name → policy; a subclass may have more."""

    def __post_init__(self) -> None:
        """Refuse options that have no meaning."""
        check_choice("pack", "policy", self.policy, self.policies)
        if self.overflow is not None:
            check_choice("pack", "overflow", self.overflow, get_args(Overflow))
        check_choice("pack", "cut", self.cut, ("sentence", "token"))
        check_choice("pack", "fill", self.fill, get_args(Fill))
        if self.min_tokens < 0:
            raise BadOption(f"pack: min_tokens must be 0 or more, not {self.min_tokens}")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Supplements first, they were let in for a reason; then the policy."""
        asides = [c for c in candidates if c.origin == "supplement"]
        rest = [c for c in candidates if c.origin != "supplement"]
        taking = Taking(
            tracker=tracker_for_budget(request.budget, request.token_counter, self.per_document),
            renditions_of=lambda one: rendition_options(one, self.cap, request.token_counter),
        )
        first = taking.take(asides)
        if self.overflow in ("truncate", "truncate_last"):
            taking.cut = lambda one, tracker: self._cut(one, tracker, request)
            taking.cut_last = self.overflow == "truncate_last"
        by_policy = self.policy in STOPPING and self.overflow in (None, "truncate")
        taking.stop, taking.fill = by_policy or self.overflow == "stop", self.fill
        choices = self.policies[self.policy](rest, taking)
        choices.chosen = first.chosen + choices.chosen
        choices.left_out |= first.left_out
        step = _build_step(candidates, choices, taking.tracker, request.query)
        if not self.as_taken:
            return step
        place = {choice.candidate.chunk.id: n for n, choice in enumerate(choices.chosen)}
        taken = sorted(step.candidates, key=lambda c: place[c.chunk.id])
        return replace(step, candidates=tuple(taken))

    def _cut(
        self, candidate: Candidate, tracker: BudgetTracker, request: Request
    ) -> Rendition | None:
        """The beginning of the candidate that fits; None if hardly anything does."""
        if candidate.shown is not None:
            return None  # a choice was made already; the text around it is not its own
        room, characters = tracker.room_for_text(candidate)
        if room is not None and room <= 3 * self.min_tokens:
            return None
        return truncate_candidate(
            candidate,
            room,
            characters,
            at=self.cut,
            counter=request.token_counter,
            language=request.language,
        )


def _build_step(
    candidates: tuple[Candidate, ...], choices: Choices, tracker: BudgetTracker, query: str
) -> Step:
    """Candidates in the order they came, each knowing how it is shown."""
    chosen = {choice.candidate.chunk.id: finalise_choice(choice) for choice in choices.chosen}
    shown = [(c, chosen[c.chunk.id]) for c in candidates if c.chunk.id in chosen]
    terms = query_words(query)
    kept = tuple([replace(c, shown=choice.rendition) for c, choice in shown])
    decisions = [
        _choice_decision(choice, terms) for c, choice in shown if c.shown != choice.rendition
    ]
    left_out = why_left_out(candidates, choices, tracker)
    spent = sum(choice.cost.tokens for choice in choices.chosen)
    excluded = sum(int(d.numbers["tokens"]) for d in left_out)
    notes = {"tokens": spent, "excluded": len(left_out), "excluded_tokens": excluded}
    identifiers = note_identifiers_left_out(query, candidates, kept, left_out)
    return Step(
        candidates=kept,
        decisions=(*decisions, *left_out),
        notes={**notes, **choices.notes, **identifiers},
    )


def finalise_choice(choice: Choice) -> Choice:
    """What came in as the most that may be shown, and is shown, is no longer open."""
    if choice.rendition.kind != "piece":
        return choice
    return replace(choice, rendition=replace(choice.rendition, kind="verbatim"))


def _choice_decision(choice: Choice, terms: Sequence[str]) -> Decision:
    numbers: dict[str, Number] = {
        "tokens": choice.cost.tokens,
        "score": choice.candidate.score,
    }
    most = choice.candidate.shown
    size = sum([b - a for a, b in most.spans]) if most else len(choice.candidate.chunk.text)
    if (left := sum([b - a for a, b in choice.rendition.spans])) < size:
        numbers["characters_left_out"] = size - left
    if choice.candidate.sentences is not None:
        numbers["carried_by"] = _carried_by(choice, choice.candidate.sentences, terms)
    return Decision(
        chunk_id=choice.candidate.chunk.id,
        action="kept",
        reason=choice.rendition.kind,
        numbers=numbers,
    )


def _carried_by(choice: Choice, sentences: Sentences, terms: Sequence[str]) -> str:
    """What speaks for the sentences that are shown, in words."""
    shown, held = iter(choice.rendition.spans), 0
    start, end = next(shown, (0, 0))
    for (at, _), words in zip(sentences.spans, sentences.words, strict=False):
        while at >= end and (after := next(shown, None)) is not None:
            start, end = after
        held |= words if start <= at < end else 0
    carried = ["its score"] if sentences.set_apart else []
    if held:
        carried.append(f"the {_spelled(held, terms)}")
    elif sentences.title_words:
        carried.append(f"its title, with the {_spelled(sentences.title_words, terms)}")
    return " and ".join(carried) or "its score and place"


def _spelled(held: int, terms: Sequence[str]) -> str:
    """The first of the terms that have a bit, quoted."""
    named = [f"“{term}”" for t, term in enumerate(terms) if held >> t & 1][:NAMED_TERMS]
    return f"word{'s' if len(named) > 1 else ''} {', '.join(named)}"
