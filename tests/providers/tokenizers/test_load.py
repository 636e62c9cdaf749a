"""Names to tokenizers, and what happens where a package is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import foveate
from foveate.core.errors import ExternalError, UnknownName
from foveate.providers.tokenizers import load_tokenizer


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "simple", "cl100k_base*1.7"])
def test_names_round_trip(name: str):
    """P2: a tokenizer's name is what one types to get it."""
    assert load_tokenizer(name).name == name
    assert load_tokenizer(load_tokenizer(name).name) == load_tokenizer(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cl100k", "did you mean 'cl100k_base'"),
        ("o200k-base", "did you mean 'o200k_base'"),
        ("simpel", "did you mean 'simple'"),
        *((name, "unknown tokenizer") for name in ("", "*", "*1.3", "gpt2")),
        *((f"cl100k_base*{end}", "unknown tokenizer") for end in ("", "x")),
    ],
)
def test_an_unknown_name_is_refused(name: str, said: str):
    """X1: with the nearest name, where there is one."""
    with pytest.raises(UnknownName, match=said):
        load_tokenizer(name)


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
