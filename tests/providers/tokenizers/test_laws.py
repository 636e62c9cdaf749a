"""Every built-in tokenizer obeys the laws that are handed to authors of tokenizers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.contracts import Tokenizer
from foveate.providers.tokenizers import load_tokenizer
from foveate.testing.tokenizers import SPECIALS, check_tokenizer, samples

LLAMA2 = str(
    Path(find_spec("wordllama").origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
)
EXACT = ("cl100k_base", "o200k_base", LLAMA2)
CUTTING = (*EXACT, "cl100k_base*1.3", "o200k_base*2", "cl100k_base*0.873")


def _label(name: str) -> str:
    """Short and the same on every machine."""
    return "llama2" if name == LLAMA2 else name


ANY_TEXT = st.text(max_size=200) | st.sampled_from(samples())


@pytest.mark.parametrize("name", CUTTING, ids=_label)
def test_built_in(name: str):
    """B5: a built-in tokenizer obeys every law, on texts of all scripts and on special tokens."""
    check_tokenizer(load_tokenizer(name), samples(seed=1, count=100))


@pytest.mark.parametrize("name", ["simple", "simple*1.2"])
def test_simple(name: str):
    """B5: the rule of thumb obeys the laws of counting; its truncation is a rule of its own."""
    check_tokenizer(load_tokenizer(name), cuts=False)


@given(text=st.text(st.characters(codec=None), max_size=40))
def test_surrogates(text: str):
    """B5: any string Python can hold is counted, lone surrogates included."""
    for name in (*CUTTING, "simple"):
        tokenizer = load_tokenizer(name)
        assert tokenizer.count(text) >= 0
        assert isinstance(tokenizer.truncate(text, 3), str)


def test_a_broken_tokenizer_is_caught():
    """The law suite finds a tokenizer that counts characters but cuts words."""

    class Liar:
        name = "liar"
        fingerprint = "liar:1"

        def count(self, text: str) -> int:
            return len(text)

        def truncate(self, text: str, n: int) -> str:
            return " ".join(text.split()[:n])

    assert isinstance(Liar(), Tokenizer)
    with pytest.raises(AssertionError, match="truncate"):
        check_tokenizer(Liar())


def test_a_special_token_counted_as_one_is_caught():
    """The law suite finds a tokenizer that reads a document's text as control tokens."""

    class Gullible:
        name = "gullible"
        fingerprint = "gullible:1"

        def count(self, text: str) -> int:
            return 1 if text in SPECIALS else len(text.encode("utf-8", "replace"))

        def truncate(self, text: str, n: int) -> str:
            return text[:n]

    with pytest.raises(AssertionError, match="control token"):
        check_tokenizer(Gullible(), ["text"])
