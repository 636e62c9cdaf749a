"""Names to tokenizers, and what happens where a package is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import foveate
from foveate.core.errors import BadOption, ExternalError, UnknownName
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.openai import Toktok
from foveate.providers.tokenizers.simple import Simple


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "simple", "cl100k_base*1.7"])
def test_names_round_trip(name: str):
    """P2: a tokenizer's name is what one types to get it."""
    assert load_tokenizer(name).name == name
    assert load_tokenizer(load_tokenizer(name).name) == load_tokenizer(name)


def test_kinds():
    """B5: the vocabularies are counted by the package that comes along."""
    assert load_tokenizer("cl100k_base") == Toktok(name="cl100k_base")
    assert load_tokenizer("simple") == Simple()


@pytest.mark.parametrize(
    ("name", "near"),
    [("cl100k", "cl100k_base"), ("o200k-base", "o200k_base"), ("simpel", "simple")],
)
def test_unknown_names_the_near_miss(name: str, near: str):
    """X1: an unknown tokenizer is refused with the nearest name."""
    with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
        load_tokenizer(name)


@pytest.mark.parametrize("name", ["", "*", "*1.3", "cl100k_base*", "cl100k_base*x", "gpt2"])
def test_nonsense_is_refused(name: str):
    """X1: what is no name at all is refused the same way."""
    with pytest.raises(UnknownName):
        load_tokenizer(name)


def test_missing_file():
    """X1: a path where nothing stands is the caller's to correct."""
    with pytest.raises(BadOption, match="no such file"):
        load_tokenizer("nowhere/tokenizer.json")


def test_a_package_that_vanished(monkeypatch):
    """X1: a package that cannot be imported is an outside failure with the install line."""
    monkeypatch.setitem(sys.modules, "toktok", None)
    with pytest.raises(ExternalError, match="pip install toktok-rs"):
        load_tokenizer("o200k_base").count("text")


def test_nothing_heavy_at_import():
    """F1: importing the names loads no tokenizer and no numpy."""
    code = (
        "import sys, foveate.providers.tokenizers, foveate.models, foveate.pipeline.budget;"
        "print([m for m in ('toktok','tokenizers','tiktoken','bpe_openai','numpy',"
        "'tomllib','urllib.request') if m in sys.modules])"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(foveate.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    )
    assert done.stdout.strip() == "[]"
