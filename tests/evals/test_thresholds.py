"""The sweep over near-duplicate thresholds: what the stage itself would drop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.near import DedupNear
from foveate.evals.thresholds import shorten_pair, sweep_thresholds
from foveate.testing.fakes import WordTokenizer, candidate, request

SENTENCE = "the pump of the lower house starts by itself and stops when the tank above is full"
BASE = SENTENCE.split()
OTHERS = ["also", "thus", "then", "however", "hence", "moreover", "therefore"]


def copies() -> tuple:
    """A text, copies with one, two and four light words for its last, and a stranger."""
    found = [candidate(" ".join(BASE), 9.0, id="whole")]
    for changed in (1, 2, 4):
        words = BASE[:-changed] + OTHERS[changed - 1 : 2 * changed - 1]
        found.append(candidate(" ".join(words), 8.0 - changed, id=f"copy{changed}"))
    return (*found, candidate("an owl hunts at night over the wide meadow", 1.0, id="owl"))


STAGES = [DedupNear(threshold=value) for value in (0.98, 0.5, 0.85, 0.7)]


def test_a_level_is_what_the_stage_drops():
    """E5: dropped chunks and saved tokens are those of the stage at that very threshold."""
    pool = copies()
    sizes = {c.id: len(c.text.split()) for c in pool}
    for level in sweep_thresholds(pool, STAGES, WordTokenizer()):
        step = DedupNear(threshold=level.threshold)(pool, request())
        gone = {c.id for c in pool} - {c.id for c in step.candidates}

        assert level.dropped == len(gone)
        assert level.tokens_saved == sum(sizes[name] for name in gone)
        assert (level.chunks, level.tokens) == (5, sum(sizes.values()))


def test_each_level_shows_what_it_adds():
    """E5: examples are pairs that a higher threshold keeps, the least alike first."""
    levels = list(sweep_thresholds(copies(), STAGES, WordTokenizer()))

    assert [level.dropped for level in levels] == sorted(level.dropped for level in levels)
    assert levels[-1].dropped == 3
    shown = [pair for level in levels for pair in level.examples]
    assert {pair.dropped for pair in shown} == {"copy1", "copy2", "copy4"}
    for level in levels:
        assert [p.similarity for p in level.examples] == sorted(
            p.similarity for p in level.examples
        )
        assert all(pair.similarity >= level.threshold for pair in level.examples)


def test_every_method_can_be_swept():
    """E5: containment by shared triples, semantic by vectors; as in the stage."""
    part = candidate(" ".join(BASE[:9]), 5.0, id="part", embedding=[1.0, 0.0])
    whole = candidate(" ".join(BASE), 4.0, id="whole", embedding=[1.0, 0.0])
    by_words, by_vectors = (
        DedupNear(method=method, threshold=0.9) for method in ("containment", "semantic")
    )
    found = list(sweep_thresholds((whole, part), [by_words], WordTokenizer()))
    near = list(sweep_thresholds((whole, part), [by_vectors], WordTokenizer()))

    assert (found[0].dropped, found[0].examples[0].kept) == (1, "whole")
    assert near[0].dropped == by_vectors((whole, part), request()).notes.get(
        "dropped", near[0].dropped
    )


def test_long_texts_are_shown_where_they_differ():
    """E5: a shared beginning is left out, and so is what stands before the contained text."""
    left, right = shorten_pair("same " * 60 + "one bar", "same " * 60 + "two bar", 40)
    assert left.startswith("… ")
    assert (left[-7:], right[-7:]) == ("one bar", "two bar")
    whole, part = shorten_pair("before " * 40 + "the very part of the text that is shared",
                            "the very part of the text that is shared", 60)  # fmt: skip
    assert whole == "… the very part of the text that is shared"
    assert part == "the very part of the text that is shared"


@given(st.text(max_size=80), st.text(max_size=80), st.integers(8, 40))
def test_shown_texts_are_short_and_on_one_line(one, other, length):
    """E5: whatever the texts, each is one line of the length asked for, marks apart."""
    for text in shorten_pair(one, other, length):
        assert "\n" not in text
        assert len(text) <= length + 4
