"""Conversations in their zone: what stays, what is shortened, what is said of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import Turn, converse
from foveate.core.chat.history import HistoryFit, Summary
from foveate.core.chat.turns import TurnCitation, count_tokens
from foveate.core.compact.shorten import result_handle
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.zones import Budget
from foveate.testing.fakes import WordTokenizer

BUDGET = Budget(window=None, per_message=1, per_reply=0)
FACT = "The relief valve opens at three bar."
QUOTE = "Above three bar the relief valve opens by itself."
LONG = f"The pump hums. It is blue. {FACT} It stands in the cellar. Nobody likes it. It is old."
BIG = " ".join([*(f"The pump hums for hour {n} in its cellar." for n in range(40)), FACT])


def kept(turns, room, verbatim=4, summary=None, **more):
    """The conversation fitted, with `valve` asked for."""
    more.setdefault("query", "When does the relief valve open?")
    asked = {"budget": BUDGET, "tokenizer": WordTokenizer(), "verbatim": verbatim}
    return HistoryFit(turns=turns, **asked, **more).fit(room, summary)


def user(text, **more):
    """A user's turn."""
    return Turn({"role": "user", "content": text}, **more)


def said(text, **more):
    """An assistant's turn."""
    return Turn({"role": "assistant", "content": text}, **more)


def tool(name="t1", text=LONG):
    """A call with its result."""
    function = {"name": "look", "arguments": '{"at":"valve"}'}
    call = {"id": name, "type": "function", "function": function}
    return (
        Turn({"role": "assistant", "content": None, "tool_calls": [call]}),
        Turn({"role": "tool", "tool_call_id": name, "content": text}),
    )


def texts(conversation):
    """What is sent, a text for each message."""
    return [message.text for message in conversation.messages]


def reasons(conversation):
    """The reason for each message."""
    return [d.reason.removeprefix("message_") for d in conversation.trace.decisions]


def test_what_fits_is_as_it_was():
    """W1: nothing is touched while all fits."""
    turns = (user("Why?"), *tool(), said(LONG))

    conversation = kept(turns, 1_000)

    assert conversation.turns == turns
    assert conversation.places == (0, 1, 2, 3)
    assert not conversation.changed
    assert reasons(conversation) == ["kept"] * 4


def test_an_old_result_is_shortened_to_what_is_asked_and_recent_turns_are_not():
    """W1: sentences verbatim, what speaks to the query first; the last turns as they are."""
    turns = (user("Look."), *tool(text=BIG), user("And?"), said(LONG))

    conversation = kept(turns, 330, 2)

    short = next(text for text in texts(conversation) if "[shortened:" in text)
    assert FACT in short
    assert f"expand {result_handle(BIG)}]" in short
    assert len(short) < len(BIG)
    assert texts(conversation)[-1] == LONG
    assert conversation.tokens == count_tokens(conversation.messages, BUDGET, WordTokenizer())
    assert conversation.tokens <= 330
    assert BIG in conversation.originals.values()
    assert "result_shortened" in reasons(conversation)


@given(st.integers(20, 600))
def test_a_call_and_its_result_are_one(room):
    """W1, B1: in any room, both are sent or neither; and the room is kept."""
    turns = (user("Look."), *tool(text=BIG), said("Done."), *tool("t2"), user("Thanks."))

    conversation = kept(turns, room, 1)

    calls = [c.id for m in conversation.messages for c in m.entry.calls]
    results = [r.call_id for m in conversation.messages for r in m.entry.results]
    assert calls == results
    assert conversation.tokens <= room
    assert len(conversation.trace.decisions) == len(turns)


def test_pinned_turns_stay_in_full():
    """W1: whatever the room, a pinned turn and what the system said stay; else it is refused."""
    rule = user("Always answer in French, and never guess.", pinned=True)
    system = Turn({"role": "system", "content": "Be kind."})
    turns = (system, rule, said(LONG), user("So?"), said("Oui."))

    conversation = kept(turns, 22, 1)

    assert rule in conversation.turns
    assert system in conversation.turns
    assert conversation.tokens <= 22
    with pytest.raises(BudgetTooSmall, match="the conversation") as refused:
        kept(turns, 5, 1)
    assert kept(turns, refused.value.needed, 1).tokens == refused.value.needed


def cited(n=7, **more):
    """Evidence that a turn cites."""
    return TurnCitation(chunk_id=f"c{n}", source=f"m{n}.md", quote=QUOTE, **more)


@given(st.integers(1, 300))
def test_evidence_that_was_cited_survives(room):
    """W1: it is in its turn, or in a note with its source; never lost."""
    answer = f"The pump hums. It is blue. The relief valve opens at three bar [3]. {LONG}"
    turns = (user("When?"), said(answer, cited=(cited(),)), user("And the pump?"), said("It hums."))
    budget = Budget(window=None, documents=1, conversation=room, query=20)

    made = converse(
        "So?", turns=turns, budget=budget, zones=False, tokenizer=WordTokenizer(), verbatim=1
    )

    text = "\n".join(str(message["content"]) for message in made.openai())
    assert answer in text or "- m7.md" in text


@pytest.mark.parametrize("room", [60, 120, 300])
def test_a_note_names_the_latest_where_not_all_fit(room):
    """W1, W4: what was cited is named as far as there is room, latest first; the rest is said."""
    turns = [said(f"It is {n}.", cited=(cited(n),)) for n in range(100)]
    budget = Budget(window=None, documents=1, conversation=room, query=20)
    asked = {"budget": budget, "zones": False, "tokenizer": WordTokenizer(), "verbatim": 1}

    made = converse("And?", turns=turns, **asked)

    lead = made.openai()[0]["content"]
    first, more, *lines = lead.split("\n\n")[0].split("\n")
    assert first == "Cited earlier in this conversation:"
    gone = [int(entry.chunk_id[1:]) for entry in made.history.gone]
    assert lines == [f"- m{n}.md" for n in gone[len(gone) - len(lines) :]]
    assert more == f"- and {len(gone) - len(lines)} more, cited before"
    assert made.tokens["conversation"] <= room
    decisions = made.history.trace.decisions
    left = [d.chunk_id for d in decisions if d.reason == "citation_left_out"]
    assert left == [f"c{n}" for n in gone[: len(gone) - len(lines)]]


@pytest.mark.parametrize(
    ("query", "stays"),
    [
        ("And at what time of the day do they usually open in the summer months?", True),
        ("At what time of the day does the relief valve open in the summer months?", False),
    ],
)
def test_question_about_them_takes_the_turn_before(query, stays):
    """W1, U1: what a question refers to stays before the ledger has its part."""
    museums = "The museums are the Albertina, the Belvedere and the Kunsthaus in the old town. " * 4
    turns = (*[user(f"Pump {n}-{n + 100} hums.") for n in range(40)], said(museums))

    conversation = kept(turns, 134, 0, query=query)

    assert (turns[-1] in conversation.turns) == stays
    assert conversation.tokens <= 134


def test_a_summary_takes_the_place_of_the_older_turns():
    """W1: a model's summary is used where it makes all fit, and what it is of is said."""
    turns = (user(LONG), said(LONG), user("So?"), said("So."))
    summary = Summary(places=(1,), text="They spoke of the pump.")

    conversation = kept(turns, 30, 2, summary)
    too_long = kept(turns, 30, 2, Summary(places=(0, 1), text=LONG * 3))
    failed = kept(turns, 30, 2, Summary(why="it timed out"))

    assert reasons(conversation) == ["left_out", "turn_summarised", "kept", "kept"]
    assert texts(conversation)[0].endswith("They spoke of the pump.")
    assert [message.role for message in conversation.messages] == [
        *("user", "assistant", "user", "assistant")
    ]
    assert "turn_summarised" not in reasons(too_long)
    assert too_long.trace.notes["summary"] == "too long"
    assert failed.trace.notes["summary"] == "it timed out"


def test_what_was_sent_is_sent_again_as_it_was():
    """W4: with room freed, the list that was sent is the beginning of the next one."""
    turns = [said(f"{LONG} {n}") for n in range(8)]

    first = kept(turns, 150, 1, slack=50)
    again = kept((*first.turns, user("And now?")), 150, 1, slack=50)

    assert again.turns[:-1] == first.turns
    assert first.turns[0].derived
    assert texts(first)[0].startswith("[Ledger: ")


def test_values_of_what_is_not_shown_stand_in_front():
    """A3, W1: identifiers of turns that left stand in a ledger in front."""
    turns = (
        said(" ".join(f"Berth B_{n:02} is free for us." for n in range(60))),
        said("So it goes. " * 30),
        user("Then do."),
    )
    made = kept(turns, 240, 1)
    lead = texts(made)[0]
    assert lead.startswith("[Ledger: ")
    named = {word.strip(",") for word in lead.split()} & {f"B_{n:02}" for n in range(60)}
    assert len(named) > 40
    assert made.tokens <= 240


def test_options_that_mean_nothing_are_refused():
    """X1: fewer than no last turns."""
    with pytest.raises(BadOption, match="verbatim"):
        converse("So?", verbatim=-1)
