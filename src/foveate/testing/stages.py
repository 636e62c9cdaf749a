"""The laws of a stage, for ours and for yours: `check_stage(MyStage())` in a test is all it takes.

1. same input, same output; and the order of the input decides nothing but the order of the output
   (a stage that follows the input's order says so with `keeps_order = True`)
2. nothing invented: every text comes from the candidates or from the request
3. the books balance: whatever left, changed or entered has exactly one decision
4. it settles: its own output goes through unchanged (or it says `settles = False`)
5. inputs untouched
6. every number on the trace is finite

A broken law raises `StageBroke`, which names the law, the candidate and the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from math import isfinite
from random import Random

from foveate.core.balance import balance
from foveate.core.errors import StageBroke
from foveate.core.request import Request, Stage
from foveate.core.text.shapes.gaps import PATTERN as GAP_MARK
from foveate.core.types import Candidate, Step

_GLUE = " \n\t.…[]"


def check_stage(stage: Stage, *, dimensions: int = 0, examples: int = 40) -> None:
    """Run all laws on generated cases; raise `StageBroke` at the first that breaks one.

    `examples`: that many cases of one document at most, and then of several, so that what fails
    is small without a search for something smaller. `dimensions` over 0 gives chunks and query
    an embedding of that length. Needs Hypothesis.
    """
    from foveate.testing.hostile import law_settings

    quiet = law_settings(examples, shrink=False)
    from hypothesis import given
    from hypothesis import strategies as st

    from foveate.testing.strategies import cases

    for documents in (1, 3):

        @quiet
        @given(cases(documents, dimensions), st.randoms(use_true_random=False))
        def laws(case: tuple[tuple[Candidate, ...], Request], dice: Random) -> None:
            candidates, request = case
            shuffled = tuple(dice.sample(candidates, len(candidates)))
            check_case(stage, candidates, request, shuffled=shuffled)

        laws()


def check_case(
    stage: Stage,
    candidates: tuple[Candidate, ...],
    request: Request,
    *,
    shuffled: tuple[Candidate, ...] | None = None,
) -> Step:
    """Run all laws on one case and hand back the step; `shuffled`: the candidates otherwise."""
    before = deepcopy((candidates, request.neighbours, request.supplements))
    step = stage(candidates, request)
    if (candidates, request.neighbours, request.supplements) != before:
        raise _law_error(stage, 5, "it changed its input")
    try:
        balance(candidates, step)
    except StageBroke as error:
        raise _law_error(stage, 3, str(error)) from None
    if stage(candidates, request) != step:
        raise _law_error(stage, 1, "two calls on the same input differ")
    _check_nothing_invented(stage, candidates, request, step)
    _check_finite(stage, step)
    _check_idempotent(stage, request, step)
    if shuffled is not None:
        _check_order(stage, step, stage(shuffled, request))
    return step


def _check_nothing_invented(
    stage: Stage, candidates: tuple[Candidate, ...], request: Request, step: Step
) -> None:
    known = {text for candidate in candidates for text in _candidate_texts(candidate)}
    known.update(chunk.text for chunk in request.neighbours)
    known.update(supplement.text for supplement in request.supplements)
    for candidate in step.candidates:
        fault = _find_foreign_text(candidate, known)
        if fault:
            raise _law_error(stage, 2, f"candidate {candidate.id!r} {fault}")


def _find_foreign_text(candidate: Candidate, known: set[str]) -> str:
    """What is in this candidate that was not put in; empty if all is well."""
    if candidate.text not in known:
        if not candidate.parts:
            return "has a text that is neither in the input nor made of parts"
        if _text_between_parts(candidate).strip(_GLUE):
            return "says something between its parts"
    for part in candidate.parts:
        if part.chunk.text not in known:
            return f"has a part {part.chunk.id!r} that is not in the input"
        if candidate.text[slice(*part.span)] != part.chunk.text:
            return f"says that part {part.chunk.id!r} stands at {part.span}, where it does not"
    shown = (candidate.shown,) if candidate.shown else ()
    for rendition in (*candidate.renditions, *shown):
        if rendition.verbatim and not _is_quoted(candidate.text, rendition.text, rendition.spans):
            return f"has a {rendition.kind} that is said to be verbatim and is not"
    return ""


def _text_between_parts(candidate: Candidate) -> str:
    """What of a passage's text lies in none of its parts."""
    gaps: list[str] = []
    reached = 0
    for start, end in sorted(part.span for part in candidate.parts):
        gaps.append(candidate.text[reached:start])
        reached = max(reached, end)
    return "".join((*gaps, candidate.text[reached:]))


def _is_quoted(text: str, rendition: str, spans: tuple[tuple[int, int], ...]) -> bool:
    """Whether the rendition is these ranges of the text, in this order, and marks of omission."""
    reached = 0
    for start, end in spans:
        at = rendition.find(text[start:end], reached)
        if not 0 <= start <= end <= len(text) or at < 0 or not _is_mark(rendition[reached:at]):
            return False
        reached = at + end - start
    return _is_mark(rendition[reached:])


def _is_mark(between: str) -> bool:
    return not GAP_MARK.sub("", between).strip(_GLUE)


def _candidate_texts(candidate: Candidate) -> Iterator[str]:
    yield candidate.text
    for part in candidate.parts:
        yield part.chunk.text


def _check_finite(stage: Stage, step: Step) -> None:
    for numbers in (*(decision.numbers for decision in step.decisions), step.notes):
        for name, value in numbers.items():
            if not isinstance(value, str) and not isfinite(value):
                raise _law_error(stage, 6, f"the number {name!r} is {value!r}")


def _check_idempotent(stage: Stage, request: Request, step: Step) -> None:
    if not getattr(stage, "settles", True):
        return
    again = stage(step.candidates, request)
    if again.candidates != step.candidates or again.decisions:
        fault = "its own output does not go through unchanged; or say `settles = False`"
        raise _law_error(stage, 4, fault)


def _check_order(stage: Stage, step: Step, other: Step) -> None:
    if {c.id: c for c in step.candidates} != {c.id: c for c in other.candidates}:
        raise _law_error(stage, 1, "the order of the input decides what comes out")
    if {d.chunk_id: d for d in step.decisions} != {d.chunk_id: d for d in other.decisions}:
        raise _law_error(stage, 1, "the order of the input decides what the decisions say")
    if getattr(stage, "keeps_order", False):
        return
    if step.candidates != other.candidates:
        fault = "its order depends on the input's; sort by `rank`, or say `keeps_order = True`"
        raise _law_error(stage, 1, fault)


def _law_error(stage: Stage, law: int, fault: str) -> StageBroke:
    return StageBroke(f"{stage!r}, law {law}: {fault}")
