from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from foveate.stores.filters import encode_facts
from foveate.stores.lance import postings
from foveate.stores.lance.labels import (
    in_condition,
    quote_literal,
    where_condition,
)
from foveate.stores.lance.schema import LOCAL_BITS
from foveate.stores.scoring import decode_places

TEXTS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=12), max_size=12)


def stored(texts):
    """The postings of these texts as a table."""
    return postings.build_postings(0, 3, texts)


def read(table):
    """Term → chunk's place → how often."""
    lengths, places = postings.read_places(table.column("places"))
    found = iter(zip(*(column.tolist() for column in decode_places(places)), strict=True))
    terms = zip(table.column("term").to_pylist(), lengths.tolist(), strict=True)
    return {term: dict(islice(found, length)) for term, length in terms}


@given(TEXTS)
def test_postings_are_what_counting_gives(texts):
    """T4: every term of every chunk with its number, in order."""
    found = read(stored(texts))
    assert list(found) == sorted({term for text in texts for term in text})
    for term, counts in found.items():
        assert counts == {n: Counter(text)[term] for n, text in enumerate(texts) if term in text}


def test_a_slice_of_a_column_is_read_by_itself():
    """T4: rows in the middle of a table have their own places."""
    assert read(stored([["a", "b", "b", "c"], ["b"]]).slice(1, 1)) == {"b": {0: 2, 1: 1}}


@given(st.lists(TEXTS, min_size=1, max_size=4), st.randoms())
def test_merged_postings_are_those_of_the_chunks_that_are_left(segments, random):
    """T4: as if the chunks that are left had been written together."""
    tables = [postings.build_postings(0, n, texts) for n, texts in enumerate(segments)]
    places = [(n, local) for n, texts in enumerate(segments) for local in range(len(texts))]
    kept = [place for place in places if random.random() < 0.7]
    keys = np.array([(n << LOCAL_BITS) + local for n, local in kept], dtype=np.int64)
    sizes = {n: len(texts) for n, texts in enumerate(segments)}
    merged = postings.merge_postings(0, 3, pa.concat_tables(tables), keys, sizes)
    assert merged.equals(stored([segments[n][local] for n, local in kept]))


def test_a_value_cannot_leave_its_quotes():
    """X5: in a condition, only the quote has a meaning, and it is doubled."""
    assert quote_literal("x' OR 'a' = 'a") == "'x'' OR ''a'' = ''a'"
    assert in_condition("page", []) == "false"
    assert in_condition("`row`", [1, 2]) == "`row` IN (1, 2)"


def test_facts_tell_texts_from_numbers():
    """T4: as the embedded store compares: 1, 1.0 and true are one value, "1" is another."""
    facts = encode_facts(
        '{"a": 1, "b": [true, 1.5, "1", null, {"c": 2}], "d": {"e": 3}, "f": null}'
    )
    assert facts == ['["a", 1]', '["b", "1"]', '["b", 1.5]', '["b", 1]']
    for value in (1, 1.0, True):
        assert where_condition({"a": value}) == "(array_has_any(labels, ['[\"a\", 1]']))"
    assert where_condition({"a": []}) == "(false)"
    assert where_condition({"page": ["2", 3.0, "x", 2.5]}) == "(`page` IN (2, 3))"
    assert where_condition({"title": [True, 2]}) == "(title IN ('1', '2'))"
