"""Metadata of any kind: one spelling, the same after it was written down."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BadInput, assemble
from foveate.core.candidates import candidate_to_json, candidates_from_items, candidates_from_jsonl
from foveate.core.checks import canonical_metadata, plain_metadata
from foveate.core.manifest import candidates_hash
from foveate.core.recipes import builtin_recipes
from foveate.core.types import Chunk

KEYS = st.text(max_size=3) | st.integers() | st.booleans() | st.none() | st.tuples(st.integers())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_metadata_has_one_spelling(metadata):
    """I1, D1: whatever its keys are, and whatever order they came in, read again it is the same."""
    line = canonical_metadata(metadata)

    assert line == canonical_metadata(dict(reversed(metadata.items()))) or len(
        plain_metadata(metadata)
    ) < len(metadata)
    assert line == canonical_metadata(plain_metadata(metadata))


def test_keys_that_are_no_texts_go_in_and_come_back():
    """I1, D3: a context is made of them, and its candidates read again have the same hash."""
    mixed = {1: "a", "b": {10: 1, 9: datetime(2026, 1, 2, tzinfo=UTC), None: 2}, ("c", 2): [{3: 4}]}
    found = candidates_from_items([{"text": "Nine metres.", "metadata": mixed}])

    context = assemble("How deep?", found, budget=99)
    (line,) = (candidate_to_json(one) for one in found)

    assert context.blocks[0].text == "Nine metres."
    assert found[0].chunk.metadata == mixed
    assert line["metadata"]["b"] == {"10": 1, "9": "2026-01-02 00:00:00+00:00", "null": 2}
    assert candidates_hash(found) == candidates_hash(candidates_from_items([line]))
    assert candidates_from_jsonl(['{"text": "A.", "metadata": {"1": 2}}'])


@pytest.mark.parametrize("id", [{}, {"id": "x"}])
def test_metadata_that_holds_itself_is_refused(id):
    """X1: with the field's name; it has no end."""
    endless = {}
    endless["within"] = endless

    with pytest.raises(BadInput, match="item 1, field 'metadata': at 'within': holds itself"):
        assemble("How deep?", [{"text": "A.", "metadata": endless, **id}], budget=99)


def test_what_no_text_can_hold_is_refused_where_it_is_shown():
    """I3, X1: a broken half of a character in metadata that the header shows."""
    shown = replace(builtin_recipes()["citations"], include_metadata=("author",))
    for broken in ("\ud800", ["\ud800"]):
        found = [{"text": "A.", "metadata": {"author": broken}}]

        with pytest.raises(BadInput, match="field 'metadata': holds a lone surrogate"):
            assemble("Who?", found, budget=99, recipe=shown)
        assert assemble("Who?", found, budget=99).blocks


def test_a_number_that_nothing_holds_is_refused():
    """I3: a page of more than 64 bits would be a fault of a store or a table later on."""
    (most,) = candidates_from_items([{"text": "A.", "page": 2**63 - 1}])

    assert most.chunk.page == 2**63 - 1
    for large in (2**63, 1e300, 10**5_000):
        with pytest.raises(BadInput, match="item 1, field 'page': takes more than 64 bits"):
            candidates_from_items([{"text": "A.", "page": large}])


def test_the_same_said_twice_is_said_once():
    """I3: beside the metadata and in it, a value is one; of two neither is taken silently."""
    (same,) = candidates_from_items([{"text": "A.", "at": [1], "metadata": {"at": (1,), "b": 2}}])

    assert same.chunk.metadata == {"at": (1,), "b": 2}
    with pytest.raises(BadInput, match="item 1, field 'at': stands in the metadata with another"):
        candidates_from_items([{"text": "A.", "at": 1, "metadata": {"at": 2}}])


SETS = """
from dataclasses import replace
from foveate import assemble
from foveate.core.recipes import builtin_recipes

words = {"pump", "boiler", "valve", "frost", "mill"}
metadata = {"tags": words, "deep": [{"of": frozenset(words)}], "pairs": {(w, 1) for w in words}}
shown = replace(builtin_recipes()["citations"], include_metadata=("tags", "deep"))
context = assemble("How deep?", [{"text": "Nine.", "metadata": metadata}], budget=99, recipe=shown)
print(context.manifest.inputs_hash, context.citations[0].chunk_ids, context.text)
"""


def _printed(code, seed):
    """What a new interpreter with this hash seed prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": seed},
    ).stdout


def test_sets_are_the_same_in_every_process():
    """D1: the order of a set changes with the hash seed; ids, hashes and the context do not."""
    first, *others = [_printed(SETS, seed) for seed in ("1", "2", "0")]

    assert others == [first] * 2
    assert '["boiler", "frost", "mill", "pump", "valve"]' in first


class Tag:
    """An object that is written with its address."""


class Colour(Enum):
    """A value with a form of its own."""

    RED = "red"


@pytest.mark.parametrize(
    "value", [Tag(), [Tag()], {"deep": {"er": Tag()}}, b"bytes", {Tag(): 1}, {frozenset("ab"): 1}]
)
@pytest.mark.parametrize("id", [{}, {"id": "x"}])
def test_what_has_no_form_in_json_is_refused_where_it_comes_in(value, id):
    """D1, I3: by line, field and key, whichever way it comes in; its text may be its address."""
    good = {"text": "A."}
    for bad in ({"text": "B.", "tags": value, **id}, {"text": "B.", "metadata": {"tags": value}}):
        with pytest.raises(
            BadInput, match=r"item 2, field 'metadata': at 'tags': .* type \w+ .*give"
        ):
            candidates_from_items([good, bad])
    with pytest.raises(BadInput, match="field 'metadata': at 'tags': "):
        Chunk(text="B.", metadata={"tags": value}, **id)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({("b", 1), ("a", 2)}), [["a", 2], ["b", 1]]),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(hours=1), "1:00:00"),
        (Decimal("0.50"), "0.50"),
        (PurePosixPath("a/b.md"), "a/b.md"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "red"),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (np.arange(3), [0, 1, 2]),
        (np.int64(7), 7),
        (np.bool_(True), True),
    ],
)
def test_values_with_a_natural_form_have_it(value, expected):
    """D1, I1: they are written so, and hashed as what they are written as."""
    (given,) = candidates_from_items([{"text": "A.", "metadata": {"x": value}}])
    (read,) = candidates_from_items([json.loads(json.dumps(candidate_to_json(given)))])

    assert plain_metadata(given.chunk.metadata) == {"x": expected}
    assert read.chunk.metadata == {"x": expected}
    assert candidates_hash([given]) == candidates_hash([read])
