"""Dialogues of our own making: what a question needs is two turns, and both are shown."""

from __future__ import annotations

from random import Random

import pytest

from foveate import assemble
from foveate.testing.shapes import check_shapes

NAMES = ("Ada", "Ben", "Cid", "Dora")
THINGS = ("pump", "valve", "gate", "boiler", "ledger", "crane", "winch", "barge", "sluice", "drill")
PLACES = ("Graz", "Ghent", "Turku", "Porto", "Leiden", "Bern", "Cork", "Lille")
SMALL_TALK = (
    "The weather has been fine all week, and nobody complained about the noise in the yard.",
    "We should talk about the holidays soon, since August is always short of people.",
    "I had coffee with the new colleague from accounting, and she likes it here so far.",
    "The parking space in front of the hall is still blocked by the old container.",
)
SAID = (
    (
        "Where did the people from the workshop bring the {thing}?",
        "They brought it to {place}, and it was painted while it was there.",
        "Where did they bring the {thing}?",
    ),
    (
        "The brothers Maurer bought the {thing} at the auction last spring.",
        "They paid {number} thousand for it, if I remember the invoice correctly.",
        "How much did they pay for the {thing}?",
    ),
    (
        "When is the {thing} due for its inspection?",
        "On the {number}th, says the plan.",
        "When is the {thing} inspected?",
    ),
)
TURNS_A_CHUNK = 8


def make_dialogue(random: Random) -> tuple[list[str], list[tuple[str, tuple[str, ...]]]]:
    """Turns, and questions with the two turns that answer each."""
    speakers = random.sample(NAMES, 2)
    turns: list[str] = []
    asked = []
    for thing in random.sample(THINGS, 8):
        words = {"thing": thing, "place": random.choice(PLACES), "number": random.randint(4, 19)}
        turns += [
            f"{random.choice(speakers)}: {random.choice(SMALL_TALK)}"
            for _ in range(random.randint(1, 4))
        ]
        first, second, question = (one.format(**words) for one in random.choice(SAID))
        one, other = random.sample(speakers, 2)
        turns += [f"{one}: {first}", f"{other}: {second}"]
        asked.append((question, (turns[-2], turns[-1])))
    return turns, asked


def score(question: str, text: str) -> float:
    """The share of the question's words that the text has: a plain retriever."""
    words, there = ({w.strip(".,:?") for w in t.lower().split()} for t in (question, text))
    return len(words & there) / len(words)


@pytest.mark.parametrize(
    ("budget", "time"),
    [
        *((60, ""), (400, ""), (100, "[10:{:02d}] ")),
        (200, "2024-05-01 10:{:02d} - "),
    ],
)
def test_more_questions_have_both_turns_than_by_cutting_by_score(budget: int, time: str) -> None:
    """U3: `complete` on eight dialogues, four in each pool, and both with their speakers."""
    complete = dict.fromkeys(("default", "naive"), 0)
    for seed in range(8):
        random = Random(seed)
        made = [make_dialogue(random) for _ in range(4)]
        chunks = [
            {
                "text": "\n".join(
                    time.format(at % 60) + turns[at]
                    for at in range(first, min(first + TURNS_A_CHUNK, len(turns)))
                ),
                "source": f"talk {number}",
                "sequence": first // TURNS_A_CHUNK,
            }
            for number, (turns, _) in enumerate(made)
            for first in range(0, len(turns), TURNS_A_CHUNK)
        ]
        for question, evidence in made[0][1]:
            found = [{**chunk, "score": score(question, str(chunk["text"]))} for chunk in chunks]
            for recipe in complete:
                text = assemble(question, found, budget=budget, recipe=recipe).text
                complete[recipe] += all(turn in text for turn in evidence)

    assert complete["default"] > complete["naive"]
    assert complete["default"] >= 44  # of 64


def test_question_about_them_is_shown_with_the_turn_before() -> None:
    """U1: whose words stand in the middle of the question."""
    turns = [
        "Ada: The museums of the old town are the Albertina and the Kunsthaus, as everybody knows.",
        "Ben: And at what time of the day do they usually open in the summer months of the year?",
        "Ada: The parking space in front of the hall is still blocked by the old container there.",
        "Ben: We should talk about the holidays soon, since August is always short of people here.",
    ]
    (shape,) = check_shapes("\n".join(turns))

    assert shape.spans[0][0] == 0
    assert shape.spans[0][1] > len(turns[0]) + len(turns[1])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[10:{n:02d}] {who}: The pump of hall {n} is back, and it runs.", "dialogue"),
        ("2024-05-01 10:{n:02d} - {who}: Is the pump of hall {n} back?", "dialogue"),
        ("01.05.24, 10:{n:02d} - {who}: The pump of hall {n} is back.", "dialogue"),
        ("[10:{n:02d}] {who}: started job {n}", "log"),
        ("[10:{n:02d}] INFO: The job {n} of {who} is done.", "log"),
        ("2024-05-01 10:{n:02d}:07 {who}: connection {n} closed", "log"),
    ],
)
def test_transcripts_with_times_are_no_logs(line: str, name: str) -> None:
    """U1: people end their sentences; what machines say by name stays a log."""
    text = "\n".join(line.format(n=n, who=("Ann", "Bob")[n % 2]) for n in range(12))

    assert [shape.name for shape in check_shapes(text)] == [name]


@pytest.mark.parametrize("heading", ["# Day {}", "### **Day {}**"])
def test_a_heading_is_in_one_unit_with_the_turn_below_it(heading: str) -> None:
    """U1, J3: behind an empty line; a line of a script that looks like one stays with its turn."""
    said = "Ben: Run this:\n```\n# as root\npump up\n```\n"
    turns = f"Ada: Is the pump of the long hall by the river back in its place?\n{said}"
    text = "".join(f"{heading.format(day)}\n\n{2 * turns}\n" for day in range(4))
    (shape,) = check_shapes(text)
    units = [text[slice(*span)] for span in shape.spans]

    assert sum("Day" in unit for unit in units) == 3
    assert all(unit.startswith("#") for unit in units if "Day" in unit)
    assert all(unit.endswith("```") for unit in units if "as root" in unit)


CHAT = (
    ("Ida", "Good morning! The crane in the yard stands still."),
    ("Jan", "Which one, the red?"),
    ("Ida", "Yes, the red. Its light blinks twice."),
    ("Kim", "Look at the fuse first."),
    ("Ida", "The fuse is fine."),
    ("Kim", "Then the winch is blocked, not the motor."),
    ("Jan", "We have two winches in Cork."),
    ("Ida", "Please send one."),
    ("Jan", "Sent, parcel 8816."),
    ("Ida", "It came on Monday. All runs."),
    ("Kim", "Fine. I close the case."),
)


@pytest.mark.parametrize(
    "begins",
    [
        "[12.06.2025, 08:{minute}] {who}: ",
        "2025-06-12 08:{minute} {who}: ",
        "12.06.25, 08:{minute} - {who}: ",
        "[6/12/25, 8:{minute}:11 AM] {who}: ",
        "6/12/25, 8:{minute}\u202fPM - {who}: ",
        "{who}: ",
    ],
)
def test_a_chat_of_short_turns_is_divided_between_turns(begins: str) -> None:
    """D1: a chat fits a small budget, whole turns with what they refer to, however each begins."""
    turns = [
        begins.format(minute=minute, who=who) + words
        for minute, (who, words) in enumerate(CHAT, start=13)
    ]
    chat = {"id": "chat", "source": "chat.txt", "text": "\n".join(turns), "score": 1.0}
    shown = assemble("When did the winch come?", [chat], budget=100).text.splitlines()[1:]

    assert any(line in turns for line in shown)
    assert all(line in turns or line.startswith("[… ") for line in shown)
    assert turns[2] not in shown or turns[1] in shown


@pytest.mark.parametrize("budget", [80, 110, 160])
def test_a_short_reply_is_shown_with_what_it_answers(budget: int) -> None:
    """U1: "Approved." without the proposal would be read as an answer to the next one."""
    proposals = (
        "move the whole budget of the west hall, forty thousand euros, to the new boiler house",
        "pay the caterer of the party an advance of two thousand euros, as he asked us in his mail",
        "let the painters begin with the back of the house as soon as the scaffold is dry again",
    )
    turns = [
        turn
        for proposal, reply in zip(proposals, ("Approved.", "Refused.", "Noted."), strict=True)
        for turn in (
            f"Ann: I suggest that we {proposal}, and that we tell the board on Monday.",
            f"Bob: {reply}",
        )
    ]
    talk = {"source": "talk.txt", "text": "\n".join(turns), "score": 1.0}
    asked = "What did Bob say about the advance of the caterer?"
    shown = assemble(asked, [talk], budget=budget).text.splitlines()

    assert turns[3] in shown
    assert all(turns[n - 1] in shown for n in (1, 3, 5) if turns[n] in shown)
