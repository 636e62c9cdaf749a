"""The reference of names: what the documentation shows has its page there."""

from __future__ import annotations

import pytest
from tools.docsite.api import modules

PAGE = """
`foveate.pipeline.curves.load_curve` reads one, `foveate.seal` is a span, `foveate.core` a folder.

```python
import foveate.pipeline.options
from foveate import Budget
from foveate.integrations import tables
from foveate.answer import (
    ask,
)
```
"""
FILES = (
    *("__init__", "pipeline/curves", "pipeline/options", "integrations/tables", "seal_of"),
    *("core/__init__", "answer/ask"),
)


@pytest.fixture
def repository(tmp_path):
    """A package of a few modules, and a page about some of them."""
    for name in FILES:
        path = tmp_path / "src" / "foveate" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "README.md").write_text("# Farm\n", encoding="utf-8")
    return tmp_path


def test_what_pages_show_is_described(repository):
    """F1: modules that a page names in its text, imports, or imports from a package."""
    found = [
        "foveate",
        "foveate.answer",
        "foveate.answer.ask",
        "foveate.integrations",
        "foveate.integrations.tables",
        "foveate.pipeline.curves",
        "foveate.pipeline.options",
    ]

    assert modules(repository) == found
