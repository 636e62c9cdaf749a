"""Watching the loop: names alone, around each step, and nothing where nobody watches."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

import pytest

from foveate.core.assemble import assemble
from foveate.core.errors import BudgetTooSmall, StageBroke
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs, Request
from foveate.core.types import Candidate, Chunk, Step
from foveate.core.zones import Budget
from foveate.providers import tokenizers

TOKENIZER = tokenizers.load_tokenizer("cl100k_base")


class Diary:
    """A watcher that writes down what begins and what ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def __call__(self, *said: object, **more: object) -> Iterator[None]:
        """Begin and end; it is given a name and nothing else."""
        assert [type(one) for one in said] == [str]
        assert more == {}
        self.lines.append(f"> {said[0]}")
        try:
            yield
        finally:
            self.lines.append(f"< {said[0]}")

    def begun(self) -> list[str]:
        """What began, in order."""
        return [line[2:] for line in self.lines if line.startswith(">")]


def inputs(recipe: str = "default", documents: int = 400) -> Inputs:
    """A dozen chunks about a mill."""
    return Inputs(
        query="When was the mill rebuilt?",
        candidates=tuple(
            Candidate(
                chunk=Chunk(
                    id=f"c{n}",
                    source=f"d{n % 3}.md",
                    sequence=n,
                    text=f"The mill was rebuilt in {1871 + n} after the flood of year {n}. " * 4,
                ),
                score=1 - n / 12,
            )
            for n in range(12)
        ),
        recipe=builtin_recipes()[recipe],
        budget=Budget(documents=documents, window=None),
    )


@pytest.mark.parametrize("recipe", sorted(builtin_recipes()))
def test_each_entry_of_the_trace_is_a_step_to_who_watches(recipe):
    """F7: the steps are the trace's entries by name, then `cite` and `seal`, none in another."""
    diary = Diary()

    context = assemble(inputs(recipe), TOKENIZER, observers=diary)

    names = [*(entry.stage for entry in context.trace), "cite", "seal"]
    assert diary.lines == [line for name in names for line in (f"> {name}", f"< {name}")]


@pytest.mark.parametrize("recipe", sorted(builtin_recipes()))
def test_a_watched_context_is_the_same(recipe):
    """F7, D1: whether somebody watches or not, the context is equal in every field."""
    assert assemble(inputs(recipe), TOKENIZER, observers=Diary()) == assemble(
        inputs(recipe), TOKENIZER
    )


def test_the_search_for_the_smallest_budget_is_one_step():
    """F7: where nothing fits, the attempt and the search are watched, not the search's attempts."""
    diary = Diary()

    with pytest.raises(BudgetTooSmall):
        assemble(inputs(documents=3), TOKENIZER, observers=diary)

    begun = Counter(diary.begun())
    assert begun["smallest"] == 1
    assert begun["render"] == begun["input"] <= 2
    assert diary.lines[-2:] == ["> smallest", "< smallest"]


def test_a_stage_that_breaks_is_left_as_well():
    """F7: what is entered before a stage is left when the stage raises."""

    def breaks(candidates: tuple[Candidate, ...], request: Request) -> Step:
        raise ZeroDivisionError("by hand")

    diary, broken = Diary(), inputs()
    broken = replace(broken, recipe=replace(broken.recipe, stages=(breaks,)))

    with pytest.raises(StageBroke, match="stage breaks"):
        assemble(broken, TOKENIZER, observers=diary)

    assert diary.lines == ["> input", "< input", "> breaks", "< breaks"]


def calls(code) -> Counter[str]:
    """How often each function of Python is called."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found[f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}"] += 1

    sys.setprofile(note)
    try:
        code()
    finally:
        sys.setprofile(None)
    return found


def test_nobody_who_watches_costs_one_call_a_step():
    """F7: without a watcher there is one function call a step and no context manager at all."""
    given = inputs()
    steps = len(assemble(given, TOKENIZER).trace) + 2
    assemble(given, TOKENIZER, observers=Diary())

    without = calls(lambda: assemble(given, TOKENIZER))
    watched = calls(lambda: assemble(given, TOKENIZER, observers=Diary()))

    assert without["foveate.core.contracts.observe_step"] == steps
    assert not any(name.startswith("contextlib.") for name in without)
    more = watched - without
    # hypothesis, where another test has used it, watches the garbage collector
    others = ("contextlib.", f"{__name__}.", "hypothesis.")
    own = [name for name in more if not name.startswith(others)]
    assert own == []
    assert sum(more.values()) == more.total() >= steps * 3
