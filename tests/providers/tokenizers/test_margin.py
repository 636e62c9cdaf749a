"""A stated safety margin on another tokenizer's count."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.simple import Margin


@given(tokens=st.integers(0, 10_000), hundredths=st.integers(100, 1000))
def test_count_is_exact_arithmetic(tokens: int, hundredths: int):
    """B5: the count is the factor times the inner count, rounded up, in decimal arithmetic."""

    class Fixed:
        name = "fixed"
        fingerprint = "fixed:1"

        def count(self, text: str) -> int:
            return tokens

        def truncate(self, text: str, n: int) -> str:
            return text[:n]

    factor = Decimal(hundredths) / 100
    margin = Margin(inner=Fixed(), factor=float(factor))
    assert margin.count("") == math.ceil(factor * tokens)
    assert len(margin.truncate("x" * 20_000, tokens)) == math.floor(tokens / factor)


def test_name_and_fingerprint():
    """D2: the factor is part of the name and of the fingerprint."""
    margin = load_tokenizer("o200k_base*1.30")
    assert margin.name == "o200k_base*1.3"
    assert margin.fingerprint == load_tokenizer("o200k_base").fingerprint + "*1.3"
    assert margin == load_tokenizer(margin.name)


@pytest.mark.parametrize("factor", [0.05, 0.0, -1.0, 11.0, math.inf, math.nan])
def test_refused(factor: float):
    """X1: a factor that is no margin is refused and named."""
    with pytest.raises(BadOption, match=str(factor)):
        Margin(inner=load_tokenizer("simple"), factor=factor)
