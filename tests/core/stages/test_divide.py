"""Divide: a passage of uneven worth falls into its chunks again, and loses nothing by it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.renditions import join_chunk_spans
from foveate.core.request import Stage
from foveate.core.stages import divide
from foveate.core.stages.compress import Compress
from foveate.core.stages.dedup.corroborating import corroborating_sources
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.divide import Divide, find_sentence_groups, sentence_owners
from foveate.core.stages.floor import Floor
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Overflow, Pack
from foveate.core.stages.pack.policies import POLICIES
from foveate.core.stages.stitch import Stitch
from foveate.core.types import Candidate, Part, Sentences, Step
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import candidates

DULL = "Boats are hired by the hour. The quay is long and wide. A bell hangs there."
ASKED = "Ada built the weir in 1871. The weir was built of oak."


def stitched(*rows: tuple[str, str, float]) -> Candidate:
    """One passage of chunks that follow on each other."""
    at, found = 0, []
    for n, (own, text, score) in enumerate(rows):
        found.append(candidate(text, score, id=own, document_id="d", sequence=n, start=at))
        at += len(text)
    (one,) = Stitch()(tuple(found), request()).candidates
    return one


def offered(passage: Candidate, query: str = "Who built the weir in 1871?") -> Candidate:
    """The passage with its sentences weighed."""
    compress = Compress(offer="sentences", when="always")
    (one,) = compress((passage,), request(query)).candidates
    return one


def passage(worths: tuple[float, ...], leans: tuple[int, ...] = ()) -> Candidate:
    """Four sentences, two of each of two chunks, with these worths."""
    one = stitched(("a", "One is. Two is. ", 0.9), ("b", "Three is. Four is.", 0.5))
    spans = ((0, 7), (8, 15), (16, 25), (26, 34))
    return replace(
        one, sentences=Sentences(spans=spans, leans=leans or (0, 1, 2, 3), worths=worths)
    )


def shown(step: Step) -> dict[str, str]:
    """What each candidate may show."""
    return {c.id: c.shown.text if c.shown else c.text for c in step.candidates}


def test_a_passage_falls_apart_where_its_worth_changes() -> None:
    """S10: what answers the question is a block of its own and can stand where it is read."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED + " ", 0.9), ("c", DULL, 0.4)))
    step = Divide()((one,), request())

    assert shown(step) == {"a": DULL, "b": ASKED, "c": DULL}
    assert [(d.chunk_id, d.action, d.by) for d in step.decisions] == [
        ("a", "changed", ""),
        ("b", "entered", "a"),
        ("c", "entered", "a"),
    ]
    assert [c.score for c in step.candidates] == [0.5, 0.9, 0.4]


def test_what_is_worth_next_to_nothing_stays_whole() -> None:
    """S10: a passage under a hundredth of the best sentence of all is left as it is."""
    best = replace(passage((1.0, 1.0, 1.0, 1.0)), chunk=candidate("All.", id="z").chunk)
    under, over = passage((0.009, 0.009, 0.0, 0.0)), passage((0.011, 0.011, 0.0, 0.0))

    assert len(Divide()((best, under), request()).candidates) == 2
    assert len(Divide()((best, over), request()).candidates) == 3


def test_what_is_worth_the_same_stays_together() -> None:
    """S6: a passage of even worth stays the readable passage that stitching made."""
    one = passage((0.2, 0.2, 0.2, 0.2))
    step = Divide()((one,), request())

    assert step == Step(candidates=(one,))


@pytest.mark.parametrize(
    ("first", "second", "pieces"),
    [
        ("1. Boats are hired by the hour.\n\n", "2. Ada built the weir in 1871.\n", 1),
        ("8) Hire a boat\n", "9) See who built the weir in 1871\n10) Go back\n", 1),
        ("Boats are hired by the hour.\n\n", "1. Ada built the weir in 1871.\n", 2),
        ("1. Boats\n\nBoats are hired.\n\n", "2. The weir\n\nAda built the weir in 1871.\n", 2),
        ("1. Boats are hired by the hour.\n\n", "3. Ada built the weir in 1871.\n", 2),
        ("1. Who hires boats? Bo does.\n", "2. Who built the weir? Ada, in 1871.\n", 2),
        ("9. Go.\n1. Boats are hired.\n\n", "2. Ada built the weir in 1871.\n", 1),
    ],
)
def test_steps_of_one_list_stay_together(first: str, second: str, pieces: int) -> None:
    """J3: they read in their order; numbered titles and questions are no steps."""
    one = offered(stitched(("a", first, 0.1), ("b", second, 0.9)))

    assert len(Divide()((one,), request()).candidates) == pieces


@pytest.mark.parametrize(("contrast", "pieces"), [(1.0, 2), (3.0, 2), (6.0, 1)])
def test_the_contrast_decides(contrast: float, pieces: int, monkeypatch) -> None:
    """S10: it is divided where one side is worth more than so many times the other."""
    monkeypatch.setattr(divide, "CONTRAST", contrast)
    step = Divide()((passage((0.4, 0.4, 0.1, 0.1)),), request())

    assert len(step.candidates) == pieces


def test_a_sentence_goes_with_what_it_leans_on() -> None:
    """S8: a sentence that leans over the border of two chunks goes with its head."""
    step = Divide()((passage((0.1, 0.9, 0.9, 0.01), leans=(0, 1, 1, 3)),), request())

    assert shown(step) == {"a": "One is. Two is. Three is. …", "b": "… Four is."}


def test_two_that_lean_on_one_another_end_the_search() -> None:
    """S8: leanings that go round in a circle stay with one chunk."""
    one = passage((0.1, 0.9, 0.9, 0.01), leans=(1, 2, 1, 3))
    assert one.sentences is not None

    assert sentence_owners(one, one.sentences)[:3] == [sentence_owners(one, one.sentences)[0]] * 3


def test_a_chunk_that_has_all_of_a_sentence_comes_first() -> None:
    """S10: a better chunk that has only the end of a sentence does not take it away."""
    one = passage((0.5, 0.5, 0.5, 0.5))
    first, second = one.parts
    one = replace(one, parts=(first, replace(second, span=(12, 34), score=0.95)))
    assert one.sentences is not None

    assert sentence_owners(one, one.sentences) == [0, 0, 1, 1]


def test_pieces_are_cited_by_their_own_chunks() -> None:
    """C1: each piece is shown, and so cited, with the chunk that it is of."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED, 0.9)))
    step = Divide()((one,), request())

    for piece in step.candidates:
        assert piece.shown is not None
        held = [p.chunk.id for p in piece.parts if _meet(p, piece.shown.spans)]
        assert held == [piece.id]


def _meet(part: Part, spans: tuple[tuple[int, int], ...]) -> bool:
    start, end = part.span
    return any(a < end and start < b for a, b in spans)


@given(candidates(), st.floats(1, 100), st.integers(1, 80))
def test_nothing_is_lost_and_nothing_comes_twice(
    pool: tuple[Candidate, ...], contrast: float, budget: int
) -> None:
    """S10, B1: every sentence is in one piece, in order; and packed, no sentence comes twice."""
    asked = request("pump gate", budget=budget)
    pool = Compress(offer="sentences", when="always")(
        Stitch()(pool, asked).candidates, asked
    ).candidates
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divide, "CONTRAST", contrast)
        step = Divide()(pool, asked)
    packed = Pack(policy="value")(step.candidates, asked).candidates
    again = {c.text for c in pool if len([other for other in pool if other.text == c.text]) > 1}

    for one in pool:
        pieces = [c for c in step.candidates if c.text == one.text and c.sentences]
        spans = sorted(span for c in pieces if c.sentences for span in c.sentences.spans)
        if one.sentences and one.text not in again:
            assert spans == list(one.sentences.spans)
    ranges = sorted(
        (c.text, *span) for c in packed if c.shown and c.text not in again for span in c.shown.spans
    )
    assert not any(a[0] == b[0] and b[1] < a[2] for a, b in pairwise(ranges))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("overflow", ["skip", "truncate"])
@pytest.mark.parametrize("budget", [8, 14, 20, 1000])
def test_no_policy_shows_more_than_a_piece(policy: str, overflow: Overflow, budget: int) -> None:
    """S9: whatever the policy and the budget, a piece shows its own text or less of it."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED, 0.9)))
    asked = request(budget=budget)
    pieces = Divide()((one,), asked).candidates
    pack = Pack(policy=policy, overflow=overflow, min_tokens=1)
    found = shown(pack(pieces, asked))

    whole = shown(Step(candidates=pieces))
    assert all(text.strip("… ") in whole[own] for own, text in found.items())
    if budget == 1000:
        assert found == {"a": DULL, "b": ASKED}


def test_what_was_not_weighed_stays() -> None:
    """S12: a passage without sentences and a chunk alone are left as they are."""
    plain = stitched(("a", "One is. ", 0.5), ("b", "Two is.", 0.9))
    alone = offered(candidate(ASKED, 0.5, id="z"))

    assert find_sentence_groups(plain) == []
    assert Divide()((plain, alone), request()) == Step(candidates=(plain, alone))


def test_a_piece_that_is_left_out_is_counted_alone() -> None:
    """M1: what a piece would have cost is its own text, not the passage's."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED, 0.9)))
    asked = request(budget=12)
    step = Pack(policy="greedy")(Divide()((one,), asked).candidates, asked)

    assert [(d.chunk_id, d.numbers["tokens"]) for d in step.decisions if d.action == "dropped"] == [
        ("a", 16)
    ]


def test_pieces_stand_where_their_chunks_stood() -> None:
    """S10: in the order of reading a piece has its own chunk's place, not the passage's."""
    rows = [(f"c{n}", (DULL, ASKED)[n % 2] + " ", 0.5) for n in range(7, 13)]
    step = Divide()((offered(stitched(*rows)),), request())
    read = Order(by="chronological")(step.candidates, request()).candidates

    assert [c.id for c in read] == [own for own, _, _ in rows]


def test_a_long_passage_is_divided_in_one_go() -> None:
    """X2: however many pieces there are, each holds its own chunks and their neighbours alone."""
    rows = [(f"c{n}", (DULL, ASKED)[n % 2] + " ", 0.5) for n in range(300)]
    step = Divide()((offered(stitched(*rows)),), request())

    assert len(step.candidates) == 300
    assert max(len(c.parts) for c in step.candidates) <= 3


def test_a_piece_that_is_shown_has_a_decision() -> None:
    """S12, D7: what is shown of a divided passage is on the trace of the stage that chose it."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED, 0.9)))
    for policy, budget in (("value", 1000), ("greedy", 1000), ("value", 20)):
        asked = request("Who built the weir in 1871?", budget=budget)
        step = Pack(policy=policy)(Divide()((one,), asked).candidates, asked)
        again = Pack(policy=policy)(step.candidates, asked)

        assert {d.chunk_id for d in step.decisions} == {"a", "b"}
        assert {c.shown.kind for c in step.candidates if c.shown} <= {"verbatim", "extract"}
        assert again == Step(candidates=step.candidates, notes=again.notes)


def test_a_piece_claims_the_copies_of_its_own_chunks_alone() -> None:
    """S3, C2: where a copy of one chunk was dropped, only the piece with that chunk names it."""
    copy = candidate(ASKED, 0.1, id="copy", document_id="e", source="other.md")
    rows = (("a", DULL + " ", 0.5), ("b", ASKED, 0.9))
    at, found = 0, [copy]
    for n, (own, text, score) in enumerate(rows):
        found.append(candidate(text, score, id=own, document_id="d", sequence=n, start=at))
        at += len(text)
    asked = request("Who built the weir in 1871?")
    kept = Stitch()(DedupExact()(tuple(found), asked).candidates, asked).candidates
    pieces = Divide()(Compress(offer="sentences", when="always")(kept, asked).candidates, asked)
    named = {c.id: [s.source for s in corroborating_sources(c, "en")] for c in pieces.candidates}

    assert named == {"a": [], "b": ["other.md"]}


@pytest.mark.parametrize(
    "stage",
    [DedupExact(), DedupExact(key="verbatim"), DedupNear(), DedupNear(method="containment")],
    ids=repr,
)
def test_pieces_are_no_copies_of_one_another(stage: Stage) -> None:
    """S3: pieces of a passage share its text, and none of them leaves for another."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", ASKED, 0.9)))
    pieces = Divide()((one,), request()).candidates

    assert stage(pieces, request()).candidates == pieces


def test_a_piece_is_as_long_as_what_it_may_show() -> None:
    """S1: the floor weighs the piece, not the passage around it."""
    one = offered(stitched(("a", DULL + " ", 0.5), ("b", "Ada built the weir.", 0.9)))
    pieces = Divide()((one,), request()).candidates

    assert [c.id for c in Floor(min_tokens=10)(pieces, request()).candidates] == ["a"]


def test_an_end_inside_of_the_chunk_before_is_marked() -> None:
    """J3: a piece that begins where a chunk does, in the middle of another, is cut there."""
    one = stitched(("a", "One is. Two is. ", 0.9), ("b", "Two is. Three is.", 0.5))
    parts = tuple(
        replace(part, span=span) for part, span in zip(one.parts, ((0, 15), (8, 25)), strict=True)
    )
    text = "One is. Two is. Three is."
    chunk = replace(one.chunk, text=text, start=0, end=len(text))

    begins_inside, _ = join_chunk_spans(chunk, [(8, 25)], parts)
    ends_inside, _ = join_chunk_spans(chunk, [(0, 7)], parts)
    whole, _ = join_chunk_spans(chunk, [(16, 25)], parts[1:])

    assert (begins_inside, ends_inside) == ("… Two is. Three is.", "One is. …")
    assert whole == "… Three is."
    assert join_chunk_spans(chunk, [(0, 15)], parts[:1])[0] == "One is. Two is."
