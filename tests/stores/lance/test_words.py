from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foveate.stores.lance import part
from foveate.stores.lance.labels import (
    in_condition,
    labels_from_metadata,
    quote_literal,
    where_condition,
)

TEXTS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=12), max_size=12)


@given(TEXTS)
def test_postings_are_what_counting_gives(texts):
    """T4: every term of every chunk with its number, in order, through Arrow and back."""
    terms, ends, places = part.build_postings(texts)
    read_ends, read_places = part.places_from_binary(part.binary_from_places(ends, places))
    assert terms == sorted({term for text in texts for term in text})
    assert np.array_equal(read_ends, ends)
    assert np.array_equal(read_places, places)
    start = 0
    for term, end in zip(terms, ends.tolist(), strict=True):
        local, times = part.decode_places(places[start:end])
        expected = {n: Counter(text)[term] for n, text in enumerate(texts) if term in text}
        assert dict(zip(local.tolist(), times.tolist(), strict=True)) == expected
        start = end


def test_a_term_that_stands_very_often_keeps_its_number():
    """T4: beyond nine bits a place stands several times, and 65,535 is the most."""
    texts = [["a"] * 511, ["a"] * 512 + ["b"], ["a"] * 1300, ["a"] * 70_000]
    terms, ends, places = part.build_postings(texts)
    local, times = part.decode_places(places[: ends[0]])
    assert (terms, local.tolist()) == (["a", "b"], [0, 1, 2, 3])
    assert times.tolist() == [511, 512, 1300, 65_535]


def test_a_slice_of_an_arrow_column_is_read_by_itself():
    """T4: rows in the middle of a table have their own places."""
    _, ends, places = part.build_postings([["a", "b", "b", "c"], ["b"]])
    column = part.binary_from_places(ends, places).slice(1, 1)
    read_ends, read_places = part.places_from_binary(column)
    assert read_ends.tolist() == [2]
    assert part.decode_places(read_places)[0].tolist() == [0, 1]


def test_a_value_cannot_leave_its_quotes():
    """X5: in a condition, only the quote has a meaning, and it is doubled."""
    assert quote_literal("x' OR 'a' = 'a") == "'x'' OR ''a'' = ''a'"
    assert in_condition("page", []) == "false"
    assert in_condition("`row`", [1, 2]) == "`row` IN (1, 2)"


def test_labels_tell_texts_numbers_and_booleans_apart():
    """T4: as the embedded store compares: 1, 1.0 and true are one value, "1" is another."""
    labels = labels_from_metadata(
        '{"a": 1, "b": [true, 1.5, "1", null, {"c": 2}], "d": {"e": 3}, "f": null}'
    )
    assert labels == ["a\0n1", "b\0n1", "b\0n1.5", "b\0s1"]
    for value in (1, 1.0, True):
        assert where_condition({"a": value}) == "(array_has_any(labels, ['a\0n1']))"
    assert where_condition({"a": []}) == "(false)"
    assert where_condition({"page": ["2", 3.0, "x", 2.5]}) == "(`page` IN (2, 3))"
    assert where_condition({"title": [True, 2]}) == "(title IN ('1', '2'))"
