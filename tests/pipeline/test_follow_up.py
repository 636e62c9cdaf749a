"""A follow-up question is searched with the words of the question before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foveate
from foveate import Assembler, Session
from foveate.pipeline.follow_up import SEARCHED_ALSO, earlier_words
from foveate.pipeline.sessions import proceed
from foveate.providers.embedders.local import HashingEmbedder

RATE = "What is the kilometre rate for private cars?"
FILES = {
    "rates-2023.md": "The kilometre rate for private cars is 0.30 euros.",
    "rates-2025.md": "The kilometre rate for private cars is 0.38 euros.",
    **{f"vehicle-{n}.md": f"Vehicle {n}, a lorry. Year: 2023. Seats: 3." for n in range(30)},
}


@pytest.fixture
def house(tmp_path: Path) -> Any:
    """A store of rates and of many vehicles."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with foveate.open_store(tmp_path / "store", embedder=HashingEmbedder()) as store:
        store.index([tmp_path / name for name in FILES])
        yield store


def test_a_follow_up_finds_what_the_question_before_was_about(house: Any) -> None:
    """W1, J7: the same question alone finds vehicles; the context holds it as it was asked."""
    said = [("user", RATE), ("assistant", "0.38 euros.")]

    alone = house.assemble("And in 2023?", budget=60)
    context = house.assemble("And in 2023?", budget=60, messages=said)

    assert "0.30 euros" not in alone.text
    assert "0.30 euros" in context.text
    assert context.query == "And in 2023?"
    assert context.trace[0].notes[SEARCHED_ALSO] == "kilometre rate private cars"
    assert "rates-2023.md" in [
        Path(c.chunk.source).name for c in house.search("And in 2023?", messages=said).candidates
    ]


def test_words_of_a_pasted_text_do_not_outgrow_the_zone_of_the_query(house: Any) -> None:
    """W1: a question before that holds a long text gives words of its ends only."""
    pasted = " ".join(f"{a}{b}{c}ery" for a in "bcdfg" for b in "aeiou" for c in "klmnprst" * 9)
    said = [("user", f"{RATE} Read this: {pasted}"), ("assistant", "0.38 euros.")]

    assert earlier_words("And in 2023?", said).startswith("kilometre rate private cars")
    assert len(earlier_words("And in 2023?", said)) < 300
    assert "0.30 euros" in house.assemble("And in 2023?", messages=said).text
    assert len(earlier_words("Why?", [("user", "费率" * 9_000)])) < 310


def test_a_zone_that_the_question_alone_fits_is_enough(house: Any) -> None:
    """W1, B2: words of the questions before make no question too long for its zone."""
    budget = foveate.Budget(documents=60, query=6)
    said = [("user", RATE), ("assistant", "0.38 euros.")]

    assert "0.30 euros" in house.assemble("And in 2023?", budget=budget, messages=said).text


def test_a_session_searches_likewise(house: Any) -> None:
    """W4: with a store, the turns of the session are the questions before."""
    assembler = Assembler(store=house.store, embedder=house.embedder)
    first = proceed(Session(), RATE, store=assembler, budget=400)
    second = proceed(
        first.session.with_answer("0.38 euros [1]."), "And in 2023?", store=assembler, budget=400
    )

    assert "0.30 euros" in second.context.text
    assert second.context.query == "And in 2023?"


@pytest.mark.parametrize(
    ("question", "before", "words"),
    [
        ("And in 2023?", [RATE], "kilometre rate private cars"),
        ("Und bei Regen?", ["Wie lange hält Lack auf Holz?"], "lange hält Lack Holz"),
        ("When was it paid?", ["Is ORD-2041 open?"], "ORD-2041 open"),
        ("Why?", ["And in 2023?", RATE, "And in 2024?"], "2024 kilometre rate private cars"),
        ("Which colour has the roof of the mill?", [RATE], ""),
        ("And in 2023?", [], ""),
        ("那么二零二三年呢？", ["私家车的公里费率是多少？"], "私家车的公里费率是多少？"),
    ],
)  # fmt: skip
def test_words_come_from_the_questions_before(question: str, before: list[str], words: str) -> None:
    """J7: only where the question has few of its own; frames of questions are none."""
    history = [one for text in before for one in (("user", text), ("assistant", "Roses."))]

    assert earlier_words(question, history) == words
