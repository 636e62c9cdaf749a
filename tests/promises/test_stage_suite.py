"""The law suite itself: a stage that breaks one law is caught, by number."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from foveate.core.errors import StageBroke
from foveate.core.types import Decision, Part, Rendition, Step, rank
from foveate.testing.fakes import candidate, request
from foveate.testing.stages import check_case, check_stage


def untouched(candidates, _):
    """Hands on what it gets."""
    return Step(candidates=tuple(sorted(candidates, key=rank)))


def changed(candidates, numbers=None, **fields):
    """All candidates with other fields, each with its decision."""
    new = tuple(replace(c, **fields) for c in candidates)
    old = {c.id: c for c in candidates}
    return Step(
        candidates=tuple(sorted(new, key=rank)),
        decisions=tuple(
            Decision(chunk_id=c.id, action="changed", reason="test", numbers=numbers or {})
            for c in sorted(new, key=rank)
            if c != old[c.id]
        ),
    )


def unsure():
    """A stage that remembers how often it was called."""
    calls = count()
    return lambda candidates, _: changed(candidates, score=float(next(calls)))


def restless(candidates, _):
    """Raises every score, every time."""
    new = tuple(replace(c, score=c.score + 1) for c in sorted(candidates, key=rank))
    said = (Decision(chunk_id=c.id, action="changed", reason="up") for c in new)
    return Step(candidates=new, decisions=tuple(said))


def first_only(candidates, _):
    """Keeps what happened to come first."""
    said = (Decision(chunk_id=c.id, action="dropped", reason="late") for c in candidates[1:])
    return Step(candidates=candidates[:1], decisions=tuple(said))


def shouting(candidates, _):
    """Puts in words of its own."""
    chunks = {c.id: replace(c.chunk, text="Made up.", content_hash="") for c in candidates}
    new = tuple(replace(c, chunk=chunks[c.id]) for c in sorted(candidates, key=rank))
    old = {c.id: c for c in candidates}
    said = (Decision(chunk_id=c.id, action="changed", reason="x") for c in new if c != old[c.id])
    return Step(candidates=new, decisions=tuple(said))


def meddling(candidates, _):
    """Writes into the metadata it was given."""
    for c in candidates:
        c.chunk.metadata["seen"] = True
    return untouched(candidates, None)


def untrue(candidates, _):
    """Offers a quotation that is none."""
    fake = Rendition(kind="extract", text="Never said.", spans=((0, 1),))
    return changed(candidates, renditions=(fake,))


def boundless(candidates, _):
    """Has an infinite number on the trace."""
    return changed(candidates, {"size": float("inf")}, score=0.123)


def misplaced(candidates, _):
    """Says that a part stands where it does not."""
    return changed(candidates, parts=(Part(chunk=candidates[0].chunk, span=(1, 2)),))


@pytest.mark.parametrize(
    ("stage", "law"),
    [
        pytest.param(unsure(), 1, id="two calls differ"),
        pytest.param(lambda c, _: Step(candidates=c), 1, id="keeps the input's order in silence"),
        pytest.param(first_only, 1, id="the input's order decides"),
        pytest.param(shouting, 2, id="invents a text"),
        pytest.param(untrue, 3, id="invents a quotation"),
        pytest.param(lambda c, _: Step(candidates=c[1:]), 3, id="loses one"),
        pytest.param(restless, 4, id="does not settle"),
        pytest.param(meddling, 5, id="writes into its input"),
        pytest.param(boundless, 6, id="infinite number"),
    ],
)
def test_a_broken_law_is_found(stage, law):
    """S12: the suite finds a stage that breaks a law, and names the law."""
    with pytest.raises(StageBroke, match=f"law {law}: "):
        check_stage(stage)


def test_a_part_in_the_wrong_place_is_found():
    """S12: a passage whose parts do not stand where they say is refused."""
    with pytest.raises(StageBroke, match=r"law 2: .* stands at \(1, 2\), where it does not"):
        check_case(misplaced, (candidate("some text", id="a"),), request())


def test_words_between_parts_are_found():
    """S12: a passage may hold glue between its parts, and nothing that says something."""
    a, b = candidate("One.", id="a"), candidate("Two.", id="b")

    def joining(glue):
        text = f"One.{glue}Two."
        parts = (
            Part(chunk=a.chunk, span=(0, 4)),
            Part(chunk=b.chunk, span=(len(text) - 4, len(text))),
        )
        joined = replace(a, chunk=replace(a.chunk, text=text, content_hash=""), parts=parts)
        said = (
            Decision(chunk_id="a", action="changed", reason="joined"),
            Decision(chunk_id="b", action="merged", reason="joined", by="a"),
        )
        again = Step(candidates=(joined,))
        return lambda c, _: again if c == (joined,) else Step(candidates=(joined,), decisions=said)

    assert check_case(joining(" […] "), (a, b), request()).candidates[0].text == "One. […] Two."
    with pytest.raises(StageBroke, match=r"law 2: .* says something between its parts"):
        check_case(joining(" therefore "), (a, b), request())


def test_a_plain_function_is_a_stage():
    """S12: any callable with the signature passes, if it keeps the laws."""
    check_stage(untouched)
    assert check_case(untouched, (), request()) == Step(candidates=())


def test_a_stage_may_say_what_it_does_not_promise():
    """S12: `settles = False` and `keeps_order = True` are respected."""

    class Candid:
        settles = False
        keeps_order = True

        def __call__(self, candidates, asked):
            out = restless(candidates, asked)
            place = {c.id: n for n, c in enumerate(candidates)}
            return replace(out, candidates=tuple(sorted(out.candidates, key=lambda c: place[c.id])))

    check_stage(Candid())
    assert Candid.settles is False
