"""Metadata of any kind: one spelling, the same after it was written down."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BadInput, assemble
from foveate.core.candidates import candidate_to_json, candidates_from, candidates_from_jsonl
from foveate.core.manifest import candidates_hash
from foveate.core.metadata import plain, said
from foveate.core.recipes import builtin

KEYS = st.text(max_size=3) | st.integers() | st.booleans() | st.none() | st.tuples(st.integers())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_metadata_has_one_spelling(metadata):
    """I1, D1: whatever its keys are, and whatever order they came in, read again it is the same."""
    line = said(metadata)

    assert line == said(dict(reversed(metadata.items()))) or len(plain(metadata)) < len(metadata)
    assert line == said(plain(metadata))


def test_keys_that_are_no_texts_go_in_and_come_back():
    """I1, D3: a context is made of them, and its candidates read again have the same hash."""
    mixed = {1: "a", "b": {10: 1, 9: datetime(2026, 1, 2, tzinfo=UTC), None: 2}, ("c", 2): [{3: 4}]}
    found = candidates_from([{"text": "Nine metres.", "metadata": mixed}])

    context = assemble("How deep?", found, budget=99)
    (line,) = (candidate_to_json(one) for one in found)

    assert context.blocks[0].text == "Nine metres."
    assert found[0].chunk.metadata == mixed
    assert line["metadata"]["b"] == {"10": 1, "9": "2026-01-02 00:00:00+00:00", "null": 2}
    assert candidates_hash(found) == candidates_hash(candidates_from([line]))
    assert candidates_from_jsonl(['{"text": "A.", "metadata": {"1": 2}}'])


@pytest.mark.parametrize("id", [{}, {"id": "x"}])
def test_metadata_that_holds_itself_is_refused(id):
    """X1: with the field's name; it has no end."""
    endless = {}
    endless["within"] = endless

    with pytest.raises(BadInput, match="field 'metadata': holds itself"):
        assemble("How deep?", [{"text": "A.", "metadata": endless, **id}], budget=99)


def test_what_no_text_can_hold_is_refused_where_it_is_shown():
    """I3, X1: a broken half of a character in metadata that the header shows."""
    shown = replace(builtin()["citations"], include_metadata=("author",))
    for broken in ("\ud800", ["\ud800"]):
        found = [{"text": "A.", "metadata": {"author": broken}}]

        with pytest.raises(BadInput, match="field 'metadata': holds a lone surrogate"):
            assemble("Who?", found, budget=99, recipe=shown)
        assert assemble("Who?", found, budget=99).blocks


def test_a_number_that_nothing_holds_is_refused():
    """I3: a page of more than 64 bits would be a fault of a store or a table later on."""
    (most,) = candidates_from([{"text": "A.", "page": 2**63 - 1}])

    assert most.chunk.page == 2**63 - 1
    for large in (2**63, 1e300, 10**5_000):
        with pytest.raises(BadInput, match="line 1, field 'page': takes more than 64 bits"):
            candidates_from([{"text": "A.", "page": large}])


def test_the_same_said_twice_is_said_once():
    """I3: beside the metadata and in it, a value is one; of two neither is taken silently."""
    (same,) = candidates_from([{"text": "A.", "at": [1], "metadata": {"at": (1,), "b": 2}}])

    assert same.chunk.metadata == {"at": (1,), "b": 2}
    with pytest.raises(BadInput, match="line 1, field 'at': stands in the metadata with another"):
        candidates_from([{"text": "A.", "at": 1, "metadata": {"at": 2}}])
