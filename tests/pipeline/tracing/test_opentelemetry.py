"""Assemblies as OpenTelemetry spans, with the real SDK."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from itertools import pairwise
from threading import Thread

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import model_servers
from foveate import Assembler, MissingExtra, StageBroke, Tracing, assemble
from foveate.core.recipes import builtin_recipes
from foveate.core.stages.compress import Compress
from foveate.core.stages.pack import Pack
from foveate.pipeline.compressor import Compressor
from foveate.pipeline.options import AssembleOptions
from foveate.providers.chat import load_model
from foveate.stores.caches import open_cache
from text_store import EMBEDDER, stored

QUERY = "When is the kiln fired?"
ROWS = [
    {"text": f"The kiln of house {n} is fired {n} times a month. " * 6, "source": f"{n}.md"}
    for n in range(9)
]


@pytest.fixture
def spans():
    """Where spans end up, and the provider that sends them there."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider, exporter.get_finished_spans
    provider.shutdown()


def test_one_span_a_stage_with_what_it_came_to(spans):
    """F7, B8: one after another, each with its counts and reasons, within that of the assembly."""
    provider, ended = spans

    context = assemble(QUERY, ROWS, budget=200, observers=Tracing(provider))

    found = {span.name: span for span in ended()}
    whole = found["foveate.assemble"]
    assert whole.parent is None
    for entry in context.trace:
        span = found[f"foveate.{entry.stage}"]
        said = span.attributes
        assert span.parent.span_id == whole.context.span_id
        assert whole.start_time <= span.start_time <= span.end_time <= whole.end_time
        assert said["foveate.recipe"] == "default"
        assert (said["foveate.before"], said["foveate.after"]) == (entry.before, entry.after)
        reasons = {k: v for k, v in said.items() if k.startswith("foveate.reason.")}
        assert sum(reasons.values()) == len(entry.decisions)
    assert whole.attributes["foveate.tokens"] == context.token_count
    assert whole.attributes["foveate.budget"] == 200
    assert whole.attributes["foveate.excluded_chunks"] == context.metrics["excluded_chunks"] > 0
    assert whole.attributes["foveate.excluded_tokens"] == context.metrics["excluded_tokens"] > 0
    assert found["foveate.pack"].attributes["foveate.dropped_tokens"] > 0
    assert len(found) == len(context.trace) + 3
    *stages, last = ended()
    assert last is whole
    assert all(first.end_time <= second.start_time for first, second in pairwise(stages))


@pytest.fixture
def store(tmp_path):
    """One page."""
    texts = {"kiln.md": "The kiln is fired twice a month."}
    with stored(tmp_path / "store", texts) as opened:
        yield opened, EMBEDDER


def test_calls_are_spans_with_their_figures(spans, store):
    """F7: search, cache and counts say how many; a hit says that no stage was needed."""
    provider, ended = spans
    opened, embedder = store
    assembler = Assembler(
        store=opened,
        embedder=embedder,
        options=AssembleOptions(budget=200),
        cache=open_cache(),
        observers=Tracing(provider),
    )

    assembler.assemble(QUERY)
    asyncio.run(assembler.aassemble(QUERY))

    search = next(span for span in ended() if span.name == "foveate.search")
    assert search.attributes["foveate.badge"] == "hybrid"
    assert search.attributes["foveate.candidates"] == 1
    assert search.attributes["gen_ai.operation.name"] == "retrieval"
    embed = next(span for span in ended() if span.name == "foveate.embed")
    assert {k: v for k, v in embed.attributes.items() if k.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "_OTHER",
        "gen_ai.request.model": embedder.name,
    }
    assert {search.kind, embed.kind} == {trace.SpanKind.CLIENT}
    hits = [s.attributes["foveate.hit"] for s in ended() if s.name == "foveate.recall"]
    wholes = [s for s in ended() if s.name == "foveate.assemble"]
    assert hits == [0, 1]
    assert [one.attributes["foveate.from_cache"] for one in wholes] == [False, True]
    for span in ended():
        if span.parent is not None:
            assert span.parent.span_id in {one.context.span_id for one in wholes}


def test_a_models_call_has_the_attributes_of_generative_models(spans):
    """F7, S8: operation, provider, model, tokens and finish, as OpenTelemetry names them."""
    provider, ended = spans
    kept = "The kiln is fired twice a month."
    rows = [{"text": f"{kept} {row['text']}", "source": row["source"]} for row in ROWS[:2]]
    stages = (Compress(offer="llm_extract", when="always"), Pack(policy="greedy"))
    recipe = replace(builtin_recipes()["citations"], stages=stages)
    with model_servers.serving("openai", pieces=(kept,)) as server:
        compressor = Compressor(model=load_model(server.name))
        options = {"recipe": recipe, "compressor": compressor, "observers": Tracing(provider)}
        assemble(QUERY, rows, budget=200, **options)

    calls = [span for span in ended() if span.name == "foveate.model"]
    assert len(calls) >= len(rows)
    for span in calls:
        assert span.kind is trace.SpanKind.CLIENT
        said = {k: v for k, v in span.attributes.items() if k.startswith("gen_ai.")}
        assert said["gen_ai.operation.name"] == "chat"
        assert (said["gen_ai.provider.name"], said["gen_ai.request.model"]) == ("openai", "tiny")
        assert said["gen_ai.usage.input_tokens"] > 0 < said["gen_ai.usage.output_tokens"]
        assert said["gen_ai.response.finish_reasons"] == ("stop",)


def test_spans_stand_in_the_span_that_is_current(spans):
    """F7: whoever calls foveate within a span of theirs finds ours in it, and theirs current."""
    provider, ended = spans
    tracer = provider.get_tracer("theirs")

    with tracer.start_as_current_span("theirs") as theirs:
        assemble(QUERY, ROWS, budget=200, observers=Tracing(provider))

        assert trace.get_current_span() is theirs

    whole = next(span for span in ended() if span.name == "foveate.assemble")
    assert whole.parent.span_id == theirs.get_span_context().span_id
    assert len({span.context.trace_id for span in ended()}) == 1


def test_threads_do_not_meet(spans):
    """F7: with one watcher for several threads, each assembly has its own spans."""
    provider, ended = spans
    watcher = Tracing(provider)
    threads = [
        Thread(target=assemble, args=(QUERY, ROWS), kwargs={"budget": 200, "observers": watcher})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    traces = {span.context.trace_id for span in ended()}
    assert len(traces) == 4
    for one in traces:
        own = [span.name for span in ended() if span.context.trace_id == one]
        assert len(own) == len(set(own))


def test_an_error_is_named_by_its_kind(spans):
    """F7, X1: a span that failed says the error's kind, and its message only with content."""
    provider, ended = spans

    def breaks(candidates, request):
        raise ValueError(f"cannot read {candidates[0].text}")

    broken = replace(builtin_recipes()["chat"], stages=(breaks,))
    for content in (False, True):
        with pytest.raises(StageBroke):
            assemble(
                QUERY, ROWS, budget=200, recipe=broken, observers=Tracing(provider, content=content)
            )

    quiet, told = [span for span in ended() if span.name == "foveate.breaks"]
    assert quiet.status.status_code == told.status.status_code == StatusCode.ERROR
    assert quiet.attributes["error.type"] == "StageBroke"
    assert "kiln" not in quiet.to_json()
    assert "kiln" in told.status.description
    whole = next(span for span in ended() if span.name == "foveate.assemble")
    assert whole.status.description == "StageBroke"


def test_content_stands_on_spans_only_where_it_is_asked_for(spans):
    """F7: neither text, title, source, id nor question, unless `content`; then the whole span."""
    provider, ended = spans
    rows = [
        {
            "text": f"plantedtext {n} is said here, over and over. " * 4,
            "title": "plantedtitle",
            "source": "plantedsource",
            "id": f"plantedid{n}",
            "summary": "plantedsummary",
            "metadata": {"plantedkey": "plantedvalue"},
        }
        for n in range(5)
    ]

    assemble("plantedquery is what?", rows, budget=90, observers=Tracing(provider))

    assert len(ended()) > 5
    assert not any("planted" in span.to_json() for span in ended())

    context = assemble(
        "plantedquery is what?", rows, budget=90, observers=Tracing(provider, content=True)
    )

    spoken = [span for span in ended() if "planted" in span.to_json()]
    assert [span.name for span in spoken] == ["foveate.assemble"]
    assert spoken[0].attributes["input.value"] == "plantedquery is what?"
    assert spoken[0].attributes["output.value"] == context.text


def test_a_recipe_of_a_request_can_go_unnamed(spans):
    """F7: `named` says what stands on spans for a recipe."""
    provider, ended = spans
    mine = replace(builtin_recipes()["chat"], name="plantedname")

    assemble(
        QUERY,
        ROWS,
        budget=200,
        recipe=mine,
        observers=Tracing(
            provider, named=lambda name: name if name in builtin_recipes() else "inline"
        ),
    )

    assert {
        span.attributes["foveate.recipe"] for span in ended() if "foveate.recipe" in span.attributes
    } == {"inline"}
    assert not any("planted" in span.to_json() for span in ended())


def test_without_a_provider_nothing_is_made(spans):
    """F7: where a program sets OpenTelemetry up in no way, watching does nothing."""
    assert assemble(QUERY, ROWS, budget=200, observers=Tracing()) == assemble(
        QUERY, ROWS, budget=200
    )


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    """F7, X1: OpenTelemetry is needed for its watcher alone."""
    for name in [name for name in sys.modules if name.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    with pytest.raises(MissingExtra, match=r"foveate\[otel\]"):
        Tracing()
    assert assemble(QUERY, ROWS, budget=200).token_count > 0
