"""Exact duplicates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copies import duplicates
from foveate.core.errors import BadOption
from foveate.core.stages.dedup.exact import DedupExact, normalise
from foveate.core.types import Decision, Part, rank
from foveate.testing.fakes import candidate, request


def run(stage, *candidates):
    """The step on these candidates."""
    return stage(candidates, request())


def test_the_best_copy_stays_with_the_sources_of_all():
    """S3: the best-scored copy is kept and the others' sources stay with it, to be cited."""
    low = candidate("Same  text.", 0.2, id="low", source="b.md")
    best = candidate(" Same text.", 0.9, id="best", source="c.md")
    other = candidate("Same\ntext.", 0.5, id="other", source="a.md")
    step = run(DedupExact(), low, best, other)

    kept = replace(best, duplicates=duplicates(best, other, low))
    assert step.candidates == (kept,)
    assert step.decisions == (
        Decision(chunk_id="best", action="changed", reason="corroborated", numbers={"copies": 2}),
        Decision(chunk_id="other", action="merged", reason="exact_duplicate", by="best"),
        Decision(chunk_id="low", action="merged", reason="exact_duplicate", by="best"),
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("two words", "two\u00a0\u2003words"),
        ("line\r\n\r\nline", " line line "),
        ("", "   "),
    ],
)
def test_white_space_and_encoding_do_not_count(one, other):
    """S3: trimmed, NFC, white space folded; only `verbatim` tells them apart."""
    pair = candidate(one, 0.9, id="one"), candidate(other, 0.5, id="other")

    assert [c.id for c in run(DedupExact(), *pair).candidates] == ["one"]
    assert [c.id for c in run(DedupExact(key="verbatim"), *pair).candidates] == ["one", "other"]


@pytest.mark.parametrize("other", ["Word", "word.", "w ord", "wörd", "\u200bword"])
def test_all_else_counts(other):
    """S3: case, punctuation and every other character make another text."""
    pair = candidate("word", 0.9, id="one"), candidate(other, 0.5, id="other")

    assert len(run(DedupExact(), *pair).candidates) == 2


def test_texts_that_differ_in_the_middle_are_two():
    """S3: the same beginning and end say nothing about what is between."""
    texts = [f"At first the gate is opened, {n} times, and it is shut by night." for n in "12"]
    pair = (candidate(text, 0.9, id=text) for text in texts)

    assert len(run(DedupExact(), *pair).candidates) == 2


def test_sources_gathered_before_and_in_parts_stay():
    """S3: what a dropped copy had gathered, and the pieces it was stitched from, are not lost."""
    piece = candidate("x", id="piece", source="p.md")
    before = candidate("y", id="before", source="o.md")
    kept = candidate("text", 0.9, id="kept", source="k.md")
    copy = replace(
        candidate("text", 0.1, id="copy", source="z.md"),
        parts=(Part(chunk=piece.chunk, span=(0, 1)), Part(chunk=kept.chunk, span=(1, 2))),
        duplicates=duplicates(kept, before, kept),
    )
    (left,) = run(DedupExact(), copy, kept).candidates

    assert left.duplicates == duplicates(kept, before, piece, copy)


def test_side_knowledge_is_not_compared():
    """S3: a supplement with a chunk's text stays, and so does the chunk."""
    chunk = candidate("text", 0.9, id="chunk")
    side = candidate("text", 0.1, id="side", origin="supplement")

    assert run(DedupExact(), side, chunk).candidates == (side, chunk)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a b", "a  b", " a", "a", "", "\n"]), st.integers(0, 2)),
        max_size=12,
    )
)
def test_one_of_each_normalised_text_stays_the_best(rows):
    """S3: against the obvious: for each text, the minimum by rank; the order stays."""
    candidates = tuple(candidate(t, score, id=f"c{n}") for n, (t, score) in enumerate(rows))
    groups = {}
    for c in candidates:
        groups.setdefault(normalise(c.text), []).append(c)
    best = {min(group, key=rank).id for group in groups.values()}

    step = run(DedupExact(), *candidates)

    assert [c.id for c in step.candidates] == [c.id for c in candidates if c.id in best]
    assert sum(len(c.duplicates) for c in step.candidates) == len(candidates) - len(groups)


def test_an_unknown_key_is_refused():
    """X1: the message names the value and what is allowed."""
    with pytest.raises(BadOption, match=r"'fuzzy'.*normalised"):
        DedupExact(key="fuzzy")


WORDS = [
    "one",
    "two\u00a0",
    "  ",
    "\n",
    "\t",
    "cafe\u0301",
    "caf\u00e9",
    "\u212a",
    "K",
    "x" * 70,
    " ",
]
SPACED = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@given(st.one_of(SPACED, st.text(max_size=20)), st.one_of(SPACED, st.text(max_size=20)))
def test_two_texts_are_one_if_their_normal_forms_are_the_same(one, other):
    """S3: long words and white space of every kind at the ends decide nothing else."""
    pair = (candidate(f"{one} here", id="one"), candidate(f"{other} here", id="other"))
    same = normalise(f"{one} here") == normalise(f"{other} here")

    assert len(run(DedupExact(), *pair).candidates) == 2 - same
