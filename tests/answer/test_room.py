"""What is left for an answer, and what is said where nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from foveate import BadOption, ask, assemble
from foveate.answer import answer_budget
from foveate.answer.answer_budget import find_answer_model
from foveate.answer.ask import AskOptions
from foveate.models import Model
from foveate.ports import Reply

FOUND = [
    {
        "text": f"Paragraph {n} is about valve {n} and " + " ".join(f"w{n}x{i}" for i in range(60)),
        "source": f"b{n}.md",
    }
    for n in range(300)
]
QUERY = "Which valve is closed?"


@dataclass
class Keeps:
    """A model of this name that remembers what it may write."""

    name: str
    limits: list[int] = field(default_factory=list)

    def stream(self, messages, *, max_tokens, **options):
        """One claim."""
        self.limits.append(max_tokens)
        yield "Valve 1 [1]."
        yield Reply(text="Valve 1 [1].")


def context(**options):
    """As many paragraphs as fit."""
    return assemble(QUERY, FOUND, recipe="citations", **options)


def asked(made, name, **how):
    """What the model may write."""
    model = Keeps(name)
    ask(made, model, AskOptions(**how))
    return model.limits


def test_an_answer_that_is_longer_than_what_is_left_is_refused():
    """B1: the window that was kept for the answer is no longer than it was planned."""
    made = context(model="gpt-4", prompt="grounded", budget=6_900)
    kept = made.budget.generation

    assert asked(made, "told") == [kept]
    assert asked(made, "told", max_tokens=kept - 1) == [kept - 1]
    for name in ("told", "openai:gpt-4"):
        with pytest.raises(BadOption, match=r"max_tokens is 4000.* max_output=4000"):
            asked(made, name, max_tokens=4000)


def test_a_small_context_leaves_more():
    """B1: what documents did not take may be written."""
    made = context(model="gpt-4", prompt="grounded", budget=500)

    assert made.budget.generation == 1024
    assert asked(made, "openai:gpt-4", max_tokens=4000) == [4000]


def test_a_context_for_no_model_is_held_against_the_one_that_is_asked():
    """B1, X1: before anything is sent, with what to do; a model of one's own size is believed."""
    made = context(budget=12_000)

    with pytest.raises(BadOption, match=r"too many for 'gpt-4'.*assemble with model='gpt-4'"):
        asked(made, "openai:gpt-4")
    assert asked(made, "openai:gpt-4", window=32_000) == [made.budget.generation]
    assert asked(made, "openai:gpt-4o") == [made.budget.generation]
    assert asked(made, "nobody-knows-it") == [made.budget.generation]
    with pytest.raises(BadOption, match="too many for 'nobody-knows-it'"):
        asked(made, "nobody-knows-it", window=4_000)


def test_a_limit_that_nobody_asked_for_is_lowered():
    """B1: to what is left; one that was asked for is refused."""
    made = context(budget=5_000)
    (limit,) = asked(made, "openai:gpt-4")

    assert made.token_count + 100 < 8_192 - limit < made.token_count + 256
    assert limit < made.budget.generation
    with pytest.raises(BadOption, match=rf"can write {limit} after a request"):
        asked(made, "openai:gpt-4", max_tokens=limit + 1)
    with pytest.raises(BadOption, match="can write 16384 after"):
        asked(made, "openai:gpt-4o", max_tokens=20_000)


def test_a_model_that_reads_less_than_its_window(monkeypatch):
    """B1, B2: what it reads is held to its own limit, whatever the window leaves."""
    small = Model(name="small", window=8_192, max_input=1_000, max_output=400)
    monkeypatch.setattr(answer_budget, "registry", lambda: {"small": small})

    assert asked(context(budget=300), "openai:small") == [400]
    with pytest.raises(BadOption, match="too many for 'small'"):
        asked(context(budget=2_000), "openai:small")


def test_what_is_known_of_a_model():
    """B2: the registry, corrected by the caller."""
    assert find_answer_model("openai:gpt-4").window == 8_192
    assert find_answer_model("ollama:own") is None
    assert find_answer_model("ollama:own@http://127.0.0.1:1", 9) == Model(name="own", window=9)
    smaller = find_answer_model("openai:gpt-4o", 1000)
    assert (smaller.window, smaller.max_output) == (1000, 1000)
    with pytest.raises(BadOption, match="window is 0"):
        AskOptions(window=0)
