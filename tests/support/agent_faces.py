"""What the tests of the faces for agents share: a tool with long pages, and checks of a request."""

from __future__ import annotations

import json
import re
import runpy

from foveate.pipeline.compact_json import compaction_bundle, replay_compaction
from message_lists import unmatched
from source_tree import ROOT

BUDGET = 900
PAGES = 8
PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(120))
QUESTION = "Which pump opens last?"
INSTRUCTIONS = "You read the manual of the canal."
SCHEMA = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
"""Of the tool's arguments."""


def shown(module):
    """The program of the page that imports this module."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (found,) = (block for block in page.split("```py\n")[1:] if f"from {module} import" in block)
    return found.partition("```")[0]


def turns():
    """What a server's model says: a call for every page, then the answer."""
    calls = [
        {"id": f"c{n}", "type": "function",
         "function": {"name": "read", "arguments": json.dumps({"page": n})}}
        for n in range(PAGES)
    ]  # fmt: skip
    return (*({"tool_calls": [call]} for call in calls), {"content": "pump_119."})


def read(page: int) -> str:
    """Read a page of the manual."""
    return f"Page {page}\n{PAGE}"


def check_made(made):
    """Each list fitted, was cut at the end, pairs up, keeps its last step, and replays."""
    assert len(made) == PAGES + 1
    for one in made:
        assert one.token_count + one.tools_token_count <= BUDGET
        assert one.tools_token_count > 0
        assert unmatched(one.messages) == []
        assert one.places[-1] == len(one.source) - 1
    assert made[0].changed is False
    assert "[Ledger" in made[-1].ledger
    bundle = json.loads(json.dumps(compaction_bundle(made[-1])))
    assert str(replay_compaction(bundle)) == "identical"


def check_example(name, monkeypatch, capsys):
    """The example keeps all messages, and each request fits with most of the values it needs."""
    folder = ROOT / "examples"
    monkeypatch.syspath_prepend(folder)
    runpy.run_path(str(folder / name), run_name="__main__")
    last, kept, report = capsys.readouterr().out.splitlines()
    assert last.startswith("Done: RF-")
    assert kept == "240 messages are kept"
    requests, largest, found, needed = map(int, re.findall(r"\d+", report.replace(",", "")))
    assert requests == 120
    assert 6_000 < largest <= 8_000
    assert found > 0.85 * needed > 0
