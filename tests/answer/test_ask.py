"""A context and a model: the answer as it arrives, then checked and priced."""

from __future__ import annotations

import asyncio
import re
from threading import current_thread, main_thread

import pytest

from foveate import BadInput, BadOption, ExternalError, ask, assemble, messages
from foveate.answer.ask import Answer, AskOptions, aask, aask_events, ask_events
from foveate.answer.check import check_answer
from foveate.answer.stream import CitationEvent
from foveate.models import model
from foveate.pipeline.prompts import LANGUAGES, REFUSALS, system_prompt
from foveate.ports import Reply, Usage
from foveate.providers.chat import load_model
from foveate.testing.fakes import ScriptedModel
from local_model import local_model
from model_servers import ANSWER, serving

FOUND = [
    {"text": "The well is nine metres deep.", "source": "wells.md", "score": 1},
    {"text": "The mill was built in 1880.", "source": "mill.md", "score": 0.5},
]
CONTEXT = assemble("How deep is the well?", FOUND, model="gpt-4o", prompt="grounded")


def told(text):
    """A model that says this."""
    return ScriptedModel(says=lambda messages: text)


def test_events_then_the_answer():
    """F8, C5: text and resolved markers as they come, the checked answer last."""
    *events, answer = ask_events(CONTEXT, told("It is nine metres deep [1]. It has a lid [7]."))
    marks = [event for event in events if isinstance(event, CitationEvent)]

    assert "".join(event.text for event in events) == answer.text
    assert [[one.source for one in mark.citations] for mark in marks] == [["wells.md"], []]
    assert [one.source for one in answer.citations] == ["wells.md"]
    assert [one.name for one in answer.check.dangling] == ["7"]


def test_the_same_without_blocking():
    """F8: `aask` gives what `ask` gives, of a model that is sync and of one that is not."""

    async def both(name):
        kept = [event async for event in aask_events(CONTEXT, name)]
        return kept[-1], await aask(CONTEXT, told(ANSWER))

    with serving("openai") as server:
        here = ask(CONTEXT, server.name)
        there, other = asyncio.run(both(server.name))

    assert here == there
    assert isinstance(there, Answer)
    assert (here.text, other.text) == (ANSWER, ANSWER)


def test_an_answer_is_checked_beside_the_event_loop(monkeypatch):
    """F8: what takes time is done on another thread, in the async calls alone."""
    threads = []

    def checked(*given, **options):
        threads.append(current_thread() is main_thread())
        return check_answer(*given, **options)

    monkeypatch.setattr("foveate.answer.ask.check_answer", checked)
    asyncio.run(aask(CONTEXT, told(ANSWER)))
    ask(CONTEXT, told(ANSWER))

    assert threads == [False, True]


@pytest.mark.parametrize(
    "limits", [{"timeout": float("nan")}, {"timeout": float("inf")}, {"max_tokens": 0}]
)
def test_limits_that_are_none(limits):
    """X1: refused where they are made."""
    with pytest.raises(BadOption, match=f"{next(iter(limits))} is"):
        AskOptions(**limits)


def test_what_the_model_is_told():
    """R5, F8: the system prompt, then context and question; limits from the budget."""
    with serving("openai") as server:
        ask(CONTEXT, server.name)
        ask(CONTEXT, server.name, AskOptions(system="Be short.", max_tokens=9, temperature=0.5))

    first, second = server.requests
    system, user = first["messages"]
    assert "like [1]" in system["content"]
    assert user["content"] == f"{CONTEXT.text}\n\n[End of context]\n\n{CONTEXT.query}"
    assert (first["max_tokens"], first["temperature"]) == (CONTEXT.budget.generation, 0)
    assert second["messages"][0]["content"] == "Be short."
    assert (second["max_tokens"], second["temperature"]) == (9, 0.5)


def test_a_voice_cites_by_what_it_says():
    """C4, F8: no marker is asked for or spoken; the source is found by the words."""
    heard = []

    def says(messages):
        heard.append(messages[0]["content"])
        return "The well is nine metres deep."

    context = assemble(
        "How deep is the well?", FOUND, model="gpt-4o", channel="voice", prompt="voice"
    )
    answer = ask(context, ScriptedModel(says=says), AskOptions(prompt="voice", channel="voice"))

    assert "[1]" not in heard[0]
    assert [one.source for one in answer.citations] == ["wells.md"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(text=" \n"), "answered with nothing; ask it again"),
        (Reply(text="", finish="length"), "its limit was spent before it wrote, give it more"),
    ],
)
def test_an_empty_answer_is_a_failure(reply, said):
    """X3: nothing is not handed on as if it were an answer."""

    class Mute(ScriptedModel):
        def stream(self, messages, **limits):
            yield reply

    with pytest.raises(ExternalError, match=f"model told: .*{said}"):
        ask(CONTEXT, Mute(says=str))


def test_what_an_answer_costs(monkeypatch):
    """F8: list price by usage, at the provider's own address; elsewhere no cost is said."""
    name, used = "anthropic:claude-haiku-4-5", Usage(prompt=31, completion=8, cached=16)

    class Hosted(ScriptedModel):
        def stream(self, messages, **limits):
            yield Reply(text=ANSWER, usage=used)

    hosted = ask(CONTEXT, Hosted(says=str, name=name))
    with serving("anthropic") as server:
        at_home = load_model(name).at_home
        elsewhere = ask(CONTEXT, server.name.replace("tiny", "claude-haiku-4-5"))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.name.partition("@")[2])
        through_another = ask(CONTEXT, name)

    assert hosted.cost == pytest.approx((15 * 1 + 16 * 0.1 + 8 * 5) / 1e6)
    assert at_home
    assert (elsewhere.cost, elsewhere.reply.usage) == (None, used)
    assert (through_another.cost, through_another.reply.usage) == (None, used)
    assert [load_model(one).at_home for one in ("openai:gpt-4o", "ollama:gpt-4o")] == [True, False]
    assert model("gpt-4.1").cost(Usage(prompt=10)) is None
    assert model("mistral").cost(Usage(prompt=10, completion=1)) is None


def test_a_real_model_answers_from_the_context():
    """F8, R5: a real small model reads a real context under a real system prompt."""
    answer = ask(CONTEXT, local_model(), AskOptions(max_tokens=24))

    assert "nine metres" in answer.text
    assert answer.reply.usage.prompt > CONTEXT.token_count
    assert answer.check.answer == answer.text


def test_a_model_that_fails_in_the_middle():
    """X3: what came is handed over, then the failure; no answer is made of it."""
    with serving("ollama", "error_midway") as server:
        events = ask_events(CONTEXT, load_model(server.name))
        assert next(events).text.startswith("The well")
        with pytest.raises(ExternalError, match="the pump stopped"):
            list(events)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_that_a_prompt_demands_is_no_fault(language):
    """R5, C3: the refusal that `strict` asks for is taken from the prompt, and is no claim."""
    demanded = system_prompt("strict", language=language)
    refusal = REFUSALS[language]
    assert refusal in demanded
    for said in (refusal, f"{refusal}\n", refusal.rstrip(".")):
        answer = ask(CONTEXT, told(said), AskOptions(prompt="strict", language=language))
        assert answer.check.no_fault_found
        assert [one.faults for one in answer.check.claims] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_soft_marks_as_general_knowledge_needs_no_source(language):
    """R5, C3: the mark that `soft` asks for says that no source stands behind the statement."""
    (mark,) = re.findall(r"\([^)]+\)", system_prompt("soft", language=language))
    said = f"The well is nine metres deep [1]. Wells of castles are deeper {mark}."
    answer = ask(CONTEXT, told(said), AskOptions(prompt="soft", language=language))

    assert [claim.faults for claim in answer.check.claims if claim.faults] == []


PARTS = {"model": "gpt-4o", "prompt": "grounded"}


@pytest.mark.parametrize("protocol", ["openai", "ollama", "anthropic"])
def test_a_context_of_parts_is_asked_about(protocol):
    """R1, R5, C3: text parts go to any model by name, and to one that knows none as text."""
    context = assemble("How deep is the well?", FOUND, format="openai-parts", **PARTS)
    with serving(protocol) as server:
        answer = ask(context, server.name)
    content = server.requests[0]["messages"][-1]["content"]

    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    shown = "\n\n".join(texts)
    assert shown.startswith(
        "[1] Source: wells.md\nThe well is nine metres deep.\n\n[2] Source: mill"
    )
    assert shown.endswith("\n\nHow deep is the well?")
    assert (answer.text, answer.check.no_fault_found) == (ANSWER, True)
    assert [one.source for one in answer.citations] == ["wells.md"]
    assert ask(context, told(ANSWER)).text == ANSWER


def test_blocks_of_earlier_turns_are_refused_where_the_provider_counts_them():
    """R1, C1: a number that the provider counts from the first turn on is not taken for ours."""
    context = assemble("How deep is the well?", FOUND, format="anthropic-document", **PARTS)
    first, question = messages(context)
    result = {"type": "tool_result", "tool_use_id": "t", "content": question["content"][:1]}
    said = {"role": "assistant", "content": "Nine metres."}

    for earlier in (question, {"role": "user", "content": [result]}):
        with pytest.raises(BadOption, match="holds blocks of earlier turns"):
            ask(context, told(ANSWER), sent=[first, earlier, said, question])
    with pytest.raises(BadInput, match="message 3 has parts that this model does not take"):
        ask(context, told(ANSWER), sent=[first, said, question])


@pytest.mark.parametrize("form", ["anthropic-search-result", "anthropic-document"])
def test_what_the_provider_cites_is_checked_like_markers(form):
    """R1, C3, C5: no marker is asked for; those that come resolve to the blocks that were sent."""
    context = assemble("How deep is the well?", FOUND, format=form, **PARTS)
    pieces = ("The well is nine metres deep.", " It was built in 1880.")
    with serving("anthropic", "cites", pieces=pieces, places=((0,), (1,))) as server:
        *events, answer = ask_events(context, server.name)
    sent = server.requests[0]

    assert [part["type"] for part in sent["messages"][0]["content"]] == [
        *[form.removeprefix("anthropic-").replace("-", "_")] * 2,
        *("text", "text"),
    ]
    assert "[" not in sent["system"]
    assert [e.citations[0].source for e in events if isinstance(e, CitationEvent)] == [
        "wells.md",
        "mill.md",
    ]
    assert [claim.markers for claim in answer.check.claims] == [(1,), (2,)]
    assert answer.check.claims[0].faults == ()
    with pytest.raises(BadInput, match="take another format"):
        ask(context, told(ANSWER))


def test_blocks_that_share_a_marker_cannot_be_cited_by_the_provider():
    """C1, R1: it counts blocks, so a number would come to mean another document."""
    found = [
        {"text": f"Part {n} of the well.", "source": "w.md", "document_id": "w", "sequence": n * 9}
        for n in range(2)
    ]
    context = assemble(
        "How deep?", found, budget=400, recipe="document-first", format="anthropic-search-result"
    )
    assert [block.marker for block in context.blocks] == [1, 1]
    with pytest.raises(BadOption, match="several have one marker"):
        ask(context, told(ANSWER))
