"""The offline tokenizer counts what an implementation that is not ours, and not its own, counts."""

from __future__ import annotations

import warnings
from functools import cache

import pytest
import toktok

from foveate.providers.tokenizers import ENCODINGS
from foveate.providers.tokenizers.openai import LONG_TEXT, Toktok
from foveate.testing.tokenizers import samples


@cache
def bpe(name: str):
    """The reference; its wrapper refuses long texts, so what is under it is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the way it opens its data
        from bpe_openai import _bindings
    return _bindings.tokenizer_for_encoding(name)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_same_counts_as_the_reference(encoding: str):
    """B5: 2,000 seeded texts of all scripts, controls, specials and long runs count the same."""
    reference = bpe(encoding)
    tokenizer = Toktok(name=encoding)
    texts = samples(seed=20, count=2_000)
    assert [t for t in texts if tokenizer.count(t) != reference.count(t)] == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_counts_the_same_by_itself_and_in_a_batch(encoding: str):
    """B5: short and long texts are counted in two ways, which agree."""
    tokenizer = Toktok(name=encoding)
    texts = samples(seed=22, count=500)
    batched = toktok.batch_count(texts, encoding)
    assert [tokenizer.count(text) for text in texts] == batched
    joined = "\n".join(texts)
    assert len(joined) > LONG_TEXT
    assert tokenizer.count(joined) == toktok.batch_count([joined], encoding)[0]


def test_fingerprints_are_pinned():
    """D2: the fingerprints that manifests carry do not change between releases."""
    assert Toktok(name="cl100k_base").fingerprint == "cl100k_base:476e19f6c04ef3cd"
    assert Toktok(name="o200k_base").fingerprint == "o200k_base:07d3f724538d6ad8"


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        (" ", 1_000_000),
        ("\n", 1_000_000),
        ("a", 1_000_000),
        ("word ", 1_000_000),
        ("你好", 800_000),
    ],
)
def test_huge_texts(unit: str, times: int):
    """X2: a text of 1 to 5 MB, a million spaces included, is counted and cut."""
    text = unit * times
    tokenizer = Toktok(name="cl100k_base")
    half = tokenizer.count(text) // 2
    cut = tokenizer.truncate(text, half)
    assert tokenizer.count(cut) <= half
    assert len(cut) > len(text) // 3
