"""SupplementGate: shut by default, open for an intent when retrieval was not enough."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from foveate.core.errors import BadInput, BadOption
from foveate.core.stages.supplement import SupplementGate
from foveate.core.types import Decision, Supplement
from foveate.pipeline.assembler import assemble
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import cases

TERMS = Supplement(id="terms", text="A token is a piece of a word.", title="Terms", similarity=0.7)
GATE = SupplementGate(intents=("definition",), max_similarity=0.5)
WEAK = candidate("weak", 0.9, id="weak", semantic_score=0.3)
STRONG = candidate("strong", 0.1, id="strong", semantic_score=0.5)


def through(gate, *candidates, intent="definition", supplements=(TERMS,), principals=()):
    """The step."""
    asked = request(intent=intent, supplements=supplements, principals=principals)
    return gate(candidates, asked)


def test_it_enters_before_the_candidates():
    """S11: with the intent and only weak hits, it stands first, with one decision."""
    step = through(GATE, WEAK)
    aside = step.candidates[0]

    assert [c.id for c in step.candidates] == ["supplement:terms", "weak"]
    assert (aside.origin, aside.text, aside.chunk.title) == ("supplement", TERMS.text, "Terms")
    assert aside.document_id == "supplement:terms"
    assert step.decisions == (
        Decision(
            chunk_id="supplement:terms",
            action="entered",
            reason="retrieval_not_enough",
            numbers={"similarity": 0.7, "threshold": 0.5, "best": 0.3},
        ),
    )
    assert step.notes == {}


@pytest.mark.parametrize(
    ("gate", "candidates", "intent", "why"),
    [
        pytest.param(
            SupplementGate(), (WEAK,), "definition", {"intent": "definition"}, id="default"
        ),
        pytest.param(SupplementGate(), (WEAK,), "", {"intent": "none"}, id="no intent at all"),
        pytest.param(GATE, (WEAK,), "chat", {"intent": "chat"}, id="another intent"),
        pytest.param(GATE, (WEAK, STRONG), "definition", {}, id="retrieval was enough"),
    ],
)
def test_otherwise_it_is_suppressed_and_counted(gate, candidates, intent, why):
    """S11: by default, for other intents and with a good hit, nothing enters; a note says why."""
    step = through(gate, *candidates, intent=intent)

    assert step.candidates == candidates
    assert step.decisions == ()
    best = max(c.semantic_score for c in candidates)
    assert step.notes == {"suppressed": 1, "similarity": best, "limit": 0.5, **why}


def test_without_semantic_scores_the_score_counts():
    """S11: where no candidate has a semantic score, the best score is compared."""
    low, high = candidate("t", 0.4, id="low"), candidate("t", 0.6, id="high")

    assert len(through(GATE, low).candidates) == 2
    assert through(GATE, low, high).notes == {"suppressed": 1, "similarity": 0.6, "limit": 0.5}


def test_no_hit_at_all_is_not_enough():
    """S11: neighbours and earlier supplements do not count as retrieved."""
    near = candidate("t", 0.9, id="near", semantic_score=0.9, origin="neighbour")
    step = through(GATE, near)

    assert [c.id for c in step.candidates] == ["supplement:terms", "near"]
    assert step.decisions[0].numbers == {"similarity": 0.7, "threshold": 0.5}


def test_what_is_not_like_the_question_stays_out():
    """S11: what is less similar to it than nothing is suppressed."""
    unlike = (Supplement(id="u", text="Something else.", similarity=-0.1),)

    assert through(GATE, WEAK, supplements=unlike).notes["suppressed"] == 1


def test_the_most_similar_stands_first():
    """S11: several enter by similarity, then id; the first of one id counts."""
    rows = [("b", 0.2), ("a", 0.2), ("c", 0.9), ("c", 0.1)]
    many = tuple(Supplement(id=i, text=f"Text {i} {s}.", similarity=s) for i, s in rows)
    step = through(GATE, WEAK, supplements=many)

    assert [c.id for c in step.candidates[:-1]] == ["supplement:c", "supplement:a", "supplement:b"]
    assert step.candidates[0].score == 0.9


@pytest.mark.parametrize(("readers", "said"), [((), True), (("staff",), False)])
def test_a_recipe_without_a_gate_says_that_it_lets_none_in(readers, said):
    """S11, X5: side knowledge that was given is not lost in silence, nor told to who may not."""
    aside = replace(TERMS, principals=readers)
    context = assemble("What is a token?", [{"text": "A."}], supplements=[aside], budget=99)

    assert ("supplements_left_out" in context.trace[0].notes) is said
    assert TERMS.text not in context.text


def test_readers_of_side_knowledge_are_a_list():
    """X5: what was for `red` was shown to `r`."""
    aside = replace(TERMS, principals="red")
    with pytest.raises(BadInput, match="must be a list of strings, not 'red'"):
        assemble("What?", [{"text": "A."}], supplements=[aside], principals=["r"], budget=99)


def test_a_forbidden_supplement_leaves_no_trace():
    """S11, X5: what the reader may not see neither enters nor is counted as suppressed."""
    secret = Supplement(id="s", text="Secret.", similarity=0.9, principals=("board",))

    assert through(GATE, WEAK, supplements=(secret,)) == through(GATE, WEAK, supplements=())
    assert through(SupplementGate(), WEAK, supplements=(secret,)).notes == {}
    assert len(through(GATE, WEAK, supplements=(secret,), principals=("board",)).candidates) == 2


@given(cases())
def test_the_candidates_themselves_are_not_touched(case):
    """S11: whatever enters, what was there follows in its order."""
    candidates, asked = case
    step = GATE(candidates, asked)

    assert step.candidates[len(step.decisions) :] == candidates
    assert all(c.origin == "supplement" for c in step.candidates[: len(step.decisions)])


@pytest.mark.parametrize(
    "options",
    [{"intents": "definition"}, {"max_similarity": float("nan")}],
)
def test_impossible_options_are_refused(options):
    """X1: the error names the option and the value."""
    (name,) = options
    with pytest.raises(BadOption, match=f"supplement: {name} is"):
        SupplementGate(**options)
