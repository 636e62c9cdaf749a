"""Watchers at the edges: they see every call, and can neither change nor break anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Barrier, Thread
from typing import Any

import pytest

from foveate import Assembler, BadInput, Compressor, ExternalError, assemble
from foveate.core.recipes import builtin_recipes
from foveate.core.stages.compress import Compress
from foveate.core.stages.expand import Expand
from foveate.core.types import Context
from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS, combine_observers, observe_call
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Message, Store
from foveate.stores.caches import open_cache
from foveate.testing.fakes import ScriptedModel
from text_store import EMBEDDER, stored

ROWS = [
    {"text": "The kiln is fired twice a month, with beech and birch.", "score": 0.9},
    {"text": "Glazes are kept in the cellar, away from frost.", "score": 0.5},
]
DEFAULT = builtin_recipes()["default"]
WIDE = replace(DEFAULT, stages=(Expand(window=1), *DEFAULT.stages))


@dataclass(slots=True)
class Diary:
    """A watcher that writes down all that it is told."""

    lines: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Begin and end."""
        self.lines.append(f"> {name}")
        try:
            yield
        finally:
            self.lines.append(f"< {name}")

    def on_call(self, name: str, figures: Any) -> None:
        """Keep the figures."""
        self.figures[name] = dict(figures)

    def on_context(self, context: Context) -> None:
        """Keep the context."""
        self.contexts.append(context)

    def inside(self, whole: str) -> list[str]:
        """What began within the whole, in order."""
        first, *steps, last = self.lines
        assert (first, last) == (f"> {whole}", f"< {whole}")
        return [line[2:] for line in steps if line.startswith(">")]


@dataclass(slots=True)
class Broken:
    """A watcher that fails at one place, with a text in its error that is nobody's business."""

    at: str

    def __call__(self, name: str) -> Any:
        """Itself, or fail."""
        self._fail("call")
        return self

    def __enter__(self) -> None:
        self._fail("enter")

    def __exit__(self, *error: object) -> bool:
        self._fail("exit")
        return True  # would swallow whatever the step raised

    def on_call(self, name: str, figures: Any) -> None:
        """Fail, if here."""
        self._fail("on_call")

    def on_context(self, context: Context) -> None:
        """Fail, if here."""
        self._fail("on_context")

    def _fail(self, place: str) -> None:
        if place == self.at:
            raise ValueError("kiln secret")


class Reversed:
    """A reranker that turns the order around."""

    name = "reversed"

    def rerank(self, query: str, texts: Any) -> list[float]:
        """The last is the best."""
        return [float(n) for n, _ in enumerate(texts)]


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    """Three pages; a process remembers texts, so those of each test are its own."""
    texts = {
        "kiln.md": f"The kiln is fired twice a month. {tmp_path.name}",
        "glaze.md": f"The glaze is kept in the cellar. {tmp_path.name}",
        "clay.md": f"The clay is dug in autumn. {tmp_path.name}",
    }
    with stored(tmp_path / "store", texts) as opened:
        yield opened


def assembler(store: Store, observers: Any, **more: Any) -> Assembler:
    """An assembler that needs every call there is but a model's."""
    return Assembler(
        store=store,
        embedder=EMBEDDER,
        options=AssembleOptions(budget=300, recipe=WIDE),
        reranker=Reversed(),
        observers=observers,
        **more,
    )


def test_every_call_and_every_stage_is_watched(store):
    """F7: an assembly is one step, in which are its calls to the outside and the trace's steps."""
    diary = Diary()

    context = assembler(store, diary, cache=open_cache()).assemble("When is the kiln fired?")

    stages = [*(entry.stage for entry in context.trace), "cite", "seal"]
    found = diary.inside("assemble")
    assert [name for name in found if name in CALL_STEPS] == [
        "root",
        "recall",
        "embed",
        "search",
        "rerank",
        "neighbours",
        "counts",
        "keep_counts",
        "root",
        "keep",
    ]
    assert [name for name in found if name not in CALL_STEPS] == stages
    assert diary.contexts == [context]
    assert diary.figures["search"] == {
        "candidates": 3,
        "badge": "hybrid",
        "lexical_matches": 1,
        "exact": 1,
    }
    assert diary.figures["recall"] == {"hit": 0}
    assert diary.figures["neighbours"] == {"places": 3, "found": 3}


def test_a_context_from_the_cache_is_made_without_a_stage(store):
    """F7, D5: a hit is a step with two calls in it, and the context is shown as any other."""
    diary = Diary()
    kept = assembler(store, None, cache=open_cache())
    first = kept.assemble("When is the kiln fired?")
    kept = assembler(store, diary, cache=kept.cache)

    assert kept.assemble("When is the kiln fired?") == first
    assert diary.inside("assemble") == ["root", "recall"]
    assert diary.figures["recall"] == {"hit": 1}
    assert diary.contexts == [first]


def test_async_calls_are_watched_alike(store):
    """F7: the async driver tells a watcher the same steps, figures and context."""
    here, there = Diary(), Diary()

    context = assembler(store, here).assemble("Who digs the clay?")
    again = asyncio.run(assembler(store, there).aassemble("Who digs the clay?"))

    new = {"keep_counts"}  # the second finds what the first has kept
    assert [n for n in here.inside("assemble") if n not in new] == there.inside("assemble")
    assert again == context
    assert here.contexts == there.contexts == [context]


def test_a_search_alone_is_watched(store):
    """F7: a search has the step `retrieve` around it, and makes no context."""
    diary, later = Diary(), Diary()

    assembler(store, diary).search("Who digs the clay?")
    asyncio.run(assembler(store, later).asearch("Who digs the clay?"))

    assert diary.inside("retrieve") == ["embed", "search", "rerank"]
    assert later.lines == diary.lines
    assert diary.contexts == []
    assert {"assemble", "retrieve", "compact"} == set(ASSEMBLY_STEPS)


def test_a_compressor_is_watched_call_by_call():
    """F7, S8: a model's calls stand in one step, with the tokens that each took."""

    def says(messages: list[Message]) -> str:
        return messages[-1]["content"].partition("Document:\n")[2].partition(". ")[0] + "."

    diary = Diary()
    tight = builtin_recipes()["tight"]
    stages = tuple(
        Compress(offer="llm_extract") if isinstance(stage, Compress) else stage
        for stage in tight.stages
    )
    long = "with beech, birch and alder from the hill behind the town, in the first week of month"
    pages = [
        {"text": f"The kiln {n} is fired {long} {n}. " + f"Nobody minds rain {n}. " * 30}
        for n in range(6)
    ]
    context = assemble(
        "When is the kiln fired?",
        pages,
        budget=200,
        recipe=replace(tight, stages=stages),
        compressor=Compressor(model=ScriptedModel(says=says)),
        observers=diary,
    )

    found = diary.inside("assemble")
    calls = [name for name in found if name in CALL_STEPS]
    assert calls[0] == "shorten"
    assert set(calls[1:]) == {"model"}
    assert found.count("input") == 1
    assert diary.figures["shorten"]["offers"] == calls.count("model") > 0
    assert diary.figures["model"]["model"] == "told"
    assert diary.figures["model"]["prompt_tokens"] > 20
    assert diary.contexts == [context]


@pytest.mark.parametrize("place", ["call", "enter", "exit", "on_call", "on_context"])
def test_a_watcher_that_fails_changes_nothing(store, place, caplog):
    """F7, X3: whatever a watcher raises, the context is the same; it is logged once, by kind."""
    expected = assembler(store, None).assemble("When is the kiln fired?")
    caplog.clear()

    with caplog.at_level(logging.WARNING, logger="foveate"):
        actual = assembler(store, Broken(place)).assemble("When is the kiln fired?")
        later = asyncio.run(assembler(store, Broken(place)).aassemble("When is the kiln fired?"))

    assert actual == later == expected
    said = [record.getMessage() for record in caplog.records]
    assert said == ["a watcher raised ValueError; it is passed over"] * 2


def test_a_watcher_swallows_no_error(store):
    """F7, X1: an error of the caller, of a port or of a stage goes on, whoever watches."""

    class Down:
        name, dimensions = "down", EMBEDDER.dimensions

        def embed(self, texts: Any) -> Any:
            raise ExternalError("the embedder is down")

    down = Assembler(store=store, embedder=Down(), observers=Broken("never"))

    with pytest.raises(ExternalError):
        down.assemble("When?")
    with pytest.raises(ExternalError):
        asyncio.run(down.aassemble("When?"))
    with pytest.raises(BadInput):
        assemble(" ", [], observers=Broken("never"))


def test_a_watched_error_does_not_keep_itself():
    """F7: an error that was raised through watchers goes when its caller lets it go."""
    with pytest.raises(BadInput) as caught:
        assemble(" ", [], observers=Diary())
    held = [
        entry.name
        for entry in caught.traceback
        if any(value is caught.value for value in entry.locals.values())
    ]

    assert held == []


def test_figures_that_cannot_be_had_break_nothing():
    """F7: where a port gives what has no length, its figures are passed over, and no more."""
    diary = Diary()

    assert observe_call(
        combine_observers(diary), "counts", lambda: iter("ab"), lambda got: {"n": len(got)}
    )
    assert diary.lines == ["> counts", "< counts"]
    assert diary.figures == {}


def test_one_that_fails_does_not_keep_another_from_watching():
    """F7: of several watchers each sees all, also beside one that fails."""
    diary = Diary()

    context = assemble(
        "When?", ROWS, budget=99, observers=combine_observers(Broken("enter"), diary)
    )

    assert diary.inside("assemble") == [*(e.stage for e in context.trace), "cite", "seal"]


def test_one_watcher_can_watch_many_threads():
    """F7: an assembler that several threads use tells its watcher of all that they do."""
    diary, together = Diary(), Barrier(4)

    def work() -> None:
        together.wait(timeout=60)
        assemble("When?", ROWS, budget=99, observers=diary)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(diary.contexts) == 4
    assert len(set(map(repr, diary.contexts))) == 1


def test_nobody_is_nobody():
    """F7: no watcher is None, and a guard is not guarded twice."""
    guard = combine_observers(Diary())

    assert combine_observers(None) is None
    assert combine_observers() is None
    assert combine_observers(guard) is guard
    assert combine_observers(guard, None, Diary()).observers[0] is guard.observers[0]
