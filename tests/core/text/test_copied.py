"""Which sentences of a text an answer holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.compressed_rendition import find_copied_sentences
from foveate.core.text.sentences import sentence_spans
from foveate.testing.strategies import texts

TEXT = (
    "The pump is old.  It does not start before noon, unless\nthe valve is open. "
    "Never open it above 3 bar. 他说这个泵很旧。 It is blue."
)


def said(answer: str) -> list[str]:
    """The sentences that are found."""
    return [TEXT[a:b] for a, b in find_copied_sentences(answer, TEXT)]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("The pump is old.", ["The pump is old."]),
        ("The  pump\tis old", ["The pump is old."]),
        ("- It is blue.\n1. The pump is old.", ["The pump is old.", "It is blue."]),
        ("“Never open it above 3 bar.”", ["Never open it above 3 bar."]),
        ("The pump is old. Never open it above 3 bar.", ["The pump is old.", TEXT[75:101]]),
        ("It does not start before noon,\nunless the valve is open.", [TEXT[18:74]]),
        ("他说这个泵 很旧。", ["他说这个泵很旧。"]),
    ],
)
def test_a_copied_sentence_is_found(answer, found):
    """S8: white space, list marks and quotation marks apart, a copy is found as it stands."""
    assert said(answer) == found


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n ",
        "The pump is new.",
        "the pump is old.",
        "It starts before noon, unless the valve is open.",
        "start before noon",  # half of it says the opposite
        "open it above 3 bar.",
        "Never open it above 4 bar.",
        '{"sentences": ["The pump is old"]}',
        "Sure! Here are the sentences:",
        "…",
        ".",
        "a" * 200_000,
    ],
)
def test_what_is_no_sentence_of_the_text_is_thrown_away(answer):
    """S8: whatever the text does not say, or says in half a sentence, is not found in it."""
    assert said(answer) == []


def test_what_is_beside_it_does_not_harm():
    """S8: an introduction is thrown away, the copy behind it is kept."""
    assert said("Here it is: \n\nThe pump is old.\nI hope this helps!") == ["The pump is old."]


@given(texts(), st.text())
def test_only_whole_sentences_of_the_text(text, answer):
    """S8: what is found is made of the text's sentences, in order, whatever was answered."""
    spans = sentence_spans(text)

    assert [span for span in spans if span in find_copied_sentences(answer, text)] == [
        *find_copied_sentences(answer, text)
    ]


@given(texts())
def test_the_whole_text_holds_all_its_sentences(text):
    """S8: an answer that is the text itself holds every sentence that has a place."""
    spans = [span for span in sentence_spans(text) if len(text) < 400]
    found = find_copied_sentences(text, text) if spans else ()

    assert set(found) <= set(sentence_spans(text))
    assert len({text[a:b] for a, b in spans}) < 2 or found
