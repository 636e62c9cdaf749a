from __future__ import annotations

import store_damage
from full_counts import count


def test_a_flipped_bit_in_a_server_store_changes_no_answer(postgres: str, figure):
    """X6, T1, T5, B1: answers are equal, or there is an error that says what to do."""
    tally = store_damage.on_postgres(postgres, flips=count(16, 30), seed=11, documents=16)
    figure(f"postgres: {tally}")
    assert tally.outcomes["silent"] == 0
    assert tally.outcomes["error"] > count(2, 5)
