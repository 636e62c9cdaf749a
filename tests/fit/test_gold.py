"""Gold: what a sentence holds of the evidence is what the measure finds of it there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.fit.gold import gold, held

from foveate.evals.measures import WordIndex, measure, split_words

few = st.lists(st.sampled_from("ab"), max_size=12)
sentences = few.map(" ".join)
evidence = st.lists(st.sampled_from("ab"), min_size=1, max_size=9).map(" ".join)


@given(passage=st.lists(sentences, max_size=4), piece=evidence)
def test_a_passage_holds_what_the_measure_finds(passage: list[str], piece: str) -> None:
    """E1: runs that go on into the next sentence count, and the passage has what they all have."""
    found = set().union(*held(passage, piece))
    cover, _ = WordIndex(" ".join(passage), 1).coverage(piece)

    assert len(found) / len(split_words(piece)) == pytest.approx(cover)


@given(passage=st.lists(sentences, max_size=4), pieces=st.lists(evidence, min_size=1, max_size=3))
def test_the_sum_is_the_recall(passage: list[str], pieces: list[str]) -> None:
    """E1: however often a word is there, all sentences of a passage add up to its recall."""
    found = gold([passage], pieces)

    assert len(found) == len(passage)
    assert sum(found) == pytest.approx(measure(" ".join(passage), pieces, tokens=1).recall)


def test_copies_share() -> None:
    """E1: of what two passages hold each has a half, since it is found once."""
    said = "Drain the boiler before the first frost."
    found = gold([[said, "Then rest."], [said]], [said, "Close the tap of the well too."])

    assert found == pytest.approx([0.25, 0.0, 0.25])
