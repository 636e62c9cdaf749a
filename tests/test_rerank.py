"""A reranker between search and assembly."""

from __future__ import annotations

import asyncio

import pytest

from foveate.core.errors import BadOption, ExternalError
from foveate.core.replay import build_bundle, inputs_from_bundle
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.plugins import component_registry
from foveate.stores.caches import open_cache
from text_store import EMBEDDER, stored

TEXTS = [f"Stone number {n} lies by the river and is grey. " + "So it is. " * n for n in range(8)]


class Longest:
    """The longest text answers best: a real reranker, if not a good one."""

    name = "longest@1"

    def rerank(self, query, texts):
        """Characters."""
        return [float(len(text)) for text in texts]


class Broken(Longest):
    """Fails as told."""

    name = "broken@1"

    def __init__(self, outcome):
        self.outcome = outcome

    def rerank(self, query, texts):
        """Whatever it was given."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Slow(Longest):
    """The same, as a coroutine."""

    def rerank(self, query, texts):
        """Awaited by the asynchronous driver."""

        async def later():
            return [float(len(text)) for text in texts]

        return later()


@pytest.fixture
def assembler(tmp_path):
    """Eight stones in a store."""

    def made(keep=None, **options):
        settled = AssembleOptions(recipe="citations", budget=600, keep=keep)
        return Assembler(store=store, embedder=EMBEDDER, options=settled, **options)

    with stored(tmp_path / "s", {f"d{n}.md": text for n, text in enumerate(TEXTS)}) as store:
        yield made


def test_its_scores_decide(assembler):
    """T4: the best `keep` in its order, with its scores, and the trace says who."""
    found = assembler(reranker=Longest(), keep=3).search("grey stone")
    assert [c.id for c in found.candidates] == ["d7.md", "d6.md", "d5.md"]
    assert all(c.score == c.rerank_score == len(c.text) for c in found.candidates)
    assert all(c.lexical_score is not None for c in found.candidates)
    context = assembler(reranker=Longest(), keep=3).assemble("grey stone")
    assert dict(context.trace[0].notes) == {"reranked_by": "longest@1", "reranked": 8}
    gone = [d for d in context.trace[1].decisions if d.reason == "quota"]
    assert sorted(d.chunk_id for d in gone) == [f"d{n}.md" for n in range(5)]
    assert context.citations[0].source == "d7.md"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (RuntimeError("key sk-123"), "RuntimeError"),
        (ExternalError("the server is gone"), "the server is gone"),
        ([1.0], "1 scores for 8 texts"),
        ([float("nan")] * 8, "not all finite"),
        (None, "TypeError"),
    ],
)
def test_where_it_fails_the_search_stands(assembler, outcome, said):
    """X3, T4: the order is the search's, all of it, visibly, and no secret of the error's."""
    plain = assembler().assemble("grey stone")
    degraded = assembler(reranker=Broken(outcome)).assemble("grey stone")
    assert degraded.text == plain.text
    note = dict(degraded.trace[0].notes)["not_reranked"]
    assert said in note
    assert "sk-123" not in note


def test_asynchronously_it_is_the_same(assembler):
    """F1, T4, X3: awaited where it is a coroutine, and its failure is met as well."""
    sync = assembler(reranker=Longest(), keep=3).search("grey stone")
    for reranker in (Longest(), Slow()):
        found = asyncio.run(assembler(reranker=reranker, keep=3).asearch("grey stone"))
        assert found == sync
    broken = asyncio.run(assembler(reranker=Broken(ValueError())).asearch("grey stone"))
    assert dict(broken.notes) == {"not_reranked": "broken@1: ValueError"}


def test_a_bundle_keeps_what_was_done(assembler):
    """D4: notes are replayed with the rest, and a bundle without any is read."""
    prepared = assembler(reranker=Longest(), keep=3).run("grey stone")
    bundle = build_bundle(prepared.inputs, prepared.context, component_registry())
    assert inputs_from_bundle(bundle, component_registry()).notes == prepared.inputs.notes != ()
    del bundle["notes"]
    assert inputs_from_bundle(bundle, component_registry()).notes == ()


def test_keep_is_at_least_one(assembler):
    """X2: nothing would be left."""
    with pytest.raises(BadOption, match="^keep is 0; it must be 1 or more$"):
        assembler(reranker=Longest(), keep=0)


def test_a_failure_is_not_kept(assembler):
    """D5, X3: what was assembled without the reranker is not handed out once it is back."""
    flaky = Broken(ExternalError("gone"))
    made = assembler(reranker=flaky, cache=open_cache("memory:4"))
    assert "not_reranked" in dict(made.assemble("grey stone").trace[0].notes)
    flaky.outcome = [float(n) for n in range(8)]
    assert "reranked_by" in dict(made.assemble("grey stone").trace[0].notes)
    assert made.cache.stats().entries == 1
