"""Reasoning before an answer is no part of it, and a request that was cut is said (C3, C5, F8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble
from foveate.answer.ask import ask, ask_events
from foveate.answer.check import check_answer
from foveate.answer.reasoning import HEADS, MARKS, ReasoningFilter, split_reasoning
from foveate.answer.stream import CitationEvent, resolve_stream
from foveate.core.errors import ExternalError
from foveate.ports import Reply, Usage
from foveate.testing.fakes import ScriptedModel

CONTEXT = assemble(
    "When does the lock open?", [{"text": "The lock opens at nine.", "source": "a.md"}], budget=100
)
THOUGHT = "The docs say ten [7]. I recall 12 pumps."
ANSWER = "The lock opens at nine [1]."
FORMS = [f"{begin}{THOUGHT}{end}\n\n{ANSWER}" for begin, end in MARKS]
FORMS += [
    f"\n{THOUGHT}</think>{ANSWER}",
    f"{THOUGHT} I close with </think> in the end.\n</think> {ANSWER}",
    f"<think>{THOUGHT}</think>\n<think>{THOUGHT}</think>\n{ANSWER}",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|>{''.join(HEADS[:2])}{ANSWER}<|return|>",
]


@pytest.mark.parametrize("text", FORMS)
def test_the_answer_alone_is_checked(text: str):
    """C3: places are still those of the text that was given."""
    checked = check_answer(text, CONTEXT)

    (claim,) = checked.claims
    assert (claim.faults, checked.dangling, checked.cited) == ((), (), (1,))
    assert text[slice(*claim.span)].startswith("The lock opens")


@given(text=st.sampled_from(FORMS[: len(MARKS)]), cut=st.integers(1, 60))
def test_a_stream_leaves_reasoning_out(text: str, cut: int):
    """C5: wherever a mark is cut in two."""
    pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
    events = list(resolve_stream(pieces, CONTEXT))

    assert "".join(event.text for event in events) == ANSWER
    assert sum(isinstance(event, CitationEvent) for event in events) == 1


@given(st.text(alphabet="<>think/| [THINK]\n", max_size=40))
def test_what_a_stream_shows_is_what_the_whole_has(text: str):
    """C5: piece by piece as at once; only where the text begins inside, the stream shows more."""
    reader = ReasoningFilter()
    shown = "".join(map(reader.feed, text)) + reader.finish()

    assert shown.endswith(text[slice(*split_reasoning(text))])


@pytest.mark.parametrize(
    "text",
    [
        "It ends with `</think>`, as the page says [1].",
        'The page says that "</think>" ends it [1].',
        "Use the tag </think> to end it [1].",
        "Write this [1]:\n```\n<think>Nine or ten?</think>\n```\nThen say nine.",
        "<b>Nine</b> [1].",
        "  Nine [1].",
    ],
)
def test_other_texts_are_answers_from_their_first_character(text: str):
    """C3: a mark in code, in quotes or in a sentence is named, and other tags are text."""
    assert split_reasoning(text) == (0, len(text))


def test_reasoning_is_kept_apart():
    """F8: `ask` gives the answer, and what was thought beside it."""
    model = ScriptedModel(says=lambda messages: f"<think>{THOUGHT}</think> {ANSWER}")
    *events, answer = ask_events(CONTEXT, model)

    assert answer.text == ANSWER == "".join(event.text for event in events)
    assert answer.reasoning == f"<think>{THOUGHT}</think>"
    with pytest.raises(ExternalError, match="answered with nothing"):
        ask(CONTEXT, ScriptedModel(says=lambda messages: "<think>It never ends"))


@pytest.mark.parametrize(("read", "warned"), [(None, False), (400, False), (20, True)])
def test_a_request_that_was_cut_is_said(read: int | None, warned: bool):
    """F8: a server that reports far fewer tokens than the documents have did not read them."""

    class Server(ScriptedModel):
        def stream(self, messages, **limits):
            yield Reply(text=ANSWER, usage=Usage(prompt=read))

    long = [{"text": f"Gate {n} opens at nine and closes at six.", "id": str(n)} for n in range(30)]
    context = assemble("When do the gates open?", long, budget=300)

    assert bool(ask(context, Server(says=str)).warning) is warned
