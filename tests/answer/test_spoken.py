"""Answers that are heard."""

from __future__ import annotations

from foveate import assemble
from foveate.answer.check import check_answer
from foveate.answer.voice import spoken_citations

FOUND = [
    {"text": "The mill was built in 1880 by two brothers.", "source": "old_mill.md", "score": 0.9},
    {"text": "Flour is sold on Saturdays at the gate.", "source": "x.md", "title": "Shop hours"},
]
CONTEXT = assemble("When is flour sold?", FOUND, budget=300, recipe="citations")


def test_sources_are_found_by_what_is_said():
    """C4: without a marker in the answer, each claim's source is the block that says it."""
    answer = (
        "Flour is sold on Saturdays. The mill was built by two brothers. It has a red roof tile."
    )
    assert [one.source for one in spoken_citations(answer, CONTEXT)] == ["x.md", "old_mill.md"]
    assert spoken_citations("Pianos need tuning every second winter.", CONTEXT) == ()


def test_what_is_heard_is_not_uncited():
    """C3, C4: nothing is asked to be cited; what no source says, and a wrong number, are faults."""
    answer = (
        "Flour is sold on Saturdays at the gate. The mill was built in 1890 by two brothers. "
        "Pianos need tuning every second winter."
    )
    spoken = check_answer(answer, CONTEXT, channel="voice")

    assert [claim.faults for claim in spoken.claims] == [
        (),
        ("unsupported_figures",),
        ("unsupported",),
    ]
    assert [claim.markers for claim in spoken.claims] == [(2,), (1,), ()]
    assert (spoken.uncited, spoken.cited, spoken.unused) == ((), (1, 2), ())
    assert [claim.faults[:1] for claim in check_answer(answer, CONTEXT).claims] == [
        ("uncited",)
    ] * 3


def test_a_marker_that_is_spoken_all_the_same_is_held_to():
    """C4: what the model names counts, also where it names nothing that is there."""
    checked = check_answer("Flour is sold on Saturdays [2][7].", CONTEXT, channel="voice")
    assert [claim.faults for claim in checked.claims] == [()]
    assert [one.name for one in checked.dangling] == ["7"]
