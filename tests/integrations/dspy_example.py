"""The example for DSPy, run against a server on loopback. Run by `make matrix`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from model_servers import serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "dspy_module.py"
REPLY = ("[[ ## answer ## ]]\n", "The well is nine metres deep [1].\n\n", "[[ ## completed ## ]]\n")


def test_the_example_answers_and_says_what_it_cites(monkeypatch, capsys):
    """F6: DSPy's module is sent the context as it was counted, and its answer's markers resolve."""
    with serving("openai", pieces=REPLY) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{server.port}/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "openai/tiny"])

        runpy.run_path(str(EXAMPLE), run_name="__main__")

        sent = str(server.requests[-1]["messages"])
    assert capsys.readouterr().out.splitlines() == [
        "The well is nine metres deep [1].",
        "[1] yard.md",
    ]
    assert "[1] yard.md" in sent
