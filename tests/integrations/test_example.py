"""The example that shows each framework runs."""

from __future__ import annotations

import runpy

from source_tree import ROOT


def test_the_example_shows_each_framework(capsys):
    """F6: examples/frameworks.py runs, and each context has its first source once."""
    runpy.run_path(str(ROOT / "examples" / "frameworks.py"), run_name="__main__")
    shown = capsys.readouterr().out

    for name in ("LangChain", "LlamaIndex", "Haystack"):
        after = shown.partition(f"{name}, assembled:")[2].partition(", joined as it is")[0]
        assert after.count("Keep the pressure") == 1
        assert "[1] boiler.md\nKeep the pressure between one and two bar." in after
