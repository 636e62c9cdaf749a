"""Compactions made again from their bundles."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BadInput, BudgetTooSmall, compact
from foveate.pipeline.compact_replay import compaction_bundle, replay_compaction
from message_lists import FORMS, sessions, spell
from source_tree import PACKAGE

LISTED = [
    {"role": "user", "content": "Is boat_77 free? " + "Please look. " * 40},
    {"role": "assistant", "content": "It is free. " * 30},
    {"role": "user", "content": "Then book it."},
]


@given(sessions, st.sampled_from(FORMS), st.integers(40, 400))
def test_a_bundle_gives_the_same_list_again(steps, form, budget):
    """A1, D4: read back from JSON, inputs and options give the same bytes and manifest."""
    try:
        made = compact(spell(steps, form), budget=budget, form=form, pinned=[0])
    except BudgetTooSmall:
        return
    bundle = json.loads(json.dumps(compaction_bundle(made)))
    assert str(replay_compaction(bundle)) == "identical"


def test_a_changed_bundle_says_what_changed():
    """D4: another message, another list and a missing part are told apart."""
    bundle = json.loads(json.dumps(compaction_bundle(compact(LISTED, budget=120))))
    other = {**bundle, "messages": [*bundle["messages"][:2], {"role": "user", "content": "No."}]}
    assert "inputs_hash" in str(replay_compaction(other))
    forged = {**bundle, "output": bundle["messages"]}
    assert "the recorded list" in str(replay_compaction(forged))
    with pytest.raises(BadInput, match="damaged"):
        replay_compaction({"kind": bundle["kind"]})


def test_another_process_gives_the_same_bytes():
    """A1, D1: whatever the hash seed of the process is."""
    program = (
        "import json, sys; from foveate import compact\n"
        "made = compact(json.load(sys.stdin), budget=120)\n"
        "print(json.dumps([made.messages, made.manifest.output_hash]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(LISTED),
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {
        json.dumps([(m := compact(LISTED, budget=120)).messages, m.manifest.output_hash]) + "\n"
    }
