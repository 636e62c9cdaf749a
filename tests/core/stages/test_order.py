"""Order: each arrangement, at every length, as blocks and as groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.grouping import reading_order
from foveate.core.stages.divide import SentenceGroup, divide_candidate
from foveate.core.stages.group import Group
from foveate.core.stages.order import (
    LOST_IN_THE_MIDDLE,
    Order,
    OrderBy,
    arrange,
    arrange_by_attention,
)
from foveate.core.stages.stitch import Stitch
from foveate.core.types import Candidate, Chunk, Rendition, Sentences, rank
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import candidates

LENGTHS = range(1, 13)


def ranked(n):
    """Candidates 1 (best) to n."""
    return tuple(candidate("t", -float(i), id=str(i)) for i in range(1, n + 1))


def ordered(by, n):
    """The ranks as they stand in the context."""
    out = Order(by=by)(ranked(n), request()).candidates
    return [int(c.id) for c in out]


@pytest.mark.parametrize("n", LENGTHS)
def test_bookend_does_not_depend_on_parity(n):
    """P1, S10: for every n the best is first, the second-best last, the rest falls between them."""
    expected = list(range(1, n + 1)) if n <= 3 else [1, *range(3, n + 1), 2]

    assert ordered("bookend", n) == expected


@pytest.mark.parametrize("n", LENGTHS)
def test_edges_do_not_depend_on_parity(n):
    """P1, S10: for every n the odd ranks come down to the middle and the even ones go back up."""
    out = ordered("edges", n)
    odd, even = out[: (n + 1) // 2], out[(n + 1) // 2 :]

    assert odd == list(range(1, n + 1, 2))
    assert even == list(range(2, n + 1, 2))[::-1]


def test_relevance_is_the_total_order():
    """S10: score descending, then source, sequence and id ascending."""
    one = candidate("t", 0.5, id="1", document_id="d", source="b.md", sequence=0)
    two = candidate("t", 0.5, id="2", document_id="e", source="a.md", sequence=2)
    three = candidate("t", 0.5, id="3", document_id="e", source="a.md", sequence=1)
    best = candidate("t", 0.6, id="4", source="z.md")
    out = Order()((one, two, three, best), request()).candidates

    assert [c.id for c in out] == ["4", "3", "2", "1"]


@given(candidates())
def test_chronological_is_reading_order(found):
    """S10: source, page, sequence, row, whatever the scores."""
    out = Order(by="chronological")(found, request()).candidates

    assert out == tuple(sorted(found, key=reading_order))


@pytest.mark.parametrize("by", ["chronological", "document", "attention"])
def test_rows_of_one_file_read_in_the_order_of_their_rows(by):
    """S10: rows of a file that have no sequence or offset are told apart by their numbers."""
    rows = (3, 12, 9, 10)  # the best first
    chunks = [Chunk(text=f"t{n}", source="a.csv", row=n) for n in rows]
    found = [Candidate(chunk=chunk, score=-i) for i, chunk in enumerate(chunks)]
    out = [c.chunk.row for c in Order(by=by)(tuple(found), request()).candidates]

    assert out == [3, 9, 10, 12]


@given(candidates())
def test_document_is_as_grouped(found):
    """S10: `document` gives what `Group` gives, and leaves it as it is."""
    grouped = Group()(found, request()).candidates

    assert Order(by="document")(found, request()).candidates == grouped
    assert Order(by="document")(grouped, request()).candidates == grouped


@given(candidates(), st.sampled_from(get_args(OrderBy)))
def test_groups_move_as_groups(found, by):
    """S10: each document is one run, whatever the order, and its inside stays as it was."""
    out = Order(by=by, groups=True)(Group()(found, request()).candidates, request()).candidates
    inside = Group()(found, request()).candidates

    for document_id in {c.document_id for c in found}:
        places = [n for n, c in enumerate(out) if c.document_id == document_id]
        assert places == list(range(places[0], places[-1] + 1))
        assert [out[n] for n in places] == [c for c in inside if c.document_id == document_id]


def test_groups_are_placed_by_their_best():
    """S10: A's best is first, B's second: with bookend B's whole group stands last."""
    rows = [("a", 9), ("a", 1), ("b", 8), ("b", 2), ("c", 7), ("d", 6)]
    found = tuple(candidate("t", s, id=f"{d}{s}", document_id=d) for d, s in rows)
    out = Order(by="bookend", groups=True)(found, request()).candidates

    assert [c.id for c in out] == ["a9", "a1", "c7", "d6", "b8", "b2"]


def test_attention_puts_the_best_on_the_best_read_places():
    """S10, E6: along the published curve the start is best, then the end, the middle last."""
    assert ordered("attention", 5) == [1, 3, 5, 4, 2]


@given(st.lists(st.floats(0, 100), min_size=2, max_size=8).map(tuple), st.integers(1, 60))
def test_attention_follows_the_curve(curve, n):
    """S10: of blocks of one size, a better rank never stands on a worse-read place."""
    places = arrange_by_attention([40] * n, curve)
    heights = interpolated(curve, n)
    by_rank = [heights[places.index(block)] for block in range(n)]

    assert sorted(places) == list(range(n))
    assert all(a >= b - 1e-9 for a, b in pairwise(by_rank))


def interpolated(curve, n):
    """The curve at n evenly spaced places."""
    out = []
    for place in range(n):
        x = place * (len(curve) - 1) / max(1, n - 1)
        left = min(int(x), len(curve) - 2)
        out.append(curve[left] + (curve[left + 1] - curve[left]) * (x - left))
    return out


def test_a_flat_curve_is_relevance():
    """S10: a model that reads everywhere alike gets the best first."""
    assert arrange_by_attention([9, 1, 8, 2, 7, 3, 6], (0.5, 0.5, 0.5)) == list(range(7))
    assert arrange_by_attention([5], LOST_IN_THE_MIDDLE) == [0]


def test_a_long_block_does_not_push_the_next_best_into_the_middle():
    """S10: a place is where its text stands: behind a block of half the text it reads badly."""
    sizes = [1000, 100, 100, 100, 700]
    found = arrange_by_attention(sizes, LOST_IN_THE_MIDDLE)

    assert found[0] == 0
    assert found[-1] == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.floats(0, 1)), max_size=12))
def test_attention_lets_a_document_read_in_its_order(rows):
    """S10: the best block stays, and behind it each document's blocks read on, on its places."""
    pool = [
        candidate("t", score, id=str(n), document_id=document, sequence=sequence)
        for n, (document, sequence, score) in enumerate(rows)
    ]
    by_rank = sorted(pool, key=rank)
    before = [by_rank[n] for n in arrange("attention", [60] * len(pool))]
    after = Order(by="attention")(tuple(pool), request()).candidates

    assert [c.document_id for c in after] == [c.document_id for c in before]
    assert [c == by_rank[0] for c in after] == [c == by_rank[0] for c in before]
    for document in "abc":
        others = [c for c in after if c.document_id == document and c != by_rank[0]]
        assert [c.chunk.sequence for c in others] == sorted(c.chunk.sequence for c in others)


def test_blocks_whose_place_in_the_document_is_unknown_stay_where_they_are():
    """S10: ids say nothing about the order of a document; offsets do."""
    unknown = tuple(candidate("t", -n, id=str(9 - n), document_id="d") for n in range(5))
    known = tuple(candidate("t", -n, id=str(n), document_id="d", start=9 - n) for n in range(5))

    assert [c.score for c in Order(by="attention")(unknown, request()).candidates] == [
        *(0, -2, -4, -3, -1)
    ]
    assert [c.score for c in Order(by="attention")(known, request()).candidates] == [
        *(0, -4, -3, -2, -1)
    ]


def test_what_goes_on_with_the_best_passage_is_next():
    """S10: then what stands before it in its document; another passage does not come between."""
    rows = ((5, "Lift the lid. "), (6, "Turn the key. "), (7, "Shut the lid."))
    chunks = [
        candidate(text, 0.9, id=str(n), document_id="d", sequence=n, start=n * 14)
        for n, text in rows
    ]
    (passage,) = Stitch()(tuple(chunks), request()).candidates
    spans = ((0, 13), (14, 27), (28, 41))
    weighed = replace(
        passage, sentences=Sentences(spans=spans, leans=(0, 1, 2), worths=(1.0, 0.1, 0.3))
    )
    pieces = divide_candidate(
        weighed, [SentenceGroup(chunks=(n,), sentences=(n,)) for n in range(3)]
    )
    earlier = candidate("Wear gloves.", 0.8, id="1", document_id="d", sequence=1, start=14)
    found = Order(by="attention")((earlier, *pieces), request()).candidates

    assert [c.id for c in found] == ["5", "6", "7", "1"]


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_blocks_of_any_size_are_each_placed_once(sizes):
    """S10: nothing is lost and nothing comes twice, whatever the sizes; the best stays first."""
    found = arrange_by_attention(sizes, LOST_IN_THE_MIDDLE)

    assert sorted(found) == list(range(len(sizes)))


@pytest.mark.parametrize("by", get_args(OrderBy))
def test_side_knowledge_stays_first(by):
    """S11: supplements stand before everything, in the order they had, in every order."""
    asides = tuple(candidate("t", s, id=f"s{s}", origin="supplement") for s in (0.0, 1.0))
    out = Order(by=by)((*ranked(6), *asides), request()).candidates

    assert [c.id for c in out[:2]] == ["s0.0", "s1.0"]


def test_an_unknown_order_is_refused():
    """X1: the error names the value and what is allowed."""
    with pytest.raises(BadOption, match="'best'; it must be one of relevance, chronological"):
        Order(by="best")


def weighed(id: str, score: float, *worths: float) -> Candidate:
    """Two sentences, the first of them shown."""
    text = "One. Two."
    shown = Rendition(kind="extract", text="One.", spans=((0, 4),))
    sentences = Sentences(spans=((0, 4), (5, 9)), leans=(0, 1), worths=worths)
    return replace(candidate(text, id=id, score=score), sentences=sentences, shown=shown)


def test_the_likeliest_evidence_comes_first() -> None:
    """S10: where sentences were weighed, the block that shows the likeliest ones is the best."""
    pool = (weighed("a", 0.9, 0.1, 0.95), weighed("b", 0.5, 0.3, 0.3), weighed("c", 0.1, 0.2, 0.2))
    step = Order()(pool, request())
    mixed = Order()((*pool[:2], replace(pool[2], sentences=None)), request())

    assert [c.id for c in step.candidates] == ["b", "c", "a"]
    assert [c.id for c in mixed.candidates] == ["a", "b", "c"]


def test_worth_counts_for_its_length() -> None:
    """S10: the same evidence in a shorter block is better: it leaves the good places to others."""
    long = "One. " + "And so it goes on. " * 20
    sentences = Sentences(spans=((0, 4), (5, len(long) - 1)), leans=(0, 1), worths=(0.3, 0.01))
    wordy = replace(candidate(long, id="w", score=0.9), sentences=sentences)
    step = Order()((wordy, weighed("b", 0.5, 0.2, 0.1)), request())

    assert [c.id for c in step.candidates] == ["b", "w"]


def test_rows_and_code_follow_what_their_metadata_name() -> None:
    """U1 U2: the names of columns and the signatures around code stand before them."""
    known: dict[int, dict[str, object]] = {
        5: {"code_heads_sequences": [1, 3]},
        9: {"table_names_sequence": 8},
        7: {"table_names_sequence": 30},  # is not among them
    }
    pool = tuple(
        Candidate(
            chunk=Chunk(
                id=f"d{n}",
                text=f"Text {n}.",
                document_id="d",
                sequence=n,
                metadata=known.get(n, {}),
            ),
            score=score,
        )
        for n, score in ((9, 0.9), (5, 0.8), (7, 0.7), (1, 0.1), (3, 0.2), (8, 0.3))
    )
    placed = Order()(pool, request()).candidates

    assert [c.chunk.sequence for c in placed] == [8, 9, 1, 3, 5, 7]
