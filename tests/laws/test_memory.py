"""What is remembered of words, titles and queries: nothing that is as long as somebody likes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper, partial

import pytest

from foveate.assembler import assemble
from foveate.core.near.weight import says
from foveate.core.types import Candidate, Chunk
from foveate.evals.measures import measure
from foveate.plugins import recipe_table

LONG = 3_000


def caches() -> Iterator[object]:
    """Every cached function of the package that is imported."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "foveate":
            yield from (one for one in vars(module).values() if isinstance(one, _lru_cache_wrapper))


def strings(thing: object, depth: int) -> Iterator[str]:
    """The strings that a container holds, some levels deep."""
    for inner in gc.get_referents(thing):
        if isinstance(inner, str):
            yield inner
        elif depth and isinstance(inner, (tuple, list, dict)):
            yield from strings(inner, depth - 1)


def kept_over(size: int) -> set[str]:
    """How those begin that a cache holds and that are longer."""
    return {text[:20] for one in caches() for text in strings(one, 3) if len(text) > size}


def circles(call: Callable[[], object]) -> list[str]:
    """What of ours a call leaves behind that only holds each other, by type."""
    gc.collect()
    gc.disable()
    try:
        call()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        return [kind.__qualname__ for kind in kinds if kind.__module__.startswith("foveate")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def long_words() -> list[str]:
    """A word without an end in several scripts, one that is a number, one of combining marks."""
    return [
        piece * (LONG // len(piece)) for piece in ("long", "größe", "深", "7", "длинно", "a\u0301")
    ]


def test_no_cache_keeps_what_is_longer_than_a_line():
    """X2: words, titles, sources and queries of any length are read and not remembered."""
    endless = long_words()
    candidates = [
        Candidate(
            chunk=Chunk(
                id=f"c{i}", text=f"{word} is here. So is {word}s.", title=word, source=word
            ),
            score=1.0 / (i + 1),
        )
        for i, word in enumerate([*endless, *endless])
    ]
    for name in recipe_table():
        assemble(endless[0], candidates, budget=100_000, recipe=name)
    assert not says([endless[0]], [endless[1]])
    measure(" ".join(endless), ["".join(endless)], endless, tokens=1, budget=2, dataset="any")

    assert len(list(caches())) > 10
    assert kept_over(2_000) == set()


@pytest.mark.parametrize("name", sorted(recipe_table()))
def test_an_assembly_leaves_nothing_that_waits_to_be_found(name):
    """X2: its candidates go when its context goes, not when the collector comes by."""
    found = [
        Candidate(chunk=Chunk(text=f"Well {n} is {n} metres deep. So is its shaft."), score=1 / n)
        for n in range(1, 30)
    ]

    for budget in (60, 300):
        assert circles(partial(assemble, "How deep?", found, budget=budget, recipe=name)) == []
