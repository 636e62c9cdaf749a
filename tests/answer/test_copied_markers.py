"""Whose citations an answer holds: the model's, and never those of a document."""

from __future__ import annotations

import pytest

from foveate import assemble, check_answer
from foveate.answer.stream import CitationEvent, resolve_stream
from foveate.core.formats import BUILTIN
from foveate.core.formats.shared.parts import bodies_of

MARKERS = (
    *("[1, 2]", "[1-3]", "[1;2]", "[^1]", "[source 1]", "[doc 2]", "[ref. 1]", "【1】", "[-1]"),
    *("[1†source]", "[\u00a01\u2009]", "［2］", "〔2〕", "❲2❳", "[②]", "[Ⅱ]"),
    *("[bread.md]", "[Bread]"),
)


def context(text, form="numbered"):
    """A text with references of its own, and two sources that they could be taken for."""
    found = [
        {"text": text, "source": "oven.md", "score": 0.9},
        {"text": "Bread rises in an hour.", "source": "bread.md", "title": "Bread", "score": 0.8},
        {"text": "The mill stands still.", "source": "mill.md", "score": 0.7},
    ]
    return assemble("How hot is the oven?", found, budget=2_000, recipe="citations", format=form)


@pytest.mark.parametrize("form", BUILTIN)
@pytest.mark.parametrize("marker", MARKERS)
def test_a_copied_sentence_cites_nothing(form, marker):
    """R3, C3, C5: word for word from the context, whole or as it streams."""
    made = context(f"The oven is hot after an hour {marker}.", form)
    answer = bodies_of(made)[0]
    checked = check_answer(answer, made)

    assert (checked.cited, checked.dangling) == ((), ())
    assert [claim.faults for claim in checked.claims] == [("uncited",)]
    assert [
        event for event in resolve_stream(answer, made) if isinstance(event, CitationEvent)
    ] == []


def test_a_name_that_a_source_has_in_brackets_is_cited_all_the_same():
    """C3: only where it stands behind the same word is it the document's own."""
    made = context("The oven is hot after an hour [Bread].")

    assert check_answer("The oven is hot after an hour [Bread].", made).cited == ()
    assert check_answer("In an hour bread rises [Bread].", made).cited == (2,)
    assert check_answer("Bread rises in an hour. [Bread]", made).cited == (2,)


def test_a_marker_whose_source_says_nothing_about_the_claim_is_a_fault():
    """C3: of several markers, those that are there for show."""
    made = context("The oven reaches 250 degrees.")
    checked = check_answer("The oven reaches 250 degrees [1][3]. Bread rises in an hour [2].", made)

    assert [claim.faults for claim in checked.claims] == [("over_cited",), ()]
    assert checked.claims[0].over_cited == (3,)
    assert not checked.no_fault_found


def test_two_sources_that_share_a_claim_are_both_cited_rightly():
    """C3: each says a half of it, or both all of it."""
    made = context("The oven reaches 250 degrees.")
    checked = check_answer("The oven reaches 250 degrees and bread rises in an hour [1, 2].", made)

    assert [claim.over_cited for claim in checked.claims] == [()]
