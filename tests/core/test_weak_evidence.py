"""A context that hardly speaks of the question says so."""

from __future__ import annotations

import pytest

from foveate import Session, proceed
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
        ("What is it about?", ""),
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


def test_identifiers_and_figures_are_found_in_other_spellings() -> None:
    """J7: with and without what stands between their parts."""
    assert not why_weak("What is in ISO9001?", ["ISO 9001 is about quality."])
    assert not why_weak("Is 25000 km too much?", ["The limit is 25,000 km a year."])
    assert "ISO9001" in why_weak("What is in ISO9001?", ["ISO 14001 is about waste."])


def test_a_session_speaks_of_all_that_it_holds() -> None:
    """J7: what an earlier turn brought counts, and what nothing of it holds is said."""
    crane = [{"id": "a", "text": "The harbour crane lifts forty tonnes, and was built in 1931."}]
    ducks = [{"id": "b", "text": "Ducks swim in the lake all summer long."}]
    first = proceed(Session(), "What does the harbour crane lift?", crane, budget=1_000)
    session = first.session.with_answer("Forty tonnes [1].")
    again = proceed(session, "When was the harbour crane built?", [*crane, *ducks], budget=1_000)
    moon = proceed(session, "What colour is the moon of Mars?", [*crane, *ducks], budget=1_000)

    assert not again.context.weak_evidence
    assert "moon" in moon.context.weak_evidence
