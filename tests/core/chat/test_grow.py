"""What is put behind a document block that stands already."""

from __future__ import annotations

from foveate import Session, proceed

ABOUT = "This page is about pumps."


def fact(number):
    """One chunk of a page that has a summary."""
    return {
        "id": f"p{number}",
        "document_id": "pump",
        "source": "pump.md",
        "sequence": 3 * number,
        "text": f"Part {number} of the pump turns {number * 7} times a minute.",
        "score": 1 - number / 10,
        "summary": ABOUT,
    }


def test_a_page_is_introduced_once_in_a_session():
    """R2, W4: what comes later of the same page stands behind it without its summary."""
    first = proceed(Session(), "How often does part 1 turn?", [fact(1)], budget=400)
    later = proceed(
        first.session.with_answer("Seven times [1]."), "And part 2?", [fact(2)], budget=400
    )

    assert first.context.text.count(ABOUT) == 1
    assert later.context.text.startswith(first.context.text)
    assert later.context.text.count(ABOUT) == 1
    assert [one.marker for one in later.context.citations] == [1, 2]
