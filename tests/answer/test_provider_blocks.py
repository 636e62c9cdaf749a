"""Contexts as content blocks of the providers: of their own types, cached, and read back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from foveate import BadInput, BadOption, assemble, messages, plugins
from foveate.answer.messages import format_for_anthropic, format_for_openai, format_for_responses
from foveate.answer.read_back import parse_message
from foveate.core.formats import BUILTIN
from foveate.core.formats.anthropic import AnthropicSearchResult
from foveate.core.formats.shared.parts import parse_content_parts
from foveate.core.render import Renderer
from foveate.core.text.sanitise import is_invisible
from foveate.core.types import Block
from foveate.testing.hostile import texts
from provider_types import check_request

ANTHROPIC = ("anthropic-search-result", "anthropic-document")
FORMATS = {
    **{name: BUILTIN[name]() for name in (*ANTHROPIC, "openai-parts")},
    "sentences": AnthropicSearchResult(sentences=True),
}
QUESTION = "[1] Source: a.md\nIs this a block?"
FOUND = [
    {
        "text": "The well is nine metres deep. It was dug in 1880.",
        "source": "yard.md",
        "score": 0.9,
    },
    {"text": "The mill was built of oak.", "source": "mill.md", "score": 0.4, "page": 3},
]


def context_of(found, name, **options):
    """Every chunk, in this format."""
    return assemble(
        QUESTION, found, budget=20_000, recipe="citations", format=FORMATS[name], **options
    )


def forms(name, sent):
    """The same messages as each client takes them, with and without breakpoints."""
    if name == "openai-parts":
        yield "openai", format_for_openai(sent)
        yield "responses", format_for_responses(sent)
    else:
        yield "anthropic", format_for_anthropic(sent)
        yield "anthropic", format_for_anthropic(sent, cache="5m")
        yield "anthropic", format_for_anthropic(sent, cache="1h")


READABLE = texts().filter(lambda text: not is_invisible(text))
HOSTILE = st.fixed_dictionaries(
    {"text": READABLE, "source": texts(), "title": texts(), "section": texts()},
    optional={"summary": texts(), "page": st.integers(0, 99)},
)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=12, deadline=None)
@given(found=st.lists(HOSTILE, min_size=1, max_size=4))
def test_what_is_sent_is_of_the_providers_types_and_is_read_back(name, found):
    """R1, R3: whatever documents say, requests are well formed and give back the very blocks."""
    context = context_of([{**one, "row": n} for n, one in enumerate(found)], name)
    renderer = Renderer(format=FORMATS[name])
    expected = [renderer.shown(block) for block in context.blocks]

    for provider, request in forms(name, messages(context, system="Cite.")):
        check_request(provider, request)
        turns = request["messages"] if provider == "anthropic" else request
        logged = json.loads(json.dumps(turns[-1]["content"]))
        assert [replace(one, start=0) for one in parse_message(logged).blocks] == expected


def marks(blocks):
    """The places of the breakpoints in a list of blocks."""
    return [n for n, one in enumerate(blocks) if "cache_control" in one]


@pytest.mark.parametrize("name", [*ANTHROPIC, "sentences"])
def test_breakpoints_stand_behind_the_prompt_and_behind_the_context(name):
    """R1, W4: another question about the same context begins with the same cached bytes."""
    first = context_of(FOUND, name)
    second = replace(first, query="And how old is it?")
    found = []
    for context in (first, second):
        request = list(forms(name, messages(context, system="Cite.")))[-1][1]
        assert marks(request["system"]) == [0]
        (turn,) = request["messages"]
        assert marks(turn["content"]) == [len(context.blocks)] == [len(turn["content"]) - 2]
        assert turn["content"][-1]["text"] == context.query
        found.append((request["system"], turn["content"][:-1]))

    assert found[0] == found[1]


def test_how_long_a_breakpoint_holds_is_the_providers_to_say():
    """R1, W4: the time is set as the provider spells it; any other is refused."""
    sent = format_for_anthropic(messages(context_of(FOUND, "anthropic-document")), cache="1h")

    mark = sent["messages"][0]["content"][-2]["cache_control"]
    assert mark == {"type": "ephemeral", "ttl": "1h"}
    with pytest.raises(BadOption, match="cache is '2h'; give "):
        format_for_anthropic([{"role": "user", "content": "Q"}], cache="2h")


def test_breakpoints_of_others_give_way():
    """R1, W4: with theirs there would be more than the four that are taken."""
    mark = {"type": "ephemeral"}
    part = {"type": "text", "text": "Well.", "cache_control": mark}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [part], "cache_control": mark}
    earlier = [
        {"role": "user", "content": [part, result]},
        {"role": "assistant", "content": [part]},
    ]
    said = [*earlier * 3, *messages(context_of(FOUND, "anthropic-document"), system="Cite.")]

    sent = format_for_anthropic(said, cache="5m")

    assert json.dumps(sent).count("cache_control") == 2
    assert json.dumps(said).count("cache_control") == 12
    assert json.dumps(format_for_anthropic(said)).count("cache_control") == 12


def test_what_is_sent_is_a_copy():
    """R1: what is done to a request is not done to the messages that it was made of."""
    said = messages(context_of(FOUND, "anthropic-document"))
    before = json.dumps(said)

    for sent in (
        format_for_anthropic(said)["messages"],
        format_for_anthropic(said, cache="1h")["messages"],
    ):
        sent[-1]["content"][0]["source"]["data"] = "Forged."
        sent[-1]["content"].clear()

    assert json.dumps(said) == before


def test_what_the_model_said_is_an_output():
    """R1: OpenAI's responses call parts of an answer by another name, and refuse the wrong one."""
    part = {"type": "text", "text": "Nine metres."}
    said = [{"role": role, "content": [part]} for role in ("user", "assistant", "user")]

    kinds = [one["content"][0]["type"] for one in format_for_responses(said)]

    assert kinds == ["input_text", "output_text", "input_text"]


def test_a_conversation_has_no_more_breakpoints_than_a_question():
    """R1, W4: the provider takes four; what stands before the last message is kept with it."""
    earlier = messages(context_of(FOUND, "openai-parts"), system="Cite.")
    said = [*earlier, {"role": "assistant", "content": "Nine metres [1]."}, earlier[-1]] * 4

    sent = format_for_anthropic(said, cache="5m")["messages"]

    lists = [one["content"] for one in sent if not isinstance(one["content"], str)]
    assert sum(len(marks(blocks)) for blocks in lists) == 1
    assert marks(sent[-1]["content"]) == [2]


def test_a_context_that_is_a_text_has_a_breakpoint_behind_the_prompt_alone():
    """R1: its question stands in the same string."""
    context = assemble("How deep?", FOUND, budget=200)
    request = format_for_anthropic(messages(context), cache="5m")

    check_request("anthropic", request)
    assert marks(request["system"]) == [0]
    assert request["messages"][0]["content"].endswith("How deep?")
    assert format_for_anthropic(messages(context, system=""), cache="5m").keys() == {"messages"}


@pytest.mark.parametrize("name", [*ANTHROPIC, "sentences"])
def test_a_context_is_a_tools_result(name):
    """R1, W1: the parts go into a tool's result as they are."""
    parts = parse_content_parts(context_of(FOUND, name))

    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": parts}
    check_request("tool result", result)
    assert len(parts) == 2


def test_the_check_of_types_notices_what_is_wrong():
    """A missing field, a wrong one and one too many are no request."""
    good = format_for_anthropic(messages(context_of(FOUND, "anthropic-search-result")))
    check_request("anthropic", good)
    part = good["messages"][0]["content"][0]

    for wrong in ({**part, "cache": 1}, {**part, "source": 3}, {"type": "search_result"}):
        with pytest.raises((AssertionError, ValidationError)):
            check_request("anthropic", {"messages": [{"role": "user", "content": [wrong]}]})


def test_each_sentence_is_a_text_that_can_be_cited():
    """R1: with `sentences` a search result's texts are its sentences, nothing lost between them."""
    (well, mill) = parse_content_parts(context_of(FOUND, "sentences"))

    assert [one["text"] for one in well["content"]] == [
        "The well is nine metres deep. ",
        "It was dug in 1880.",
    ]
    assert [one["text"] for one in mill["content"]] == [FOUND[1]["text"]]


@pytest.mark.parametrize("recipe", ["default", "citations", "four-stage"])
@pytest.mark.parametrize("budget", [150, 333, 700])
def test_sentences_keep_the_budget(recipe, budget):
    """B1: what stands between the sentences is counted, too."""
    said = " ".join(f"The pump at place {n} runs at {n} bar." for n in range(4))
    found = [
        {"text": f"{said} Row {n}.", "source": f"{n}.md", "score": 1 - n / 9} for n in range(6)
    ]
    context = assemble(
        "Which pump?", found, budget=budget, recipe=recipe, format=FORMATS["sentences"]
    )

    assert plugins.tokenizer("cl100k_base").count(context.text) == context.token_count <= budget
    assert context.blocks


def test_what_is_no_context_is_not_read_back():
    """R1, X1: parts of another make are refused, another provider's blocks as well."""
    with pytest.raises(BadInput, match="holds parts that no context has"):
        parse_message([{"type": "document", "title": "x"}, {"type": "text", "text": "Q"}])
    with pytest.raises(BadInput, match="must be a list of parts"):
        parse_message(["Q", "R"])
    with pytest.raises(BadOption, match="take the format 'openai-parts'"):
        format_for_responses(messages(context_of(FOUND, "anthropic-document")))
    assert parse_message([{"type": "text", "text": "Q"}]).blocks == ()


@pytest.mark.parametrize(
    "logged",
    [
        *(None, b"Q", {}, {"content": []}, 7),
        [{"type": ["document"]}, {"type": "text", "text": "Q"}],
        [{"type": "document", "title": None, "context": None, "source": {"data": "A."}}, {}],
        [{"type": "search_result", "source": None, "title": None, "content": None}, {}],
        [{"type": "text", "text": None}, {}],
    ],
)
def test_a_log_of_another_shape_is_bad_input(logged):
    """X1: whatever a log holds, the error is ours and says what to give."""
    with pytest.raises(BadInput, match="field 'content'"):
        parse_message(logged)


@settings(max_examples=40, deadline=None)
@given(title=st.text("aé[1]. ,:§\\<|\u200b\U0001f600", max_size=700), source=texts())
def test_a_documents_title_is_of_a_length_that_is_taken(title, source):
    """R1, R3, C1: never empty, at most 255 characters, also in a citation; read back whole."""
    block = Block(marker=1, text="Deep.", source=source, title=title, section="S", page=3)
    renderer = Renderer(format=BUILTIN["anthropic-document"]())
    text = renderer.render([block]).text

    (part,) = json.loads(text)

    assert 0 < len(part.get("title", "x")) <= 255
    assert [one.fields for one in renderer.parse(text)] == [renderer.shown(block).fields]
