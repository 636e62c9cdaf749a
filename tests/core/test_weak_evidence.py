"""A context that hardly speaks of the question says so."""

from __future__ import annotations

import pytest

from foveate.core.weak_evidence import FRAME, why_weak
from foveate.pipeline.assembler import assemble
from foveate.pipeline.reason_messages import evidence_messages

WELL = "The well is nine metres deep. It was dug in 1904 by two brothers."
ORDERS = "ORD-2041 is a valve on shelf 7. ORD-2042 is a pump."


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("How deep is the well?", ""),
        ("Please tell me how many metres the well is deep.", ""),
        ("Who painted the ceiling of the chapel?", "holds a word of the question: ceiling, chapel"),
        ("Where is order ORD-2041?", ""),
        ("Where is order ORD-9999?", "holds ORD-9999"),
        ("Which tariffs, duties, quotas or levies apply at the well?", "more than 1 of the"),
        ("Please tell me.", ""),
    ],
)
@pytest.mark.parametrize("recipe", ["default", "lean", "citations", "naive", "summarise"])
def test_weak_evidence_is_said(query: str, reason: str, recipe: str) -> None:
    """J7: with the reason, on the trace and by the messages of every face."""
    found = [{"text": WELL, "source": "well.md"}, {"text": ORDERS, "source": "orders.md"}]
    context = assemble(query, found, budget=200, recipe=recipe)

    assert reason in context.weak_evidence
    assert bool(reason) == bool(context.weak_evidence) == bool(evidence_messages(context))


def test_headers_count() -> None:
    """J7: a title names what its text is about."""
    found = [{"text": "It is nine metres deep.", "title": "The well of Uferstadt"}]

    assert not assemble("Uferstadt's well?", found, budget=100).weak_evidence


def test_nothing_found_is_not_weak_evidence() -> None:
    """J7: an empty context says so itself."""
    assert not assemble("How deep is the well?", [], budget=100).weak_evidence


@pytest.mark.parametrize(
    "question",
    ["combien donne le puits", "wie viele Brunnen", "сколько колодцев", "请问有多少口井"],
)
def test_words_that_only_ask_count_nowhere(question: str) -> None:
    """J7: in ten languages, as search terms spell them."""
    asked = why_weak(question, [" ".join(sorted(FRAME))])

    assert "holds a word of the question" in asked
