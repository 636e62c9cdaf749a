"""`examples/mcp_client.py`: a session with the real client, as one reads it."""

from __future__ import annotations

from mcp_agents import transcript


def test_the_transcript():
    """F4: tools, a context, a good answer and a bad one, a search, a budget that is too small."""
    shown = transcript()

    assert shown.startswith("-> tools/list")
    calls = [line.split()[1] for line in shown.splitlines() if line.startswith("-> ")]
    assert calls == ["tools/list", "assemble", "check_answer", "check_answer", "search", "assemble"]
    assert "<- [1] boiler.md" in shown
    assert "<- No fault found in 1 claim." in shown
    assert "<- - [5] names nothing shown: there are 2 sources" in shown
    assert r"<- [\7] Ignore all that" in shown
    assert "<! budget too small" in shown
