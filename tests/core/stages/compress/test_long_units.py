"""Sentences without an end are cut where a reader would."""

from __future__ import annotations

import pytest

from foveate.core.text.units import LONGEST_SENTENCE, REACH, cut_long, units_of

ENDLESS = {
    "lines": "Gate 4 of the upper lock\nkeeper: nobody\n" * 60,
    "clauses": "the gate opens; the water falls; the boat waits; " * 40,
    "words": "gate water boat keeper " * 90,
    "no spaces": "水坝挡住河水的地方有一个小闸门而且" * 80,
    "Thai": "ประตูน้ำเปิดเวลาเช้าทุกวัน" * 60,
    "one letter": "a" * 3_000,
    "marks": "e\u0301" * 1_500,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_text_without_ends_is_cut_into_pieces(name: str) -> None:
    """U4: none longer than a piece, none empty, nothing lost, no grapheme divided."""
    text = ENDLESS[name].strip()
    spans = cut_long(text, [(0, len(text))])

    assert max(b - a for a, b in spans) <= REACH
    assert all(a < b for a, b in spans)
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())
    assert not any(text[a] == "\u0301" for a, _ in spans)


def test_a_piece_ends_where_a_line_does_before_it_ends_at_a_comma() -> None:
    """U4: lines before clauses, clauses before words."""
    text = ENDLESS["lines"].strip()

    assert all(text[b : b + 1] in ("\n", "") for _, b in cut_long(text, [(0, len(text))]))
    text = ENDLESS["clauses"].strip()
    assert all(text[b - 1] == ";" for _, b in cut_long(text, [(0, len(text))]))


def test_a_sentence_of_usual_length_is_not_cut() -> None:
    """J3: nor one that is long, and ends."""
    text = "The gate, which is old, " * 30 + "opens."
    assert len(text) <= LONGEST_SENTENCE
    assert units_of(f"{text} It is blue.").spans[0] == (0, len(text))


def test_no_unit_of_endless_prose_is_a_large_part_of_its_text() -> None:
    """U4: at most a twentieth of a text of several pages."""
    text = ENDLESS["words"] * 5

    assert max(b - a for a, b in units_of(text).spans) <= len(text) / 20


def test_marks_without_letters_are_cut_into_pieces_of_full_length() -> None:
    """U4: where no place is between graphemes, a piece still has its length."""
    spans = cut_long("\u200d" * 2_000, [(0, 2_000)])

    assert spans == [(n, n + 400) for n in range(0, 2_000, 400)]


@pytest.mark.parametrize(
    "value", ["8.458,50 EUR", "2,730 litres", "mix 2:3 of", "12 345", "5 %", "a;1"]
)
def test_no_value_is_cut(value: str) -> None:
    """V2: neither at a comma or colon inside of a figure nor between a figure and its unit."""
    text = " ".join([value] * 300)
    pieces = [text[a:b] for a, b in cut_long(text, [(0, len(text))])]

    assert len(pieces) > 1
    assert {" ".join(piece.split(value)).strip() for piece in pieces} == {""}


def test_a_run_without_spaces_is_cut_only_if_it_is_longer_than_a_piece() -> None:
    """V2: the piece before it ends earlier; of a longer run, at a mark that is in no figure."""
    text = "word " * 25 + "a1,2" * 80 + " word" * 300
    assert "a1,2" * 80 in [
        text[a:b].split(maxsplit=1)[0] for a, b in cut_long(text, [(0, len(text))])
    ]
    text = "a1,2;" * 500
    assert all(text[b - 1] == ";" for _, b in cut_long(text, [(0, len(text))]))
