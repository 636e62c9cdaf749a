"""The balance of a stage: every candidate that left, changed or entered has exactly one decision.

A candidate that left needs `dropped` or `merged`, one that entered `entered`, one whose value
differs `changed` or `kept`; moving a candidate is no change. A rendition that claims to be verbatim
must be the text of its spans. Unchanged candidates are recognised by identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from foveate.core.candidates import is_readable
from foveate.core.errors import FoveateError, StageBroke
from foveate.core.manifest import stage_name
from foveate.core.renditions import join_chunk_spans
from foveate.core.request import Request, Stage
from foveate.core.types import Candidate, Decision, StageTrace, Step

_ACTIONS_WHEN_REMOVED = ("dropped", "merged")
_ACTIONS_WHEN_ADDED = ("entered",)
_ACTIONS_WHEN_CHANGED = ("changed", "kept")


def run_stage(stage: Stage, candidates: tuple[Candidate, ...], request: Request) -> Step:
    """The stage's step, checked; raises `StageBroke` naming the stage for any fault of its own."""
    try:
        step = stage(candidates, request)
        balance(candidates, step)
        if step.candidates is not candidates:
            _check_readers(step.candidates, request)
    except StageBroke as error:
        raise StageBroke(f"stage {stage_name(stage)}: {error}") from error
    except FoveateError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise StageBroke(f"stage {stage_name(stage)} raised {what}") from error
    return step


def trace_entry(name: str, options: str, before: tuple[Candidate, ...], step: Step) -> StageTrace:
    """What the trace says of a step that was taken."""
    return StageTrace(
        stage=name,
        options=options,
        before=len(before),
        after=len(step.candidates),
        decisions=step.decisions,
        notes=step.notes,
    )


def _check_readers(candidates: tuple[Candidate, ...], request: Request) -> None:
    allowed = frozenset(request.principals)
    chunks = [c.chunk for c in candidates if c.chunk.principals]
    chunks += [part.chunk for c in candidates if c.parts for part in c.parts]
    for chunk in chunks:
        if not is_readable(chunk.principals, allowed):
            raise StageBroke(f"{chunk.id!r} may not be read by the caller; it let it in")


def balance(before: Sequence[Candidate], step: Step) -> None:
    """Raise `StageBroke`, with the candidate and the fault, unless each change has one decision."""
    _check_shape(step)
    if step.candidates is before and not step.decisions:
        return
    was = {candidate.chunk.id: candidate for candidate in before}
    now = _candidates_by_id(step.candidates)
    old = {i: candidate for i, candidate in was.items() if now.get(i) is not candidate}
    new = {i: candidate for i, candidate in now.items() if was.get(i) is not candidate}
    said = _decisions_by_chunk(step.decisions)
    if idle := [i for i in said if i not in old and i not in new]:
        _raise_needless_decision(idle, said, was)
    for chunk_id in old:
        if chunk_id not in new:
            _check_action(said.get(chunk_id), _ACTIONS_WHEN_REMOVED, chunk_id, "left")
    for chunk_id, candidate in new.items():
        if candidate.shown is not None or candidate.renditions:
            _check_renditions(candidate)
        _check_decision(old.get(chunk_id), candidate, said.get(chunk_id))


def _raise_needless_decision(
    idle: list[str], said: dict[str, Decision], was: dict[str, Candidate]
) -> NoReturn:
    for chunk_id in [i for i in idle if i not in was]:
        _fail_candidate(chunk_id, f"has a decision {said[chunk_id].action!r} but never was there")
    _raise_unchanged(said[idle[0]], idle[0])


def _check_decision(was: Candidate | None, candidate: Candidate, decision: Decision | None) -> None:
    if was is None:
        _check_action(decision, _ACTIONS_WHEN_ADDED, candidate.id, "entered")
    elif was is not candidate and was != candidate:
        _check_action(decision, _ACTIONS_WHEN_CHANGED, candidate.id, "changed")
    elif decision is not None:
        _raise_unchanged(decision, candidate.id)


def _raise_unchanged(decision: Decision, chunk_id: str) -> NoReturn:
    fault = f"has a decision {decision.action!r} but did not change; give it none"
    _fail_candidate(chunk_id, fault)


def _check_renditions(candidate: Candidate) -> None:
    for way in (candidate.shown, *candidate.renditions):
        if way is None or (way.text is candidate.chunk.text and way.spans == ((0, len(way.text)),)):
            continue
        if any(not 0 <= a <= b <= len(candidate.text) for a, b in way.spans):
            _fail_candidate(candidate.id, f"has a rendition whose spans {way.spans} leave its text")
        if not way.verbatim:
            continue
        if way.text != join_chunk_spans(candidate.chunk, way.spans, candidate.parts)[0]:
            _fail_candidate(candidate.id, "has a rendition that is not the text of its spans")


def _check_shape(step: object) -> None:
    if not isinstance(step, Step):
        raise StageBroke(f"it handed back {type(step).__name__}; it must return a Step")
    for name, kind in (("candidates", Candidate), ("decisions", Decision)):
        values = getattr(step, name)
        if not isinstance(values, tuple):
            raise StageBroke(f"its {name} are a {type(values).__name__}; give a tuple")
        if {kind}.issuperset(map(type, values)):
            continue
        for strange in [value for value in values if not isinstance(value, kind)]:
            found = type(strange).__name__
            raise StageBroke(f"its {name} hold a {found}; give {kind.__name__} values")


def _candidates_by_id(candidates: tuple[Candidate, ...]) -> dict[str, Candidate]:
    found = {candidate.chunk.id: candidate for candidate in candidates}
    if len(found) < len(candidates):
        counts = Counter(candidate.chunk.id for candidate in candidates)
        _fail_candidate(max(counts, key=counts.__getitem__), "is in the output twice")
    return found


def _decisions_by_chunk(decisions: tuple[Decision, ...]) -> dict[str, Decision]:
    found = {decision.chunk_id: decision for decision in decisions}
    if len(found) < len(decisions):
        first = {decision.chunk_id: decision for decision in reversed(decisions)}
        one = next(d for d in decisions if first[d.chunk_id] is not d)
        fault = f"has two decisions, {first[one.chunk_id].action!r} and {one.action!r}; give it one"
        _fail_candidate(one.chunk_id, fault)
    return found


def _check_action(
    decision: Decision | None, allowed: tuple[str, ...], chunk_id: str, event: str
) -> None:
    if decision is not None and decision.action in allowed:
        return
    wanted = " or ".join(repr(action) for action in allowed)
    if decision is None:
        _fail_candidate(chunk_id, f"{event} without a decision; it needs one, {wanted}")
    _fail_candidate(chunk_id, f"{event}, but its decision says {decision.action!r}, not {wanted}")


def _fail_candidate(chunk_id: str, fault: str) -> NoReturn:
    raise StageBroke(f"candidate {chunk_id!r} {fault}")
