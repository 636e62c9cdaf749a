"""A record that is asked for by its identifier and does not fit is said to be there."""

from __future__ import annotations

import json

import pytest

from foveate import assemble
from foveate.core.types import Context
from foveate.pipeline.reason_messages import evidence_messages

LONG = "The pump of the mill was taken out, cleaned, measured and put back by the fitters. " * 6
REPORTS = {"RX-2048": LONG, **{f"RX-21{n}0": "The valve leaks." for n in range(5)}}
RECORDS = [
    {
        "id": call,
        "source": "calls.jsonl",
        "score": 0.9 - n / 10,
        "text": json.dumps({"call": call, "report": report}),
    }
    for n, (call, report) in enumerate(REPORTS.items())
]
QUERY = "What happened in RX-2048?"
LEFT_OUT = "RX-2048 was found, but does not fit; give a larger budget"


def shown(budget: int, recipe: str, records: list[dict[str, object]]) -> Context:
    """The context of the records for the query."""
    return assemble(QUERY, records, budget=budget, recipe=recipe)


@pytest.mark.parametrize("recipe", ["default", "tight", "reranked", "document-first"])
def test_the_record_asked_for_is_found_but_does_not_fit(recipe: str) -> None:
    """D7: it is said that there is one; in a budget that holds it, nothing is."""
    assert evidence_messages(shown(60, recipe, RECORDS)) == [LEFT_OUT]
    larger = shown(600, recipe, RECORDS)
    assert "RX-2048" in larger.text
    assert evidence_messages(larger) == []


def test_a_record_in_the_middle_of_a_text_that_is_shown_is_missed_too() -> None:
    """D7: other rows of its file do not hide that the row with the identifier is not there."""
    rows = "\n".join(f"RX-{2040 + n},{'valve ' * (90 if n == 8 else 2)},{n}" for n in range(20))
    table = {"id": "t", "source": "t.csv", "score": 1.0, "text": f"call,part,amount\n{rows}"}
    context = shown(60, "default", [table])

    assert "RX-2048" not in context.text
    assert evidence_messages(context) == [LEFT_OUT]
