"""Markers in answers: what is one, what is not, and that pieces do not matter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.citation_markers import (
    MAX_BRACKET_LENGTH,
    CitationMark,
    MarkerScanner,
    PlainText,
    numbers_of,
    scan_markers,
)

ALPHABET = st.sampled_from(
    ["[", "]", "【", "】", "1", "2", ",", "-", " ", "`", "```", "\n", "ab", "†"]
)


def told(pieces):
    """Marks by place, and the plain text between them, however it was cut."""
    found = []
    for piece in pieces:
        if isinstance(piece, PlainText) and found and isinstance(found[-1], str):
            found[-1] += piece.text
        else:
            found.append(piece.text if isinstance(piece, PlainText) else piece)
    return found


def fed(cuts):
    """What a scanner makes of the pieces."""
    scanner = MarkerScanner()
    found = [event for piece in cuts for event in scanner.feed(piece)]
    return told([*found, *scanner.finish()])


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("So it is [1].", [(1,)]),
        ("So it is[1][2].", [(1,), (2,)]),
        ("[1, 3; 4 and 5]", [(1, 3, 4, 5)]),
        ("[2-4] [2–4]", [(2, 3, 4), (2, 3, 4)]),
        ("[^3] 【4】 【4†a.md】", [(3,), (4,), (4,)]),
        ("[SOURCE 2] [Source #3] [bron 1, bron 2]", [(2,), (3,), (1, 2)]),
        ("[1](https://example.org) [01]", [(1,), (1,)]),
        ("[see 1] [x] [ ] [1.5] [1, b] [9-2] [1-100000] []", []),
        ("`a[1]` ``b`[2]`` and ```\nc[3]\n``` but [4]", [(4,)]),
        ("an open ` tick, then [5]\nand [6]", [(5,), (6,)]),
        ("[[7]]", [(7,)]),
        ("[8\n]", []),
    ],
)
def test_what_a_marker_is(answer, numbers):
    """C3, C5: numbers in brackets, in any of the spellings models use, and never in code."""
    assert [p.numbers for p in scan_markers(answer) if isinstance(p, CitationMark)] == numbers


def test_places_are_those_in_the_answer():
    """C3: every piece stands where it says."""
    answer = "One [1], `two[2]` and three [3, 4]. " * 3
    pieces = list(scan_markers(answer))
    assert "".join(p.text for p in pieces) == answer
    assert all(answer[p.start : p.start + len(p.text)] == p.text for p in pieces)
    assert all(a.start + len(a.text) == b.start for a, b in pairwise(pieces))


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        (
            "The mill turns [1][SOURCE 2]; `x[9]` and ```\n[8]``` stop【3†a】. [no] [4-6]",
            [(1,), (2,), (3,), (4, 5, 6)],
        ),
        ("Write `a```b [9]` here [2].", [(2,)]),
        ("Write ``a`b [9]`` here [2].", [(2,)]),
    ],
)
def test_every_cut_of_an_answer_gives_the_same_marks(answer, numbers):
    """C5: split over pieces at every possible place, markers resolve the same."""
    whole = told(scan_markers(answer))
    assert [m.numbers for m in whole if isinstance(m, CitationMark)] == numbers
    for first in range(len(answer) + 1):
        for second in range(first, len(answer) + 1):
            assert fed([answer[:first], answer[first:second], answer[second:]]) == whole
    assert fed(answer) == whole


@given(st.lists(ALPHABET, max_size=30), st.data())
def test_pieces_never_matter(parts, data):
    """C5: of any text, cut anywhere."""
    answer = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=6)))
    bounds = [0, *cuts, len(answer)]
    assert fed([answer[a:b] for a, b in pairwise(bounds)]) == told(scan_markers(answer))


@pytest.mark.parametrize("opening", ["[", "`", "【", "``"])
def test_nothing_is_held_back_for_long(opening):
    """C5: a bracket that does not close is text, and what follows arrives."""
    scanner = MarkerScanner()
    shown = [
        p for character in opening + "a" * MAX_BRACKET_LENGTH * 2 for p in scanner.feed(character)
    ]
    assert sum(len(p.text) for p in shown) >= MAX_BRACKET_LENGTH
    assert fed(opening + "a" * MAX_BRACKET_LENGTH * 2) == told(
        scan_markers(opening + "a" * MAX_BRACKET_LENGTH * 2)
    )


def test_numbers_are_bounded():
    """C3: a marker cannot name a million sources."""
    assert numbers_of("1-999999") == ()
    assert numbers_of(", ".join(str(n) for n in range(1, 300))) == ()
    assert numbers_of("1-150") == tuple(range(1, 151))
