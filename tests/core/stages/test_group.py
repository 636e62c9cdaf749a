"""Group: documents together, best first, each from top to bottom."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from foveate.core.stages.group import Group
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import candidates


def test_the_published_grouping():
    """P1, S7: a#1 0.9, b#1 0.88, a#2 0.85, b#2 0.82 become a1 a2 b1 b2."""
    rows = [("a", 1, 0.9), ("b", 1, 0.88), ("a", 2, 0.85), ("b", 2, 0.82)]
    given_ = tuple(candidate("t", s, id=f"{d}{n}", document_id=d, sequence=n) for d, n, s in rows)
    step = Group()(given_, request())

    assert [c.id for c in step.candidates] == ["a1", "a2", "b1", "b2"]
    assert step.decisions == ()


def test_equal_documents_stand_by_source():
    """S7: documents with the same best score are ordered by source, whatever came first."""
    late = candidate("t", 0.5, id="1", document_id="x", source="z.md")
    early = candidate("t", 0.5, id="2", document_id="y", source="a.md")

    assert [c.id for c in Group()((late, early), request()).candidates] == ["2", "1"]


def test_side_knowledge_stays_first():
    """S11: supplements stand before all documents, in the order they had."""
    asides = [candidate("t", s, id=f"s{s}", origin="supplement") for s in (0, 1)]
    best = candidate("t", 9.0, id="best")
    out = Group()((best, *asides), request()).candidates

    assert [c.id for c in out] == ["s0", "s1", "best"]


@given(candidates())
def test_documents_are_whole_and_read_downwards(found):
    """S7: each document is one run, in sequence; best scores fall from document to document."""
    out = Group()(found, request()).candidates
    runs = [
        c.document_id for n, c in enumerate(out) if not n or out[n - 1].document_id != c.document_id
    ]
    best = [max(c.score for c in out if c.document_id == document_id) for document_id in runs]

    assert sorted(c.id for c in out) == sorted(c.id for c in found)
    assert len(runs) == len(set(runs))
    assert best == sorted(best, reverse=True)
    for one, following in pairwise(out):
        if one.document_id == following.document_id:
            assert one.chunk.sequence <= following.chunk.sequence
