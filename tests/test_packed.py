"""Contexts as bytes: what comes back is what went in, and nothing else does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import Context, Recipe, assemble
from foveate.core.context_json import context_to_json
from foveate.core.recipes import builtin_recipes
from foveate.core.types import Candidate
from foveate.pipeline.context_codec import cache_key, decode_context, encode_context
from foveate.testing.strategies import candidates
from resolving import resolve

ROWS = [
    {"text": "The kiln is fired twice a month.", "score": 0.9, "page": 3, "source": "kiln.md"},
    {"text": "The kiln is fired twice a month.", "score": 0.4, "source": "copy.md"},
    {"text": "Glazes are kept in the cellar.\u200b", "score": 1, "metadata": {"a": [1, None]}},
]


def decoded(data: bytes, key: str) -> Context | None:
    """The context alone."""
    found = decode_context(data, key)
    return None if found is None else found[0]


@pytest.fixture(scope="module")
def context() -> Context:
    """A context with a copy, a page, and something that was cleaned away."""
    return assemble("When is the kiln fired?", ROWS, budget=200)


@pytest.mark.parametrize("recipe", builtin_recipes().values(), ids=builtin_recipes())
def test_every_recipe_comes_back_equal(recipe: Recipe) -> None:
    """D5: text, blocks, citations, trace, figures and manifest are those that were packed."""
    made = assemble("When is the kiln fired?", ROWS, budget=500, recipe=recipe)

    assert decoded(encode_context(made, "k"), "k") == made


@given(candidates().filter(bool), st.integers(200, 600))
def test_any_context_comes_back_equal(pool: tuple[Candidate, ...], budget: int) -> None:
    """D5: whatever was assembled is the same after packing."""
    made = assemble("pump gate", pool, budget=budget, principals=("ops", "hr"))
    back = decoded(encode_context(made, "k"), "k")

    assert back == made
    assert back is not None
    assert json.dumps(context_to_json(back)) == json.dumps(context_to_json(made))


def test_another_key_reads_nothing(context: Context) -> None:
    """X5: an entry that was moved under another key is not that key's."""
    assert decoded(encode_context(context, "mine"), "yours") is None


@given(st.data())
def test_what_was_tampered_with_is_nothing_or_the_same(
    context: Context, data: st.DataObject
) -> None:
    """D5, X3: a changed byte never gives another text, and never an error."""
    whole = bytearray(encode_context(context, "k"))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    found = decoded(bytes(whole), "k")

    assert found is None or found.text == context.text


@given(st.binary(max_size=200))
def test_anything_else_is_nothing(data: bytes) -> None:
    """X3: whatever stands in a shared cache, it reads as nothing."""
    assert decoded(data, "k") is None


def test_the_key_tells_apart_what_decides() -> None:
    """D5: query, state, recipe, budget, tokenizer, who asks and the search each change the key."""
    base = resolve(budget=500)
    keys = [
        cache_key("q", "root", base, ("a",)),
        cache_key("q?", "root", base, ("a",)),
        cache_key("q", "root2", base, ("a",)),
        cache_key("q", "root", base, ("a", "b")),
        cache_key("q", "root", base, ()),
        cache_key("q", "root", resolve(budget=501), ("a",)),
        cache_key("q", "root", resolve(budget=500, recipe="chat"), ("a",)),
        cache_key("q", "root", resolve(budget=500, tokenizer="o200k_base"), ("a",)),
    ]

    assert len(set(keys)) == len(keys)
    assert keys[0] == cache_key("q", "root", resolve(budget=500), ("a",))
