"""What counts for a claim's support, and which passage is said to give it."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.answer.check import check_answer


def checked(answer, *texts, query="When does the museum open?"):
    """The claims of an answer about sources with these texts, best first."""
    found = [
        {"text": text, "source": f"s{n}.md", "score": 1 - n / 10} for n, text in enumerate(texts)
    ]
    context = assemble(query, found, budget=400, recipe="naive", format="numbered")
    made = check_answer(answer, context)
    return made, context


def test_words_of_the_question_say_little():
    """C3: an answer that repeats the question and adds what is nowhere is not supported."""
    made, _ = checked("The museum opens at dawn [1].", "The museum opens at nine.")
    assert [claim.faults for claim in made.claims] == [("unsupported",)]
    made, _ = checked("The museum opens at nine [1].", "The museum opens at nine.")
    assert made.no_fault_found


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The trainer signs the log.", "The trainee signs the log."),
        ("L'employeur paie la cotisation.", "L'employé paie la cotisation."),
    ],
)
def test_who_does_and_to_whom_it_is_done_are_two(claim, source):
    """C3: their endings are not those of one word."""
    made, _ = checked(f"{claim[:-1]} [1].", source)
    assert made.claims[0].support.score < 1


def test_a_passage_may_be_three_sentences():
    """C3: what a claim puts together of sentences in a row is supported by all of them."""
    text = "It has a red roof. Tickets cost 1,200 yen. Children enter free. Dogs stay outside."
    made, context = checked(
        "Tickets cost 1,200 yen, children enter free and dogs stay outside [1].", text
    )
    (claim,) = made.claims
    assert claim.support.score == 1.0
    assert context.text[slice(*claim.support.context_span)] == text.partition("roof. ")[2]


def test_another_source_must_say_clearly_more():
    """C3: two sources that say nearly the same are not taken for swapped ones."""
    here = "The ferry leaves every 30 minutes from pier two of the old harbour."
    there = "The ferry leaves every 30 minutes from pier two of the old harbour in winter."
    answer = "The ferry leaves every 30 minutes from pier two of the old harbour in winter [1]."
    made, context = checked(answer, here, there)
    assert len(context.citations) == 2
    assert made.no_fault_found
    made, _ = checked(answer, "The harbour is old.", there)
    assert "other_source" in made.claims[0].faults


def test_a_marker_that_a_source_has_as_well_is_a_citation():
    """C3: a footnote in a text does not take the answer's marker away."""
    made, _ = checked("It was built in 1880 [1].", "The mill was built in 1880 [1] of stone.")
    assert (made.cited, made.dangling) == ((1,), ())


def test_parts_of_a_quotation_are_looked_for_one_behind_the_other():
    """C3: a source that says it once does not say it twice."""
    text = "The red mill stands by the river."
    made, _ = checked('It says "the red mill … the red mill" [1].', text)
    assert "altered_quotation" in made.claims[0].faults
    made, _ = checked('It says "the red mill … by the river" [1].', text)
    assert made.claims[0].quotations[0].verdict == "verbatim"


def test_no_support_is_a_plain_zero():
    """C3: a claim that shares no word with its source has the score 0.0, with no sign."""
    made, _ = checked("Wombats dig burrows [1].", "The museum opens at nine.")

    assert [repr(claim.support.score) for claim in made.claims] == ["0.0"]
