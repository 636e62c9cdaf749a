"""The suffix says which loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import SMALL, read
from foveate.core.errors import BadInput
from foveate.ingest.load import load_in_process
from foveate.ingest.loaders import suffixes
from foveate.ingest.loaders.limits import DEFAULT_LIMITS


@pytest.mark.parametrize("suffix", suffixes())
def test_every_suffix_has_its_loader(suffix: str) -> None:
    """T2: each suffix of the table loads a small file, in either case."""
    small = SMALL.get(suffix, lambda: b'{"text": "hi"}')()
    assert "hi" in read(f"a{suffix.upper()}", small).text


def test_a_file_of_another_suffix_is_told_how_it_is_read() -> None:
    """T2: a rotated log is a text; the error says under which name it is read."""
    with pytest.raises(BadInput, match=r"no loader for \.1; if it is text, rename it to a\.log\.1"):
        list(load_in_process(b"started", Path("a.log.1"), DEFAULT_LIMITS))
