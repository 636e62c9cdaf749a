"""Expand: neighbours of hits come in, under their hits, and only what may be read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.grouping import head_places
from foveate.core.stages.expand import Expand, decay_score
from foveate.core.types import Candidate, Chunk, Decision, Part
from foveate.testing.fakes import request
from foveate.testing.strategies import READER, cases


def chunk(sequence, document_id="d", **fields):
    """A chunk with its place as id."""
    place = f"{document_id}{sequence}"
    given = {"text": f"Text {place}.", **fields}
    return Chunk(id=place, document_id=document_id, sequence=sequence, **given)


def hit(sequence, score=0.8, document_id="d"):
    """A retrieved candidate."""
    return Candidate(chunk=chunk(sequence, document_id), score=score)


def expanded(stage, hits, chunks, **asked):
    """(sequence → score) of what comes out."""
    step = stage(tuple(hits), request(neighbours=tuple(chunks), **asked))
    return {c.chunk.sequence: c.score for c in step.candidates}


def test_places_that_no_chunk_has_are_not_looked_for():
    """F1: an engine may refuse the whole request for a number that it cannot hold."""
    metadata = {
        "code_heads_sequences": [2, -1, 2**63, True, "3"],
        "table_names_sequence": 10**30,
    }
    assert head_places(chunk(5, metadata=metadata)) == [("d", 2)]


def test_hits_five_eight_twelve():
    """P1, S5: 5, 8, 12 plus or minus one bring in 4 to 9 and 11 to 13."""
    out = expanded(Expand(), [hit(5), hit(8), hit(12)], map(chunk, range(20)))

    assert sorted(out) == [4, 5, 6, 7, 8, 9, 11, 12, 13]
    assert [out[n] for n in (5, 8, 12)] == [0.8, 0.8, 0.8]
    assert [out[n] for n in (4, 6, 7, 9, 11, 13)] == [0.4] * 6


def test_an_entry_says_which_hit_how_far_and_what_score():
    """S5: a neighbour enters with origin `neighbour` and one decision."""
    step = Expand()((hit(5),), request(neighbours=(chunk(6),)))

    assert step.candidates == (hit(5), Candidate(chunk=chunk(6), score=0.4, origin="neighbour"))
    assert step.decisions == (
        Decision(
            chunk_id="d6",
            action="entered",
            reason="neighbour",
            by="d5",
            numbers={"distance": 1, "score": 0.4},
        ),
    )


def test_the_score_fades_with_each_step():
    """S5: score x decay ** distance, up to the window and no further."""
    out = expanded(Expand(window=3, decay=0.5), [hit(5)], map(chunk, range(20)))

    assert out == {5: 0.8, 4: 0.4, 6: 0.4, 3: 0.2, 7: 0.2, 2: 0.1, 8: 0.1}


def test_reached_twice_takes_the_better():
    """S5: between two hits, the higher score counts and its hit is named."""
    step = Expand(window=2)((hit(3, 0.9), hit(6, 0.4)), request(neighbours=(chunk(5), chunk(4))))

    assert [(c.id, c.score) for c in step.candidates[2:]] == [("d4", 0.45), ("d5", 0.225)]
    assert [(d.chunk_id, d.by) for d in step.decisions] == [("d4", "d3"), ("d5", "d3")]


def test_a_retrieved_neighbour_keeps_its_own_score():
    """S5: a chunk that is both is not touched, even if its neighbour would give it more."""
    weak = hit(6, 0.1)
    step = Expand()((hit(5), weak), request(neighbours=(chunk(6),)))

    assert step.candidates == (hit(5), weak)
    assert step.decisions == ()


def test_the_same_chunk_under_another_id_does_not_enter():
    """S5: same document, same place, same text is the same chunk."""
    other = replace(chunk(6), id="another")
    step = Expand()((hit(5), hit(6)), request(neighbours=(other,)))

    assert len(step.candidates) == 2


@given(st.floats(-1e308, 1e308), st.floats(0, 1), st.integers(1, 3))
def test_no_neighbour_ever_scores_over_its_hit(score, decay, distance):
    """S5: faded scores are finite, never over the hit's, and fall with the distance."""
    near, far = decay_score(score, decay, distance), decay_score(score, decay, distance + 1)

    assert far <= near <= score
    assert far > float("-inf")


def test_a_missing_neighbour_is_no_error():
    """S5: at a document's first chunk, or without any neighbours, nothing enters."""
    assert expanded(Expand(), [hit(0)], [chunk(1)]) == {0: 0.8, 1: 0.4}
    assert expanded(Expand(), [hit(0)], []) == {0: 0.8}
    assert expanded(Expand(window=0), [hit(0)], [chunk(1)]) == {0: 0.8}


def test_a_forbidden_neighbour_leaves_no_trace():
    """S5, X5: what the reader may not see neither enters nor is counted, even if it was fetched."""
    secret = chunk(6, principals=("board",))
    step = Expand()((hit(5),), request(neighbours=(secret,), principals=("staff",)))
    allowed = Expand()((hit(5),), request(neighbours=(secret,), principals=("board", "x")))

    assert step == Expand()((hit(5),), request())
    assert [c.id for c in allowed.candidates] == ["d5", "d6"]


def test_hits_and_neighbours_bring_what_they_are_never_shown_without():
    """S5 U2: names of columns, titles of groups and signatures, however far away they are."""
    known = {40: {"code_heads_sequences": [7, 21]}, 39: {"table_names_sequence": 30}}
    chunks = [chunk(n, metadata=known.get(n, {})) for n in range(60)]
    found = replace(hit(40), chunk=chunks[40])

    assert expanded(Expand(), [found], chunks) == {
        40: 0.8,
        **dict.fromkeys((7, 21, 30, 39, 41), 0.4),
    }


def test_a_passage_is_expanded_at_its_retrieved_chunks():
    """S5: a stitched passage brings the neighbours of its hits and nothing it holds already."""
    parts = (
        Part(chunk=chunk(5), span=(0, 8), origin="neighbour"),
        Part(chunk=chunk(6), span=(8, 16), origin="retrieved"),
    )
    passage = replace(hit(5), parts=parts)

    assert sorted(expanded(Expand(), [passage], map(chunk, range(20)))) == [5, 7]


@given(cases())
def test_what_enters_is_near_a_hit_and_may_be_read(case):
    """S5, I4: each newcomer stands within the window of a hit, and its reader may see it."""
    candidates, asked = case
    step = Expand(window=2)(candidates, asked)
    places = {
        (c.document_id, c.chunk.sequence + step)
        for c in candidates
        if c.origin == "retrieved"
        for step in (-2, -1, 1, 2)
    }

    assert step.candidates[: len(candidates)] == candidates
    for new in step.candidates[len(candidates) :]:
        assert (new.document_id, new.chunk.sequence) in places
        assert new.chunk.principals in ((), (READER,))


@pytest.mark.parametrize("options", [{"window": -1}, {"window": 4}, {"decay": 1.1}, {"decay": -1}])
def test_impossible_options_are_refused(options):
    """X1: the error names the option and the value."""
    (name,) = options
    with pytest.raises(BadOption, match=f"expand: {name} is"):
        Expand(**options)
