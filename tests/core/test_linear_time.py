"""A14: no input makes the core take more than linear time."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest

import foveate.core
from foveate import BudgetTooSmall, assemble, compact

SIZE = 1_000_000
RUNS = {
    "one letter": "a",
    "one digit": "7",
    "han": "漢",
    "spaces": " ",
    "brackets": "[",
    "quotes": '"',
    "escaped quotes": '\\"',
    "dotted": "a.",
}
SECONDS = 1.0
"""Of CPU for a run. Linear expressions take a hundredth of it; a quadratic one a thousand times."""
_METHODS = "match|fullmatch|search|finditer|findall|sub|subn|split"


def modules() -> Iterator[object]:
    """All modules of the core."""
    for found in pkgutil.walk_packages(foveate.core.__path__, "foveate.core."):
        yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern]:
    """The expressions in a value of a module: itself, or in containers and objects of ours."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value, *value.values()], depth)
    elif isinstance(value, list | tuple | set | frozenset) and depth < 4:
        for one in value:
            yield from patterns_in(one, depth + 1)
    elif type(value).__module__.startswith("foveate.core") and depth < 4:
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        yield from patterns_in([getattr(value, name, None) for name in names], depth + 1)


@cache
def uses() -> dict[tuple[str, str], re.Pattern]:
    """Each expression of the core with each method that is called on it by name; else `search`."""
    found: dict[tuple[re.Pattern, str], str] = {}
    for module in modules():
        source = Path(module.__file__).read_text("utf-8")
        for name, value in vars(module).items():
            named = set(re.findall(rf"(?<![\w.]){re.escape(name)}\.({_METHODS})\b", source))
            for pattern in patterns_in(value):
                is_own = isinstance(value, re.Pattern)
                for method in named if is_own else ("search",):
                    found.setdefault((pattern, method), f"{module.__name__}.{name}")
    return {(name, method): pattern for (pattern, method), name in found.items()}


def run(pattern: re.Pattern, method: str, text: str) -> None:
    """Call the method as the core does, to the end of the text."""
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    if method in ("sub", "subn"):
        getattr(pattern, method)(given[:0], given)
    elif method == "finditer":
        deque(pattern.finditer(given), maxlen=0)
    else:
        getattr(pattern, method)(given)


class TooSlow(Exception):
    """The time of a call is over."""


def within(seconds: float, call: Callable[[], object]) -> bool:
    """Whether the call ends within so much CPU of this process."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        call()
    except TooSlow:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return True


def test_the_limit_sees_quadratic_time():
    """Else the law below would prove nothing."""
    assert not within(0.1, lambda: run(re.compile(r"\w+:"), "search", "a" * (SIZE // 10)))


@pytest.mark.parametrize("name", RUNS)
def test_every_expression_takes_linear_time(name):
    """A14: each with the methods that the core calls, over 1 MB of one thing, and its end."""
    unit = RUNS[name]
    text = unit * (SIZE // len(unit)) + "!"
    slow = [
        f"{where}.{method}"
        for (where, method), pattern in uses().items()
        if not within(SECONDS, lambda p=pattern, m=method: run(p, m, text))
    ]

    assert slow == []


def random_run(letters: str) -> str:
    """1 MB of these letters in a random order, without a space or a stop."""
    return "".join(Random(1).choices(letters, k=SIZE))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * SIZE, id="one letter"),
        pytest.param(random_run("ACGT"), id="dna"),
        pytest.param(random_run("".join(map(chr, range(0x4E00, 0x5A00)))), id="han"),
    ],
)
def test_a_run_of_letters_stops_nobody(text):
    """A14: a tool result and a candidate of 1 MB without a space take a second or so."""
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Which gene?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]

    def assembled() -> None:
        with suppress(BudgetTooSmall):
            assemble("Which gene?", [{"text": text}, {"text": "A gene."}], budget=300)

    assert within(2 * SECONDS, lambda: compact(messages, budget=300))
    assert within(2 * SECONDS, assembled)
