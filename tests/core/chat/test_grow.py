"""What is put behind a document block that stands already."""

from __future__ import annotations

from foveate import Session, proceed
from foveate.pipeline.sessions import TokenPrices, session_from_json, session_to_json

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


def test_files_of_one_name_are_told_apart_and_what_was_sent_keeps_its_name():
    """W4, J5: a later file of the same name has a longer one; no byte sent before changes."""

    def rates(land, number=1):
        text = f"Rate {number} of {land} is {number} %."
        return {"id": f"{land}{number}", "source": f"{land}/rates.md", "text": text}

    asked = {"budget": 400, "zones": False, "recipe": "default", "prices": TokenPrices(cached=0.0)}
    one = proceed(Session(), "What is rate 1 of Italy?", [rates("Italy")], **asked)
    two = proceed(one.session, "What is rate 1 of Spain?", [rates("Spain")], **asked)
    session = session_from_json(session_to_json(two.session))
    found = [rates("Italy", 2), rates("Cuba")]
    three = proceed(session, "What is rate 2 of Italy, and rate 1 of Cuba?", found, **asked)

    assert one.context.text.startswith("[1] rates.md\n")
    assert two.context.text.startswith(one.context.text)
    assert three.context.text.startswith(two.context.text)
    heads = [line[4:] for line in three.context.text.splitlines() if line.startswith("[")]
    assert heads == ["rates.md", "Spain/rates.md", "rates.md", "Cuba/rates.md"]
    assert three.session.held[1].name_parts == 2
