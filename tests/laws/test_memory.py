"""What a process keeps of the requests that are over: so many bytes, whatever was sent."""

from __future__ import annotations

import ast
import gc
import importlib
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import _lru_cache_wrapper, partial
from itertools import cycle
from random import Random

import pytest
from bench.forget import forget

from foveate.core.bounded_cache import BoundedCache
from foveate.core.formats import BUILTIN
from foveate.core.request import Recipe
from foveate.core.text.word_weight import weights
from foveate.core.types import Candidate, Chunk
from foveate.evals.measures import measure
from foveate.pipeline.assembler import assemble
from foveate.plugins import recipe_table
from source_tree import PACKAGE, python_files, tree_of

LONG = 3_000
WORDS = tuple(f"{a}{b}{c}" for a in "blmnrt" for b in ("a", "en", "oo") for c in ("k", "st", "le"))
SMALL = 400_000
"""Bytes that a cache may keep in these tests: as much as one or two of the requests need."""
ONE_VALUE = {
    "cli/diagnose.py", "core/lazy_table.py", "ingest/on_ray.py", "service/app.py",
    "models.py", "pipeline/context_codec.py", "plugins.py", "pipeline/prompts/__init__.py",
    "service/mcp/results.py", "service/playground/routes.py",
    "stores/int8.py",
}  # fmt: skip
"""Files whose cached functions take nothing, or a value of a list that the code closes."""
SHORT_ENTRIES = {
    "core/text/shapes/rows.py": "the patterns of 4 delimiters",
    "core/typed.py": "the annotations of the functions and classes that check theirs",
    "ingest/loaders/format_codes.py": "256 number formats of at most 255 characters",
    "providers/chat/gguf.py": "the hashes of 8 files",
    "providers/embedders/local.py": "the tokens of 16,384 words of at most 32 characters",
    "service/mcp/server.py": "64 schemas of tools",
    "answer/check.py": "the sentences of one answer; it goes with the call",
    "providers/tokenizers/counts.py": "4 tokenizers' counts, each a bounded cache",
    "providers/tokenizers/huggingface.py": "8 tokenizers, which the operator names",
    "providers/tokenizers/openai.py": "the fingerprints of 16 tokenizers",
    "core/render.py": "64 renderers, whose labels have at most 80 characters",
    "core/text/word_arrays.py": "the classes of all characters for two alphabets, and 64 powers",
    "core/text/escape.py": "256 rules, whose labels have at most 80 characters",
    "core/text/sanitise.py": "patterns of the module",
}
"""Files whose cached functions keep so many entries, none of which can be as large as a text."""


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
    gc.disable()
    gc.freeze()  # the collection below is of this call's objects alone
    try:
        call()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        return [kind.__qualname__ for kind in kinds if kind.__module__.startswith("foveate")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()


def long_words() -> list[str]:
    """A word without an end in several scripts, one that is a number, one of combining marks."""
    return [
        piece * (LONG // len(piece)) for piece in ("long", "größe", "深", "7", "длинно", "a\u0301")
    ]


def test_no_cache_keeps_what_is_longer_than_a_line():
    """X2: words, titles, sources and queries of any length are read and not remembered."""
    before = kept_over(2_000)  # other tests of this process may fill the caches of other packages
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
    assert [*weights(endless[:1])] != [*weights(endless[1:2])]
    measure(" ".join(endless), ["".join(endless)], endless, tokens=1, budget=2, dataset="any")

    assert len(list(caches())) > 10
    assert kept_over(2_000) - before == set()


@pytest.mark.parametrize("name", sorted(recipe_table()))
def test_an_assembly_leaves_nothing_that_waits_to_be_found(name):
    """X2: its candidates go when its context goes, not when the collector comes by."""
    found = [
        Candidate(chunk=Chunk(text=f"Well {n} is {n} metres deep. So is its shaft."), score=1 / n)
        for n in range(1, 30)
    ]

    for budget in (60, 300):
        assert circles(partial(assemble, "How deep?", found, budget=budget, recipe=name)) == []


def texts(dice: Random, number: int) -> list[Candidate]:
    """A text of 15 kB and five of 1.5 kB, in documents of their own, that no other request has."""
    found = []
    for n, words in enumerate((3_000, *[300] * 5)):
        lines = (" ".join(dice.choices(WORDS, k=10)).capitalize() for _ in range(words // 10))
        chunk = Chunk(
            id=f"c{number}-{n}",
            text=". ".join(lines) + f". The end of {number}-{n}.",
            title=" ".join(dice.choices(WORDS, k=40)),
            source=f"{number}/{n}.md",
        )
        found.append(Candidate(chunk=chunk, score=1 / (n + 1)))
    return found


def every_recipe() -> tuple[list[Recipe], list[Recipe]]:
    """The built-in recipes, each in its own format, and each in another one."""
    own = list(recipe_table().values())
    return own, [
        replace(one, format=BUILTIN[name]()) for one, name in zip(own, cycle(sorted(BUILTIN)))
    ]


def kept_after(recipes: list[Recipe], requests: Iterator[int], dice: Random) -> int:
    """Bytes that Python's allocator has handed out after each recipe had a request of its own."""
    for recipe in recipes:
        query = " ".join(dice.choices(WORDS, k=6))
        assemble(query, texts(dice, next(requests)), budget=30_000, recipe=recipe)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def bounded_caches() -> list[BoundedCache[object, object]]:
    """Every bounded cache of this process, those made as it was imported included."""
    gc.unfreeze()
    return [one for one in gc.get_objects() if isinstance(one, BoundedCache)]


def test_what_is_kept_does_not_grow_with_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """X6: twice as many large requests leave behind no more than those that fill a cache."""
    forget()
    own, others = every_recipe()
    assemble("What makes all caches?", texts(Random(1), 0), recipe=own[0])
    for one in bounded_caches():
        one.clear()  # an earlier test may have put more into it than it holds from here on
        monkeypatch.setattr(one, "limit", SMALL)
        monkeypatch.setattr(one, "largest", SMALL // 8)
    dice, requests = Random(3), iter(range(1_000))
    gc.freeze()  # the collections below are of what the requests leave
    tracemalloc.start()
    try:
        seen = [kept_after(recipes, requests, dice) for recipes in (own, others, own, others)]
    finally:
        tracemalloc.stop()
        gc.unfreeze()

    assert max(seen[2:]) - max(seen[:2]) < SMALL, seen
    assert [one for one in bounded_caches() if one.bytes > one.limit] == []


def test_all_caches_together_have_a_bound() -> None:
    """X6: the bounded caches of a process may hold 100 MB together, a store's own apart."""
    for file in python_files(PACKAGE):
        if "BoundedCache(" in file.read_text(encoding="utf-8"):
            importlib.import_module(".".join(("foveate", *file.relative_to(PACKAGE).parts))[:-3])
    found = [
        value
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == "foveate"
        for value in vars(module).values()
        if isinstance(value, BoundedCache)
    ]
    counts = importlib.import_module("foveate.providers.tokenizers.counts")
    whole = sum({id(one): one.limit for one in found}.values())

    assert whole + counts.FINGERPRINTS * counts.LIMIT <= 100_000_000


def cached_functions(tree: ast.Module) -> bool:
    """Whether a module imports a cache that counts entries."""
    names = {"cache", "lru_cache"}
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "functools"
        and names.intersection(alias.name for alias in node.names)
        for node in ast.walk(tree)
    )


def test_every_cache_that_counts_entries_is_known_to_be_small() -> None:
    """X6: a cache that counts entries is one whose entries are short; any other counts bytes."""
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in python_files(PACKAGE)
        if cached_functions(tree_of(file))
    }

    assert found == ONE_VALUE | set(SHORT_ENTRIES)
