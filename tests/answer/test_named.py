"""What became of a candidate that an answer names and the context does not show."""

from __future__ import annotations

from dataclasses import replace

from foveate import assemble
from foveate.answer.bracket_names import left_out_reasons
from foveate.core.types import Decision, StageTrace


def context_with(*decisions: Decision):
    """A context whose trace says this of candidates that it does not show."""
    made = assemble("What?", [{"id": "shown", "text": "This is shown."}], budget=99)
    stage = StageTrace(stage="own", options="", before=1, after=1, decisions=decisions)
    return replace(made, trace=(stage,))


def merged(name: str, by: str) -> Decision:
    """One that went into another."""
    return Decision(chunk_id=name, action="merged", reason=f"into_{by}", by=by)


def test_what_was_merged_shares_the_fate_of_its_host():
    """C3: through any number of hosts, whatever the order in which they went."""
    gone = Decision(chunk_id="D", action="dropped", reason="below_floor")
    found = left_out_reasons(
        context_with(merged("A", "B"), merged("B", "C"), merged("C", "D"), gone)
    )

    assert found == dict.fromkeys("abcd", "own: below_floor")


def test_a_host_that_is_shown_leaves_the_merger_as_the_reason():
    """C3: what went into a block that is there was merged, and nothing else."""
    assert left_out_reasons(context_with(merged("A", "shown"))) == {"a": "own: into_shown"}


def test_mergers_that_go_in_a_circle_or_a_long_way_come_to_an_end():
    """X2: a trace may come from anywhere; each link of it is walked once."""
    circle = [merged("A", "B"), merged("B", "C"), merged("C", "B"), merged("S", "S")]
    chain = [merged(f"n{i}", f"n{i + 1}") for i in range(50_000)]
    end = Decision(chunk_id="n50000", action="dropped", reason="degenerate")

    found = left_out_reasons(context_with(*circle, *chain, end))

    assert set("abcs") <= set(found)
    assert {found[f"n{i}"] for i in range(50_001)} == {"own: degenerate"}
