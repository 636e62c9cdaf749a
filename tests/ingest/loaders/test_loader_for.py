"""The suffix says which loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import SMALL, read
from foveate.ingest.loaders import loader_for, suffixes


@pytest.mark.parametrize("suffix", suffixes())
def test_every_suffix_has_its_loader(suffix: str) -> None:
    """T2: each suffix of the table loads a small file, in either case."""
    small = SMALL.get(suffix, lambda: b'{"text": "hi"}')()
    assert "hi" in read(f"a{suffix.upper()}", small).text


@pytest.mark.parametrize("name", ["a.png", "a", "a.md.bak", ".md"])
def test_others_have_none(name: str) -> None:
    """A suffix that is not in the table has no loader."""
    assert loader_for(Path(name)) is None
