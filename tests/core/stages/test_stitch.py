"""Stitch: the document's own text comes back, every repeat once, no gap closed in silence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.seal import content_hash
from foveate.core.stages import stitch as module
from foveate.core.stages.stitch import Stitch
from foveate.core.types import Candidate, Chunk, Decision, Duplicate, Part, Rendition
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import CutDocument, candidates, cut_documents

BRING = "U brengt best uw identiteitskaart en verwijsbrief mee."


def piece(text, sequence, start=None, score=0.5, **fields):
    """A chunk of document d as a candidate."""
    return candidate(
        text, score, id=f"d{sequence}", document_id="d", sequence=sequence, start=start, **fields
    )


def stitched(*pieces, **options):
    """What comes out."""
    return Stitch(**options)(pieces, request()).candidates


def texts(*pieces, **options):
    """The texts that come out."""
    return [c.text for c in stitched(*pieces, **options)]


def test_the_published_repeat():
    """P1, S6: the sentence at the end of one chunk and the start of the next is kept once."""
    one = piece(f"Bij een raadpleging meldt u zich aan. {BRING}", 3)
    two = piece(f"{BRING} Na de raadpleging gaat u naar de kassa.", 4)

    assert texts(one, two) == [
        f"Bij een raadpleging meldt u zich aan. {BRING} Na de raadpleging gaat u naar de kassa."
    ]


def test_the_books_of_a_passage():
    """S6: the first piece changed, the others merged into it, with what was there twice."""
    step = Stitch()((piece("ab" * 15 + "c" * 25, 1), piece("c" * 25 + "d", 2)), request())

    assert step.decisions == (
        Decision(
            chunk_id="d1", action="changed", reason="stitched", numbers={"parts": 2, "overlap": 25}
        ),
        Decision(
            chunk_id="d2", action="merged", reason="stitched", by="d1", numbers={"overlap": 25}
        ),
    )


def reassembled(cut: CutDocument) -> list[tuple[int, int]]:
    """What the chunks cover, by definition: the ranges that touch or overlap, made one."""
    ranges: list[tuple[int, int]] = []
    for chunk in sorted(cut.chunks, key=lambda c: c.start):
        if ranges and chunk.start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], chunk.end))
        else:
            ranges.append((chunk.start, chunk.end))
    return ranges


@given(cut_documents(max_chunks=12), st.randoms(use_true_random=False))
def test_a_document_comes_back_exactly(cut, dice):
    """S6: document[start:end] == text, for overlapping, nested, touching and gapped chunks."""
    pieces = [Candidate(chunk=chunk) for chunk in cut.chunks]
    dice.shuffle(pieces)
    out = stitched(*pieces)

    assert sorted((c.chunk.start, c.chunk.end) for c in out) == reassembled(cut)
    for passage in out:
        assert cut.text[passage.chunk.start : passage.chunk.end] == passage.text


@given(candidates())
def test_every_part_stands_where_it_says(found):
    """S6: a passage knows each chunk's span, whatever the offsets claim."""
    for passage in Stitch(min_overlap=3)(found, request()).candidates:
        for part in passage.parts:
            assert passage.text[slice(*part.span)] == part.chunk.text


@given(st.integers(25, 60), st.integers(61, 140), st.integers(2, 6))
def test_a_document_comes_back_without_offsets(shared, size, count):
    """S6: sliding windows over a text that does not repeat itself give the text back."""
    step = size - shared
    text = "".join(f"{n:04d} " for n in range(200))[: size + step * (count - 1)]
    pieces = [piece(text[n * step : n * step + size], n) for n in range(count)]

    assert texts(*reversed(pieces)) == [text]


def test_a_start_without_an_end_is_enough():
    """S6: loaders that only know where a chunk starts are believed as far as the text agrees."""
    one, two = piece("one two", 0, 0), piece("two three", 1, 4)
    bare = [replace(c, chunk=replace(c.chunk, end=None)) for c in (one, two)]
    (out,) = stitched(*bare)

    assert (out.text, out.chunk.start, out.chunk.end) == ("one two three", 0, 13)


def test_refuted_offsets_count_for_nothing():
    """S6: where the texts differ under the claimed overlap, the pieces are not joined by it."""
    assert texts(piece("one two", 0, 0), piece("six seven", 1, 4)) == ["one two", "six seven"]


def test_refuted_offsets_give_way_to_the_text():
    """S6: a repeat that the text shows is removed, and the passage claims no offsets."""
    one, two = piece(f"First. {BRING}", 0, 0), piece(f"{BRING} Last.", 1, 30)
    (out,) = stitched(one, two)

    assert out.text == f"First. {BRING} Last."
    assert (out.chunk.start, out.chunk.end) == (None, None)


def test_offsets_of_another_length_count_for_nothing():
    """S6: an end that does not fit the text (bytes, say) makes both offsets unknown."""
    one = piece(f"Één. {BRING}", 0, 0)
    one = replace(one, chunk=replace(one.chunk, end=one.chunk.end + 2))
    (out,) = stitched(one, piece(f"{BRING} Twee.", 1, 8))

    assert out.text == f"Één. {BRING} Twee."
    assert out.chunk.start is None


def test_a_short_repeat_is_not_taken_for_an_overlap():
    """S6: without offsets, more than `min_overlap` characters must agree."""
    tail = "x" * 20

    assert texts(piece(f"a{tail}", 0), piece(f"{tail}b", 1)) == [f"a{tail}\n\n{tail}b"]
    assert texts(piece(f"a{tail}", 0), piece(f"{tail}b", 1), min_overlap=19) == [f"a{tail}b"]


def test_consecutive_pieces_are_joined_by_a_blank_line():
    """S6: nothing is known of what lies between, so a paragraph break is shown."""
    (out,) = stitched(piece("Second.", 2), piece("First.", 1))

    assert out.text == "First.\n\nSecond."
    assert [p.span for p in out.parts] == [(0, 6), (8, 15)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(piece("Later.", 3), id="a sequence is missing between"),
        pytest.param(piece("Same.", 1), id="the same sequence"),
        pytest.param(piece("Secret.", 2, principals=("board",)), id="other readers"),
        pytest.param(candidate("Elsewhere.", document_id="e", sequence=2), id="another document"),
        pytest.param(piece("Aside.", 2, origin="supplement"), id="side knowledge"),
        pytest.param(
            Candidate(chunk=Chunk(text="B", document_id="d", sequence=2, section="S")),
            id="another section",
        ),
        pytest.param(
            Candidate(chunk=Chunk(text="B", document_id="d", sequence=2, row=7)), id="a row"
        ),
    ],
)
def test_what_does_not_follow_is_not_joined(other):
    """S6: only consecutive chunks of one section, for the same readers, are joined on trust."""
    one = candidate("First.", id="one", document_id="d", sequence=1)

    assert stitched(one, other) == (one, other)


def test_what_pack_has_chosen_is_joined_where_all_of_it_is_shown():
    """S6: chunks that are shown in full are one passage; one that is cut or open stays alone."""
    whole = [
        replace(
            piece(text, n), shown=Rendition(kind="verbatim", text=text, spans=((0, len(text)),))
        )
        for n, text in enumerate(("First.", "Second."), 1)
    ]
    cut = Rendition(kind="truncated", text="Sec …", spans=((0, 3),))

    (joined,) = stitched(*whole)
    assert (joined.text, joined.shown) == ("First.\n\nSecond.", None)
    assert len(stitched(whole[0], replace(whole[1], shown=cut))) == 2
    assert len(stitched(whole[0], replace(whole[1], shown=None))) == 2


def test_a_passage_keeps_the_best_of_its_pieces():
    """S6: first piece's id and place, the best of each score, retrieved if any part was."""
    old = datetime(2024, 1, 1, tzinfo=UTC)
    lead = piece("one two", 0, 0, 0.2, origin="neighbour", embedding=(1.0,), modified_at=old)
    lead = replace(lead, chunk=replace(lead.chunk, page=1, section="Intro"))
    tail = replace(piece("two three", 1, 4, 0.9, semantic_score=0.7), lexical_score=3.0)
    tail = replace(tail, chunk=replace(tail.chunk, page=2, section="More"))
    (out,) = stitched(tail, lead)

    assert (out.id, out.chunk.page, out.chunk.section) == ("d0", 1, "Intro")
    assert (out.score, out.semantic_score, out.lexical_score) == (0.9, 0.7, 3.0)
    assert (out.origin, out.rerank_score, out.chunk.modified_at) == ("retrieved", None, old)
    assert out.chunk.embedding is None
    assert out.chunk.content_hash == content_hash("one two three")
    assert out.parts == (
        Part(chunk=lead.chunk, span=(0, 7), origin="neighbour", score=0.2),
        Part(chunk=tail.chunk, span=(4, 13), origin="retrieved", score=0.9),
    )


def test_duplicates_move_with_the_text_they_left_for():
    """S3, S6: a copy of a piece stays with the passage, at the place of that piece."""
    x, y = (Duplicate(chunk=piece(text, 9).chunk, span=(0, len(text))) for text in "xy")
    one = replace(piece("First.", 1), duplicates=(x,))
    two = replace(piece("Second.", 2), duplicates=(y,))

    assert stitched(one, two)[0].duplicates == (x, replace(y, span=(8, 9)))


def test_renditions_of_the_pieces_are_not_kept():
    """S6: a shorter version of a piece is no version of the passage."""
    short = Rendition(kind="extract", text="First", spans=((0, 5),), value=0.5)
    one = replace(piece("First.", 1), renditions=(short,))

    assert stitched(one, piece("Second.", 2))[0].renditions == ()
    assert stitched(one)[0].renditions == (short,)


def test_a_passage_stands_at_its_earliest_place():
    """S6: the present order stays; a passage takes the first place any of its pieces had."""
    other = candidate("Other.", id="e", document_id="e")
    out = stitched(piece("Third.", 3), other, piece("Second.", 2), piece("First.", 1))

    assert [c.id for c in out] == ["d1", "e"]


def test_a_passage_grows_when_more_comes_in():
    """S6: stitching again after a chunk before, one inside and one after came in joins them all."""
    text = "Alpha beta gamma delta epsilon zeta eta theta."
    cut = [(6, 16), (11, 22)]
    (passage,) = stitched(*(piece(text[a:b], n + 2, a) for n, (a, b) in enumerate(cut)))
    more = [piece(text[a:b], n, a) for n, a, b in ((1, 0, 8), (9, 12, 15), (4, 20, 46))]
    (out,) = stitched(passage, *more)

    assert (out.text, out.id) == (text, "d1")
    assert len(out.parts) == 5
    assert all(out.text[slice(*p.span)] == p.chunk.text for p in out.parts)


@given(candidates(), st.integers(0, 30))
def test_it_settles(found, min_overlap):
    """S6, S12: stitching a second time changes nothing."""
    once = stitched(*found, min_overlap=min_overlap)

    assert stitched(*once, min_overlap=min_overlap) == once


def test_ten_thousand_pieces_are_each_tried_once(monkeypatch):
    """X2, S6: the text is looked at a bounded number of times, however long the passage grows."""
    looked = []
    real = module.overlap

    def counting(left, right, *, more_than):
        looked.append(min(len(left), len(right)))
        return real(left, right, more_than=more_than)

    monkeypatch.setattr(module, "overlap", counting)
    pieces = tuple(piece("a" * 100, n) for n in range(10_000))
    (out,) = Stitch()(pieces, request()).candidates

    assert out.text == "a" * 100
    assert len(out.parts) == 10_000
    assert sum(looked) < sum(len(c.text) for c in pieces)


def test_a_negative_minimum_is_refused():
    """X1: the error names the option and the value."""
    with pytest.raises(BadOption, match="stitch: min_overlap is -1"):
        Stitch(min_overlap=-1)
