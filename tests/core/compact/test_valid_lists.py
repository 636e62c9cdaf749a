"""Lists that strict providers and templates take: turns, reasoning, payloads said once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BudgetTooSmall, compact
from message_lists import FORMS, PAGE, Step, parts, sessions, spell, take_turns

ROWS = [{"berth": f"B-{n:03}", "boat": f"Boat {n}"} for n in range(40)]
PLAIN = json.dumps(ROWS)
BRIDGE = "[\u2026]"


def talk(turns, form):
    """People and the model take turns, and between two questions a tool is called."""
    steps = []
    for n in range(turns):
        call = ("read", json.dumps({"page": n}))
        steps += [
            Step("user", f"Question {n}: what does pump_{n:02} do?"),
            Step("tools", calls=(call,), results=(f"{n}: {PAGE}",)),
            Step("assistant", f"It opens valve V-{n:02}. " * 9),
        ]
    return spell([*steps, Step("user", "And now?")], form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget", [150, 300, 600, 1_200])
def test_roles_take_turns_as_they_did(form, budget):
    """A12: behind the ledger too, and where a turn between two pinned messages left."""
    messages = talk(9, form)
    for pinned in ((), (0,)):
        made = compact(messages, budget=budget, form=form, pinned=pinned)
        assert take_turns(messages)
        assert take_turns(made.messages)
        assert made.token_count <= budget


@given(sessions, st.sampled_from(FORMS), st.integers(60, 900))
def test_whatever_took_turns_does(steps, form, budget):
    """A12: lists of any kind, as long as what must stay leaves room for a turn in between."""
    messages = spell(steps, form)
    try:
        made = compact(messages, budget=budget, form=form)
    except BudgetTooSmall:
        return
    if take_turns(messages) and made.token_count + 3 < budget:
        assert take_turns(made.messages)


@pytest.mark.parametrize("form", FORMS)
def test_what_took_a_turn_is_no_message_of_the_next_list(form):
    """A12, A3: an agent that goes on with what came out counts the messages of the first list."""
    messages = talk(6, form)
    sent = list(compact(messages[:-1] + messages[-1:], budget=200, form=form).messages)
    texts = [text for _, _, text in parts(sent)]
    assert BRIDGE in texts
    more = spell([Step("assistant", "So. " * 90), Step("user", "Well?")], form)
    made = compact([*sent, *more], budget=200, form=form)
    left = len(messages) + len(more) - sum(place >= 0 for place in made.places)
    assert made.ledger.startswith(f"[Ledger: messages 1-{left} left")
    assert f"\u201c{BRIDGE}\u201d" not in made.ledger


def thought(name):
    """Reasoning of the model, as the Responses API has it."""
    return {"type": "reasoning", "id": name, "summary": []}


@pytest.mark.parametrize("place", ["before the user", "at the end", "two", "before a result"])
def test_reasoning_with_nothing_behind_it_leaves(place):
    """A12: as half of a step, where anything leaves; a provider refuses it."""
    base = spell([Step("user", "Find pump AB-1."), *(_step(n) for n in range(5))], "responses")
    asked = spell([Step("user", "Go on.")], "responses")
    messages = {
        "before the user": [*base, thought("lost"), *asked],
        "at the end": [*base, *asked, thought("lost")],
        "two": [*base, thought("lost"), thought("lost2"), *asked],
        "before a result": [*base[:-1], thought("lost"), base[-1], *asked],
    }[place]
    made = compact(messages, budget=400)
    assert "lost" not in json.dumps(made.messages)
    assert {d.reason for d in made.decisions if d.action == "dropped"} >= {"message_orphaned"}
    for one, behind in zip(made.messages, [*made.messages[1:], {}], strict=True):
        if one.get("type") == "reasoning":
            assert behind.get("type") in ("function_call", "reasoning")


def _step(n):
    return Step("tools", calls=(("look", json.dumps({"n": n})),), results=(f"{n}: {PAGE}",))


def answered(texts, form):
    """A question, a call, and a result of several texts."""
    steps = [Step("user", "Which berth has Boat 17?")]
    steps.append(Step("tools", calls=(("list", "{}"),), results=("",)))
    messages = spell(steps, form)
    blocks = [{"type": "text", "text": text} for text in texts]
    if form == "anthropic":
        messages[-1] = {**messages[-1], "content": [{**messages[-1]["content"][0]}]}
        messages[-1]["content"][0]["content"] = blocks
    else:
        messages[-1] = {**messages[-1], "content": blocks}
    return messages


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "again",
    [
        PLAIN,
        json.dumps(ROWS, indent=2),
        json.dumps({"result": PLAIN}),
        json.dumps({"result": ROWS}),
        json.dumps([dict(reversed(row.items())) for row in ROWS]),
    ],
)
def test_a_payload_that_comes_twice_is_sent_once(form, again):
    """A5: a text and the same structured, as MCP has them, however it is spelled."""
    messages = answered([PLAIN, again], form)
    for budget, more in ((1_000, []), (2_000, [Step("assistant", "B. " * 400)])):
        came = [*messages, *spell([*more, *([Step("user", "And 18?")] if more else [])], form)]
        sent = json.dumps(compact(came, budget=budget, form=form).messages)
        assert sent.count('Boat 17\\"') == 1
    assert compact(messages, budget=9_000, form=form).messages == messages


def test_other_texts_of_a_result_are_no_copies():
    """A5: as much as one number apart."""
    other = json.dumps([*ROWS[:-1], {"berth": "B-999", "boat": "Boat 39"}])
    made = compact(answered([PLAIN, other], "openai"), budget=2_000)
    assert "B-999" in json.dumps(made.messages)


@pytest.mark.parametrize("arguments", ["{}", "", '{"size": 8}'])
def test_pages_of_the_same_call_are_no_polls(arguments):
    """A5: the next page replaces none before it; a state that was asked for again does."""

    def results(text):
        call = ("next_page", arguments)
        steps = [Step("tools", calls=(call,), results=(text(n),)) for n in range(1, 7)]
        made = compact(spell([Step("user", "Sum all."), *steps], "openai"), budget=500)
        return made, [d.reason for d in made.decisions if d.reason == "result_superseded"]

    def page(n):
        rows = [{"invoice": f"INV-{n}{k:02}", "paid": f"{1_000 * n + 37 * k}.25"} for k in range(9)]
        return json.dumps(rows)

    made, superseded = results(page)
    assert superseded == []
    assert "INV-100" in json.dumps(made.messages)
    state = {"job": "build-77", "stage": ["fetch", "compile", "link"], "log": PAGE, "host": "h-7"}
    _, superseded = results(lambda n: json.dumps({**state, "progress": n * 13}))
    assert len(superseded) == 5
