"""The program of docs/agents.md for Vercel's AI SDK, run by Node against a running service."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from playwright._impl._driver import compute_driver_executable

from foveate.plugins import tokenizer
from source_tree import ROOT

NODE = compute_driver_executable()[0]
PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(60))
RUN = """
import { readFileSync } from "node:fs";
import { fitMessages, prepareStep } from "./agents.mjs";
const { messages, budget } = JSON.parse(readFileSync(0, "utf8"));
const made = budget
  ? { messages: await fitMessages(messages, budget) }
  : await prepareStep({ messages });
console.log(JSON.stringify({ made: made.messages, came: messages }));
"""


def steps(size):
    """Messages as the SDK has them: two calls a step, with results as text and as JSON."""
    found = [{"role": "user", "content": [{"type": "text", "text": "Ticket AB-1204: what opens?"}]}]
    for n in range(size):
        calls = [
            {"type": "tool-call", "toolCallId": f"{k}{n}", "toolName": "read", "input": {"page": n}}
            for k in "ab"
        ]
        outputs = [
            {"type": "text", "value": f"Page {n}\n{PAGE}"},
            {"type": "json", "value": {"pump": f"pump_{n:03}", "bar": n}},
        ]
        results = [
            {"type": "tool-result", "toolCallId": c["toolCallId"], "toolName": "read", "output": o}
            for c, o in zip(calls, outputs, strict=True)
        ]
        found += [
            {"role": "assistant", "content": [{"type": "text", "text": f"Page {n}."}, *calls]},
            {"role": "tool", "content": results},
        ]
    return found


@pytest.fixture
def fit(service, tmp_path):
    """Runs the page's program on messages."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    program = page.partition("```js\n")[2].partition("```")[0]
    (tmp_path / "agents.mjs").write_text(program, encoding="utf-8")
    (tmp_path / "run.mjs").write_text(RUN, encoding="utf-8")

    def run(messages, budget=0):
        ran = subprocess.run(
            [NODE, "run.mjs"],
            cwd=tmp_path,
            env={**os.environ, "FOVEATE_URL": str(service.base_url).rstrip("/")},
            input=json.dumps({"messages": messages, "budget": budget}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert ran.returncode == 0 or budget == 1, ran.stderr
        return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr

    return run


def texts(messages):
    """All that is counted of them."""
    for message in messages:
        parts = message["content"]
        for part in [{"text": parts}] if isinstance(parts, str) else parts:
            value = part.get("output", {}).get("value", part.get("text") or part.get("input"))
            yield value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def test_each_step_of_the_sdk_fits_and_pairs_up(fit):
    """A1, A2, A8: a ledger in front, no orphan, the last step, and the SDK's own list as it was."""
    messages = steps(8)
    found = fit(messages, 900)
    assert found["came"] == messages
    made = found["made"]
    assert "[Ledger" in made[0]["content"]
    assert "AB-1204" in json.dumps(made)
    assert sum(map(tokenizer("cl100k_base").count, texts(made))) <= 900
    spoken = [one for one in made[1:] if one["content"] != "[…]"]  # which takes a missing turn
    parts = [part for one in spoken for part in one["content"]]
    calls = [part["toolCallId"] for part in parts if part["type"] == "tool-call"]
    results = [part["toolCallId"] for part in parts if part["type"] == "tool-result"]
    assert calls == results
    assert calls[-2:] == ["a7", "b7"]
    assert made[-1]["content"][1] == messages[-1]["content"][1]
    assert all(one in messages for one in spoken if one["role"] == "assistant")


def test_a_list_that_fits_is_sent_as_it_is(fit):
    """A1: nothing changes, under the budget of the page."""
    messages = steps(3)
    assert fit(messages)["made"] == messages


def test_a_budget_that_nothing_fits_stops_the_step(fit):
    """X1: the error says what would do."""
    assert "budget too small" in fit(steps(1), 1)
