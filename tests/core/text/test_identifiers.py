"""Identifiers of a query: which words are some, and where one is found."""

from __future__ import annotations

import pytest

from foveate.core.text.words import identifier_pattern, query_identifiers


@pytest.mark.parametrize(
    "word",
    ["ORD-2041", "tx_9f3a", "tx_ecbf7a", "10.0.4.7", "48213", "1042", "INV-2024-0007", "a1b2c3d4",
     "E7", "E07", "F-7", "E-07", "F19", "e07", "2.2", "2.2.0"],
)  # fmt: skip
def test_word_that_names_one_thing_is_an_identifier(word: str) -> None:
    """U2: letters with digits, marks between digits, long numbers, codes; wherever it stands."""
    assert query_identifiers(f"What is the state of {word}?") == (word,)
    assert query_identifiers(f'"{word}", and when?') == (word,)


@pytest.mark.parametrize(
    "word",
    ["2019", "1980s", "2012-13", "2017-2019", "2024-05-01", "3.5.2024", "10:30", "400", "13th",
     "500mg", "10kg", "0.25", "12.50", "Q3", "H1", "v2", "mp3", "7b", "5L", "x", "max_tokens",
     "well-known"],
)  # fmt: skip
def test_years_dates_and_quantities_are_none(word: str) -> None:
    """U2: they stand in many rows, and tables are asked for them all the time."""
    assert query_identifiers(f"What changed in {word}, and why?") == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What is new in 2.2?", ("2.2",)),
        ("What changed between 2.1 and 2.3?", ("2.1", "2.3")),
        ("Was ist neu in 2.2 oder 2.3?", ("2.2", "2.3")),
        ("Does it run on Python 3.11 or 3.12?", ("3.11", "3.12")),
        ("What does version 2.2 do?", ("2.2",)),
        ("Which tanks hold more than 1.5 litres?", ()),
        ("Is 1.5 % or 1.5% too much?", ()),
        ("Treffen am 24.12. um 14.30 Uhr, am 5.6. um neun", ()),
    ],
)
def test_a_number_of_two_parts_is_one_where_it_measures_nothing(
    query: str, found: tuple[str, ...]
) -> None:
    """U2: versions are asked for by name; decimals, dates, times and prices stand in many texts."""
    assert query_identifiers(query) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"id": "ord-204"}', True),
        ("ORD-204, open", True),
        ("at ORD-204: done.", True),
        ("ORD-2041", False),
        ("XORD-204", False),
        ("ORD-204-B", False),
        ("MY-ORD-204", False),
    ],
)
def test_identifier_is_found_whole(text: str, *, found: bool) -> None:
    """U2: half of one does not count; capitals do not matter."""
    assert bool(identifier_pattern(["ORD-204"]).search(text)) is found


@pytest.mark.parametrize("text", ["## 2.2.0 (2031-02-11)", "v2.2.14", "from 2.2, on", "2.2."])
def test_a_number_with_dots_is_found_with_further_parts(text: str) -> None:
    """U2: a version is asked for by its first numbers."""
    assert identifier_pattern(["2.2"]).search(text)


@pytest.mark.parametrize("text", ["12.2", "2.25", "2.211,30", "1.2.2", "2,2", "2.2-rc1", "x2.2"])
def test_a_number_with_dots_is_not_found_in_another(text: str) -> None:
    """U2: half of a number is another number."""
    assert not identifier_pattern(["2.2"]).search(text)
