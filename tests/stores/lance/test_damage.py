from __future__ import annotations

import store_damage


def test_a_flipped_bit_in_a_distributed_store_changes_no_answer(tmp_path, figure):
    """X6, T1, T5, B1: answers are equal, or there is an error that says what to do."""
    tally = store_damage.on_lance(tmp_path, flips=20, seed=11, documents=24)
    figure(f"lance: {tally}")
    assert tally.outcomes["silent"] == 0
    assert tally.outcomes["error"] > 0
