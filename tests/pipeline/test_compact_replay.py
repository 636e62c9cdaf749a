"""Compactions made again from their bundles."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BadInput, BudgetTooSmall, compact
from foveate.pipeline.compact_json import compaction_bundle, replay_compaction
from message_lists import FORMS, sessions, spell

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
