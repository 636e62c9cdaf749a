"""Conversations in their zone: what stays, what is shortened, what is said of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.chat.history import fit_history
from foveate.core.chat.history_fit import History, HistoryFit, Summary
from foveate.core.chat.turns import (
    ToolCall,
    ToolResult,
    Turn,
    TurnCitation,
    count_message_tokens,
    merge_joined,
)
from foveate.core.compact.shorten import result_handle
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.core.zones import Budget
from foveate.testing.fakes import WordTokenizer

BUDGET = Budget(window=None, per_message=1, per_reply=0)
FACT = "The relief valve opens at three bar."
QUOTE = "Above three bar the relief valve opens by itself."
PLAIN = History(verbatim=1, ledger=False)
LONG = f"The pump hums. It is blue. {FACT} It stands in the cellar. Nobody likes it. It is old."

BIG = " ".join([*(f"The pump hums for hour {n} in its cellar." for n in range(40)), FACT])


def weigh(messages):
    """Words, and two for each message."""
    return count_message_tokens(messages, BUDGET, WordTokenizer())


def kept(turns, room, options=None, **more):
    """The conversation fitted, with `valve` asked for."""
    more.setdefault("query", "When does the relief valve open?")
    new = more.pop("summary", None)
    told = more.pop("standing", None)
    options = options or History()
    return fit_history(
        HistoryFit(turns=turns, options=options, weigh=weigh, summary=told, **more), room, new
    )


def user(text, **more):
    """A user's turn."""
    return Turn(role="user", text=text, **more)


def said(text, **more):
    """An assistant's turn."""
    return Turn(role="assistant", text=text, **more)


def tool(name="t1", text=LONG, **more):
    """A call with its result."""
    return Turn(
        role="assistant",
        calls=(ToolCall(id=name, name="look", arguments='{"at":"valve"}'),),
        results=(ToolResult(call_id=name, text=text),),
        **more,
    )


def fates(conversation):
    """The reason for each turn."""
    return [d.reason.removeprefix("turn_") for d in conversation.trace.decisions]


def test_what_fits_is_as_it_was():
    """W1: nothing is touched while all fits."""
    turns = (user("Why?"), tool(), said(LONG))

    conversation = kept(turns, 1_000)

    assert conversation.shown == turns
    assert [m.text for m in conversation.messages] == ["Why?", "", LONG, LONG]
    assert fates(conversation) == ["recent"] * 3


def test_older_turns_are_shortened_to_what_is_asked_and_recent_ones_are_not():
    """W1: sentences verbatim, what speaks to the query first; the last turns as they are."""
    turns = (user("Hi there."), said(BIG), user("And?"), said(LONG))

    conversation = kept(turns, 250, History(verbatim=2))

    assert fates(conversation) == ["kept", "shortened", "recent", "recent"]
    short = next(m.text for m in conversation.messages if "[shortened:" in m.text)
    assert FACT in short
    assert all(part.strip() in BIG for part in short.split("\n")[0].split("[…]"))
    assert len(short) < len(BIG) / 2
    assert conversation.messages[-1].text == LONG
    assert conversation.tokens == weigh(list(conversation.messages)) <= 250
    assert BIG in conversation.originals.values()


def test_a_call_and_its_result_are_one():
    """W1: shortened or left out, never apart; a turn whose results do not match cannot be made."""
    turns = (user("Look it up."), tool(text=BIG), said("Done."), user("Thanks."))

    short = kept(turns, 200, PLAIN)
    none = kept(turns, 8, PLAIN)

    assert [m.role for m in short.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert short.messages[1].calls == turns[1].calls
    assert FACT in short.messages[2].text
    assert short.messages[2].text.endswith(f"expand {result_handle(BIG)}]")
    assert [m.role for m in none.messages] == ["assistant", "user"]
    assert fates(none) == ["left_out", "left_out", "kept", "recent"]
    call = ToolCall(id="a", name="look")
    for results in ((), (ToolResult(call_id="b", text=""),)):
        with pytest.raises(BadInput, match="each once"):
            Turn(role="assistant", calls=(call,), results=results)


def test_the_last_turns_yield_to_the_last_of_them():
    """W1, A3: the last turns are shortened rather than refused, the last of them stays."""
    turns = (user("Look."), tool(text=BIG), tool("t2", text=BIG + " So it is."))

    conversation = kept(turns, 60, History(verbatim=4))

    assert conversation.tokens <= 60
    assert conversation.shown[2] is not None
    assert conversation.shown[2].calls == turns[2].calls
    assert conversation.wants > 600


def test_pinned_turns_stay_in_full():
    """W1: whatever the room, a pinned turn and what the system said stay; else it is refused."""
    rule = user("Always answer in French, and never guess.", pinned=True)
    turns = (Turn(role="system", text="Be kind."), rule, said(LONG), user("So?"), said("Oui."))

    conversation = kept(turns, 22, PLAIN)

    assert rule in conversation.shown
    assert turns[0] in conversation.shown
    assert fates(conversation) == ["pinned", "pinned", "left_out", "kept", "recent"]
    with pytest.raises(BudgetTooSmall, match="the conversation") as refused:
        kept(turns, 5, PLAIN)
    assert kept(turns, refused.value.needed, PLAIN).tokens == refused.value.needed


@given(st.integers(1, 120))
def test_evidence_that_was_cited_survives(room):
    """W1: in its sentence, or as a note with its source and words, or refused; never lost."""
    cited = TurnCitation(chunk_id="c7", source="valve.md", quote=QUOTE, marker=3)
    answer = f"The pump hums. It is blue. The relief valve opens at three bar [3]. {LONG}"
    turns = (user("When?"), said(answer, cited=(cited,)), user("And the pump?"), said("It hums."))

    try:
        conversation = kept(turns, room, History(verbatim=1))
    except BudgetTooSmall as refused:
        room = refused.needed
        conversation = kept(turns, room, History(verbatim=1))

    text = "\n".join(message.text for message in conversation.messages)
    assert conversation.shown[1] == turns[1] or "valve.md" in text
    if conversation.shown[1] not in (None, turns[1]):
        assert "at three bar [3]" in text
    assert conversation.tokens <= room


def test_a_note_stands_before_the_first_users_message():
    """W1: what was cited is carried on in the user's own message, so that roles alternate."""
    cited = TurnCitation(chunk_id="c7", source="valve.md", quote=QUOTE, marker=3)
    turns = (user("When?"), said(f"{LONG} {LONG}", cited=(cited,)), user("And?"))

    session = kept(turns, 24, History(verbatim=1), live=frozenset({3}))
    single = kept(turns, 24, History(verbatim=1))

    (message,) = merge_joined(session.messages)
    assert message.text == (
        f"Cited earlier in this conversation:\n- [3] valve.md: “{QUOTE}”\n\nAnd?"
    )
    assert "- valve.md: “Above" in merge_joined(single.messages)[0].text


@pytest.mark.parametrize("room", [20, 40, 80, 150])
def test_a_note_names_the_latest_where_not_all_fit(room):
    """W1, W4: what was cited is named as far as there is room, latest first; the rest is said."""
    turns = tuple(
        said(f"It is {n}.", cited=(TurnCitation(chunk_id=f"c{n}", source=f"m{n}.md", quote=QUOTE),))
        for n in range(100)
    )

    conversation = kept((*turns, user("And?")), room, PLAIN)

    first, *lines = conversation.messages[0].text.split("\n")
    more, *lines = [line.removeprefix("- ") for line in lines]
    assert first == "Cited earlier in this conversation:"
    assert lines
    assert conversation.tokens <= room
    last = len([s for s in conversation.shown if s is None])
    assert lines == [f"m{n}.md" for n in range(last - len(lines), last)]
    assert more == f"and {last - len(lines)} more, cited before"
    left = [d.chunk_id for d in conversation.trace.decisions if d.reason == "citation_left_out"]
    assert left == [f"c{n}" for n in range(last - len(lines))]


def test_a_question_is_not_left_out_when_its_answer_stays():
    """W1: recent turns that begin with an answer keep its question, shortened at the most."""
    turns = (user(BIG), tool(text=BIG), said("Answer one."), user("So?"), said("So."))

    conversation = kept(turns, 55, History(verbatim=3, ledger=False))

    assert fates(conversation) == ["shortened", "left_out", "recent", "recent", "recent"]
    assert [m.role for m in conversation.messages] == ["user", "assistant", "user", "assistant"]


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

    conversation = kept(turns, 134, History(verbatim=0), query=query)

    assert (conversation.shown[-1] is not None) == stays
    assert conversation.tokens <= 134


@pytest.mark.parametrize("mark", ["[2-4]", "【3】", "[SOURCE 3]"])
def test_sentences_with_any_form_of_a_marker_stay(mark):
    """W1: a shortened turn keeps the sentence that cites, however the marker is written."""
    cited = TurnCitation(chunk_id="c7", source="valve.md", marker=3)
    answer = f"{BIG} The drain is in the yard {mark}. {BIG} See `x[3]` for that. {BIG}"
    turns = (said(answer, cited=(cited,)), user("And?"))

    conversation = kept(turns, 100, PLAIN, live=frozenset({3}))

    assert f"in the yard {mark}" in conversation.messages[0].text
    assert "x[3]" not in conversation.messages[0].text
    assert "carried" not in conversation.trace.notes


def test_a_marker_that_still_stands_needs_no_note():
    """W4, W1: in a session, a shortened answer whose marker is in the documents says enough."""
    cited = TurnCitation(chunk_id="c7", source="valve.md", quote=QUOTE, marker=3)
    turns = (said(f"{BIG} It opens at three bar [3].", cited=(cited,)), user("And?"))

    assert "carried" not in kept(turns, 100, PLAIN, live=frozenset({3})).trace.notes
    assert kept(turns, 100, PLAIN, live=frozenset({1})).trace.notes["carried"] == 1


def test_a_summary_takes_the_place_of_the_older_turns():
    """W1: a model's summary is used where it makes all fit, and what it is of is said."""
    turns = (user(LONG), said(LONG), user("So?"), said("So."))
    summary = Summary(turns=2, text="They spoke of the pump.")

    conversation = kept(turns, 30, History(verbatim=2), summary=summary)
    too_long = kept(turns, 30, History(verbatim=2), summary=Summary(turns=2, text=LONG * 3))
    failed = kept(turns, 30, History(verbatim=2), summary=Summary(turns=2, why="it timed out"))

    assert fates(conversation) == ["summarised", "summarised", "recent", "recent"]
    assert conversation.messages[0].text.endswith("They spoke of the pump.")
    assert "summarised" not in fates(too_long)
    assert too_long.trace.notes["summary"] == "not needed, or too long"
    assert failed.trace.notes["summary"] == "it timed out"


def test_a_summary_stands_as_long_as_it_goes():
    """W4: it is sent again as it was; a new one takes its place; without room for it it leaves."""
    turns = (user(LONG), said(LONG), user("So?"), said("So."), user("And now?"))
    standing = Summary(turns=2, unread=(0,), text="They spoke of the pump.")
    told = {"before": (None, None, *turns[2:4]), "standing": standing}

    again = kept(turns, 30, History(verbatim=2), **told)
    newer = Summary(turns=4, text="All of it.")
    anew = kept(turns, 22, History(verbatim=1), summary=newer, **told)
    without = kept(turns, 16, History(verbatim=2), **told)

    assert fates(again) == ["left_out", "summarised", "kept", "recent", "recent"]
    assert again.summary is standing
    assert again.messages[0].text.endswith("They spoke of the pump.")
    assert (fates(anew)[:2], anew.summary) == (["summarised"] * 2, newer)
    assert (fates(without)[:2], without.summary) == (["left_out"] * 2, None)
    assert not any("pump" in message.text for message in without.messages)


def test_slack_keeps_what_was_sent_as_it_was():
    """W4: with slack, what was shortened once stays so while more is said."""
    options = History(verbatim=1, slack=25)
    turns = tuple(said(f"{LONG} {n}") for n in range(8))

    first = kept(turns, 150, options)
    told = {"before": first.shown, "ledger": first.ledger}
    again = kept((*turns, user("And now?")), 150, options, **told)

    assert first.tokens <= 150 * 75 // 100 + weigh([])
    older = again.messages[: len(first.messages) - 1]
    assert older == first.messages[:-1]
    assert older[0].text == again.ledger
    assert (again.ledger, again.shown[:-1]) == (first.ledger, first.shown)
    without = kept(turns, 150, options, withdrawn=frozenset({5}), **told)
    assert "#6 " not in without.ledger


def test_turns_that_may_not_be_shown_are_not():
    """W4, I4: a withdrawn turn is gone, pinned or not, its citations too, and it is said."""
    cited = TurnCitation(chunk_id="c7", source="valve.md", quote=QUOTE)
    turns = (user("When?"), said(FACT, cited=(cited,), pinned=True), user("And?"))

    conversation = kept(turns, 100, withdrawn=frozenset({1}))

    assert fates(conversation) == ["recent", "withdrawn", "recent"]
    assert "valve" not in "".join(message.text for message in conversation.messages)


def test_options_that_mean_nothing_are_refused():
    """X1: slack over 90 per cent, a word that is no choice, a role that is none."""
    with pytest.raises(BadOption, match="slack"):
        History(slack=91)
    with pytest.raises(BadInput, match="role"):
        Turn(role="tool")
    with pytest.raises(BadInput, match="cannot call tools"):
        Turn(
            role="user",
            calls=(ToolCall(id="a", name="b"),),
            results=(ToolResult(call_id="a", text=""),),
        )
    with pytest.raises(BadInput, match="surrogate"):
        user("\ud83d")


@pytest.mark.parametrize("room", range(60, 260, 7))
def test_question_of_a_long_turn_stands_beside_its_handle(room):
    """A3, W1: a long turn of a person that left is quoted, and its handle is given."""
    asked = "Which berth is free in May?"
    told = " ".join(f"We came to berth B_{n:02} in spring." for n in range(30))
    turns = (user(f"{told} {asked}"), said("So it goes. " * 60), user("Then do."))
    made = kept(turns, room, History(verbatim=1), query="So?")
    assert made.tokens <= room
    lead = made.messages[0].text
    if lead.startswith("[Ledger: ") and "(expand" in lead.splitlines()[1]:
        assert f"\u201c{asked}\u201d" in lead.splitlines()[1]
    if room > 150:  # in the turn where that stays, beside its handle
        assert any(asked in message.text for message in made.messages)


def test_values_of_what_is_not_shown_stand_in_front():
    """A3, W1: identifiers of turns that left stand in front, but not those of withdrawn turns."""
    turns = (
        said(" ".join(f"Berth B_{n:02} is free for us." for n in range(60))),
        said("The key is KEY-9911. " * 30),
        said("So it goes. " * 30),
        user("Then do."),
    )
    made = kept(turns, 240, History(verbatim=1), withdrawn=frozenset({1}))
    lead = made.messages[0].text
    assert lead.startswith("[Ledger: ")
    shown = "".join(message.text for message in made.messages[1:])
    assert "- #1 assistant (expand " in lead
    assert "“Berth B_00 is free for us.”" in lead
    named = {word.strip(",") for word in lead.split()} & {f"B_{n:02}" for n in range(60)}
    assert len(named) > 40
    assert not named & set(shown.split())
    assert "KEY-9911" not in str(made.messages)
    assert made.tokens <= 240
    assert "[Ledger" not in str(kept(turns, 240, History(verbatim=1, ledger=False)).messages)


def test_sentences_are_told_apart_by_the_language_of_the_conversation():
    """W1: a German abbreviation ends no sentence, in excerpts of what left and in short texts."""
    filler = " ".join(f"Satz {n} sagt nichts über das Ventil und seine Feder." for n in range(40))
    told = f"{filler} Das Ventil öffnet ggf. Montag gegen Mittag. {filler}"
    turns = (said(told), *(user(f"Frage {n}?") for n in range(3)))

    for language, whole in (("de", True), ("en", False)):
        made = kept(
            turns, 160, History(verbatim=1), query="Wann öffnet das Ventil?", language=language
        )
        text = str(made.messages)
        assert "öffnet ggf." in text
        assert f"of {81 if whole else 82} parts" in text  # its other half may be shown beside it
