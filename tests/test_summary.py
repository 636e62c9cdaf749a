"""A model's summary of older turns, and what happens where it fails."""

from __future__ import annotations

from threading import Event

import pytest

from foveate import Budget, Turn, converse
from foveate.core.chat.turns import read_turns
from foveate.core.errors import BadOption, ExternalError
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.pipeline.conversation import Summariser
from foveate.pipeline.history_summary import build_transcript, summarise
from foveate.testing.fakes import ScriptedModel, WordTokenizer

LONG = "The pump hums. It is blue. The valve opens at 3 bar. It stands in the cellar. It is old."
TURNS = tuple({"role": ("user", "assistant")[n % 2], "content": f"{LONG} {n}."} for n in range(12))
BUDGET = Budget(
    window=400, documents=20, conversation=130, system=0, query=20, generation=100, buffer=0
)
ASKED = {
    "turns": TURNS,
    "budget": BUDGET,
    "tokenizer": WordTokenizer(),
    "verbatim": 2,
}


def summariser(says, **more):
    """One that says what it is told."""
    return Summariser(model=ScriptedModel(says=says), **more)


def summed(turns, verbatim, by):
    """The summary of turns."""
    recipe = builtin_recipes()["chat"]
    inputs = Inputs(query="So?", candidates=(), recipe=recipe, budget=BUDGET)
    return summarise([*map(Turn, turns)], verbatim, inputs, by, WordTokenizer())


def transcript(turns, room, tokenizer=None):
    """What a model is shown of turns."""
    return build_transcript(read_turns(list(map(Turn, turns))), room, tokenizer or WordTokenizer())


def called(name="look", arguments="{}", text="No."):
    """A call with its result."""
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
    return (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": text},
    )


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
    assert reasons == ["turn_summarised"] * 10 + ["message_kept"] * 2
    assert made.tokens["request"] <= 300


def test_no_model_is_asked_where_all_fits():
    """W1: a summary costs a call, so it is only asked for where turns do not fit."""

    def says(messages):
        raise AssertionError("asked")

    made = converse("So?", summariser=summariser(says), turns=TURNS[:4], budget=500)

    assert [turn.message for turn in made.history.turns] == list(TURNS[:4])


def _fails(messages):
    raise ExternalError("the model is down")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (_fails, "the model is down"),
        (lambda messages: " ", "the model wrote nothing"),
        (lambda messages: "word " * 999, "the model did not come to an end"),
        (lambda messages: "The valve opens at 9.5 bar.", "the model wrote 9.5, which no turn says"),
        (lambda messages: "The pump is blue. " * 30, "too long"),
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

    summary = summed(TURNS, 2, summariser(says, timeout=0.05))
    never.set()

    assert summary.why == "no answer within 0.05 s"


def test_the_summarisers_own_call_fits_its_window():
    """W1, B1: a conversation longer than the model's window is shortened for it."""
    sizes = []

    def says(messages):
        sizes.append(sum(WordTokenizer().count(message["content"]) for message in messages))
        return "They spoke."

    many = (*TURNS, *called(text=f"{LONG} " * 40)) * 20
    summary = summed(many, 0, summariser(says, window=700, max_tokens=100))

    assert summary.text == "They spoke."
    assert sizes[0] <= 600
    assert sizes[0] > 300
    read = transcript(called(text=LONG), 9_999)
    assert read == ["Assistant calls look with {}", f"Tool: {LONG}"]
    assert transcript(TURNS, 2) == []


def _fact(n):
    """A turn that cannot be shortened, with a word of its own."""
    text = f"fact{n} " + " ".join(f"thing{j}" for j in range(60))
    return {"role": ("user", "assistant")[n % 2], "content": text}


def test_what_the_model_was_not_shown_is_not_said_to_be_summarised():
    """W1: turns that did not fit the summariser's window are left out, and that is said."""
    read = []

    def says(messages):
        read.append(messages[1]["content"].split())
        return "They spoke."

    turns = tuple(_fact(n) for n in range(60))
    budget = Budget(window=None, documents=20, conversation=500, query=20)
    made = converse(
        "So?", turns=turns, budget=budget, zones=False, tokenizer=WordTokenizer(),
        verbatim=2, summariser=summariser(says, window=1_000, max_tokens=100),
    )  # fmt: skip

    (words,) = read
    reasons = [d.reason for d in made.history.trace.decisions]
    assert 5 < reasons.count("turn_summarised") < 58
    for n, reason in enumerate(reasons[:58]):
        assert reason == ("turn_summarised" if f"fact{n}" in words else "message_left_out")


def test_one_long_text_does_not_push_out_the_others():
    """W1: a result longer than the summariser's window is cut; what was said before it is read."""
    log = called("log", " ".join(["arg"] * 5_000), " ".join(["line"] * 9_000))

    read = "\n".join(transcript((*TURNS, *log), 600))

    assert "User: " in read
    assert "Tool: line line" in read
    assert "…" in read
    assert WordTokenizer().count(read) <= 600


def test_a_model_that_can_be_shown_nothing_is_not_asked():
    """W1: where no turn fits the summariser's window it is said, and sentences are taken."""

    def says(messages):
        raise AssertionError("asked")

    turns = called("look " * 600, text="No. " * 900)[:1]
    summary = summed(turns, 0, summariser(says, window=700, max_tokens=100))

    assert (summary.text, summary.why) == ("", "no turn fits the model's window")


class Lines(WordTokenizer):
    """Counts each break of a line as two tokens, which no message has by itself."""

    def count(self, text):
        """Words, and more for what joins them."""
        return super().count(text) + 2 * text.count("\n")


def test_what_joining_adds_to_a_transcript_is_counted():
    """W1: the text as it is sent fits, whatever stands between its lines; the oldest go first."""
    turns = [{"role": "user", "content": f"Note {n}."} for n in range(20)]
    read = transcript(turns, 60, Lines())

    assert 0 < Lines().count("\n".join(read)) <= 60
    assert read[-1] == "User: Note 19."


def test_a_summariser_without_room_is_refused():
    """X1: a window that holds no conversation, a time limit of nothing."""
    with pytest.raises(BadOption, match="leaves nothing to read"):
        summariser(str, window=600)
    with pytest.raises(BadOption, match="more than 0"):
        summariser(str, timeout=0)
    assert summed(TURNS, 20, summariser(str)).why == "no turn is old enough"
