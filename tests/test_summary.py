"""A model's summary of older turns, and what happens where it fails."""

from __future__ import annotations

from threading import Event

import pytest

from foveate import Budget, Turn, converse
from foveate.core.errors import BadOption, OutsideFailure
from foveate.core.talk.turns import Call, Result
from foveate.dialogue import History, Summariser
from foveate.summary import summarise, transcript
from foveate.testing.fakes import Told, Words

LONG = "The pump hums. It is blue. The valve opens at 3 bar. It stands in the cellar. It is old."
TURNS = tuple(Turn(role=("user", "assistant")[n % 2], text=f"{LONG} {n}.") for n in range(12))
BUDGET = Budget(
    window=400, documents=20, conversation=130, system=0, query=20, generation=100, buffer=0
)
ASKED = {"turns": TURNS, "budget": BUDGET, "tokenizer": Words(), "history": History(verbatim=2)}


def summariser(says, **more):
    """One that says what it is told."""
    return Summariser(model=Told(says=says), **more)


def notes(conversation):
    """What the history says of its summary."""
    return conversation.history.trace.notes.get("summary", "")


def test_a_model_summarises_what_does_not_fit():
    """W1: older turns become the model's summary; the last ones stay; what it read is all of it."""
    read = []

    def says(messages):
        read.append(messages)
        return "They spoke of a blue pump, whose valve opens at 3 bar."

    made = converse("So?", summariser=summariser(says), **ASKED)

    ((system, user),) = read
    assert "Summarise" in system["content"]
    assert user["content"].startswith(f"User: {LONG} 0.\nAssistant: {LONG} 1.")
    first = made.openai()[0]["content"]
    assert first.startswith("Summary of the conversation so far:\nThey spoke of a blue pump")
    reasons = [d.reason for d in made.history.trace.decisions]
    assert reasons == ["turn_summarised"] * 10 + ["turn_recent"] * 2
    assert made.tokens["request"] <= 300


def test_no_model_is_asked_where_all_fits():
    """W1: a summary costs a call, so it is only asked for where turns do not fit."""

    def says(messages):
        raise AssertionError("asked")

    made = converse("So?", summariser=summariser(says), turns=TURNS[:4], budget=500)

    assert made.history.shown == TURNS[:4]


def _fails(messages):
    raise OutsideFailure("the model is down")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (_fails, "the model is down"),
        (lambda messages: " ", "the model wrote nothing"),
        (lambda messages: "word " * 999, "the model did not come to an end"),
        (lambda messages: "The valve opens at 9.5 bar.", "the model wrote 9.5, which no turn says"),
        (lambda messages: "The pump is blue. " * 30, "not needed, or too long"),
    ],
)
def test_a_summary_that_fails_is_said_and_sentences_are_taken(says, why):
    """W1, X3: whatever goes wrong, the turns are shortened by their sentences, on the trace."""
    made = converse("So?", summariser=summariser(says), **ASKED)
    plain = converse("So?", **ASKED)

    assert notes(made) == why
    assert made.openai() == plain.openai()


def test_a_model_that_does_not_answer_in_time_is_left_behind():
    """W1: the call has a time limit, which holds even if the model does not keep it."""
    never = Event()

    def says(messages):
        never.wait()
        return "Too late."

    summary = summarise(TURNS, 2, summariser(says, timeout=0.05), Words())
    never.set()

    assert summary.why == "no answer within 0.05 s"


def test_the_summarisers_own_call_fits_its_window():
    """W1, B1: a conversation longer than the model's window is shortened for it."""
    sizes = []

    def says(messages):
        sizes.append(sum(Words().count(message["content"]) for message in messages))
        return "They spoke."

    tool = Turn(
        role="assistant",
        calls=(Call(id="a", name="look"),),
        results=(Result(call_id="a", text=f"{LONG} " * 40),),
    )
    many = (*TURNS, tool) * 20
    summary = summarise(many, 0, summariser(says, window=700, max_tokens=100), Words())

    assert summary.text == "They spoke."
    assert sizes[0] <= 600
    assert sizes[0] > 300
    assert transcript((tool,), 9_999, Words()).startswith("Assistant calls look with {}\nTool: The")
    assert Words().count(transcript(TURNS, 3, Words())) <= 3


def test_a_summariser_without_room_is_refused():
    """X1: a window that holds no conversation, a time limit of nothing."""
    with pytest.raises(BadOption, match="leaves nothing to read"):
        summariser(str, window=600)
    with pytest.raises(BadOption, match="more than 0"):
        summariser(str, timeout=0)
    assert summarise(TURNS, 20, summariser(str), Words()).why == "no turn is old enough"
