"""A session whose older turns a model summarises, and the ways that do not block."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from threading import current_thread, main_thread

import pytest

from foveate import Assembler, Budget, Session, converse, proceed
from foveate.core.errors import BadInput
from foveate.pipeline.conversation import Summariser, aconverse
from foveate.pipeline.sessions import (
    aproceed,
    session_from_json,
    session_to_json,
)
from foveate.testing.fakes import ScriptedModel, WordTokenizer
from text_store import EMBEDDER, stored

LONG = "The pump hums all day. It is painted blue. It stands in the cellar by the stairs."
BUDGET = Budget(
    window=420, documents=40, conversation=120, system=0, query=20, generation=100, buffer=0
)
KEPT = {
    "budget": BUDGET,
    "tokenizer": WordTokenizer(),
    "zones": False,
    "verbatim": 2,
}
FOUND = [{"id": "p", "text": "The valve opens at 3 bar.", "source": "pump.md", "score": 0.9}]


def talked(turns, by, **more):
    """A session after so many turns, and the last request."""
    session, made = Session(), None
    for n in range(turns):
        read = session_from_json(json.loads(json.dumps(session_to_json(session))))
        assert read == session
        made = proceed(read, f"Question {n}?", FOUND, summariser=by, **KEPT, **more)
        session = made.session.with_answer(f"{LONG} At 3 bar [1].")
    return session, made


def counting(says="They spoke of a blue pump [1]."):
    """A summariser, and what it was asked."""
    asked = []

    def told(messages):
        asked.append(messages[-1]["content"])
        return says

    return Summariser(model=ScriptedModel(says=told)), asked


def summary(session):
    """The summary that a session sends; empty: none."""
    texts = (turn.message["content"] for turn in session.turns if turn.derived)
    return next((text for text in texts if text.startswith("Summary")), "")


def lead(made):
    """What stands in front of the conversation, behind the documents."""
    return made.openai()[0]["content"]


def test_a_summary_stands_until_more_has_to_go():
    """W1, W4: the model is asked where turns do not fit; what it said keeps its bytes and place."""
    by, asked = counting()
    calls, leads, repacked = [], [], []
    session = Session()
    for n in range(14):
        made = proceed(session, f"Question {n}?", FOUND, summariser=by, **KEPT)
        session = made.session.with_answer(f"{LONG} At 3 bar [1].")
        calls.append(len(asked))
        leads.append(lead(made))
        repacked.append(made.reuse.repacked)
        assert made.conversation.tokens["conversation"] <= 120

    first = calls.index(1)
    assert first >= 3
    assert "Summary of the conversation so far:\nThey spoke of a blue pump [1]." in leads[first]
    assert 1 < calls[-1] < 14 - first  # not at every turn
    for n in range(first + 1, 14):
        if calls[n] == calls[n - 1]:
            assert leads[n] == leads[n - 1]
    assert set(repacked) == {""}
    assert summary(session)
    assert "Question 0?" in asked[0]
    assert "They spoke of a blue pump" in asked[-1]


def test_no_summary_where_all_fits():
    """W1: it costs a call, so nobody is asked before."""
    by, asked = counting()
    session, made = talked(2, by)
    assert (asked, summary(session)) == ([], "")
    assert "Summary" not in json.dumps(made.openai())


def test_a_summary_that_fails_is_said_and_sentences_are_taken():
    """W1, X3: the trace says why, the turns are shortened, and the session goes on."""
    by, asked = counting("It opens at 9 bar.")
    session, made = talked(8, by)
    notes = made.conversation.history.trace.notes

    assert notes["summary"] == "the model wrote 9, which no turn says"
    assert summary(session) == ""
    assert asked
    reasons = {d.reason for d in made.conversation.history.trace.decisions}
    assert "message_left_out" in reasons


def test_a_summary_leaves_with_what_it_speaks_of():
    """W4, X5: where what it was of may not be read any more, it is neither sent nor summarised."""
    by, asked = counting("They spoke of the code heron.")
    secret = [{**FOUND[0], "id": "s", "text": "The code is heron."}]
    session = Session()
    for n in range(8):
        made = proceed(session, f"Bird {n}?", secret, summariser=by, **KEPT)
        session = made.session.with_answer(f"{LONG} It is heron [1].")
    assert summary(session)
    before = len(asked)

    gone = proceed(session, "What is it?", FOUND, summariser=by, current={}, **KEPT)

    everything = json.dumps([gone.openai(), session_to_json(gone.session)]).lower()
    assert "heron" not in everything
    assert not any("heron" in said.lower() for said in asked[before:])
    assert gone.conversation.history.trace.notes["withdrawn"] > 1


class Beside:
    """A store that is awaited, over one that is not."""

    def __init__(self, store):
        self._store, self.threads = store, []

    def __getattr__(self, name):
        async def method(*given, **options):
            self.threads.append(current_thread() is main_thread())
            return getattr(self._store, name)(*given, **options)

        return method


def test_the_ways_that_do_not_block(tmp_path: Path):
    """W1, W4, F1: the same requests, from a store that is awaited too, with a model's summary."""
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"{LONG} {n}."} for n in range(9)]
    asked = {"turns": turns, **KEPT}
    session = talked(6, None)[0]

    async def both(store):
        beside = Assembler(store=Beside(store), embedder=EMBEDDER)
        return (
            await aconverse("When?", FOUND, summariser=counting()[0], **asked),
            await aproceed(session, "When?", store=beside, summariser=counting()[0], **KEPT),
            await aproceed(session, "When?", FOUND, **KEPT),
            beside.store.threads,
        )

    with stored(tmp_path / "s", {"kiln.md": "The kiln is fired on Mondays."}) as store:
        talk, searched, given, threads = asyncio.run(both(store))
        here = Assembler(store=store, embedder=EMBEDDER)
        same = proceed(session, "When?", store=here, summariser=counting()[0], **KEPT)

    assert talk == converse("When?", FOUND, summariser=counting()[0], **asked)
    assert searched == same
    assert given == proceed(session, "When?", FOUND, **KEPT)
    assert [block.source for block in searched.context.blocks] == ["kiln.md"]
    assert len(threads) == 2  # the search, and what is left of what was sent
    with pytest.raises(BadInput, match="the query is empty"):
        asyncio.run(aconverse("", FOUND))
    store.close()
