"""Message lists of LangChain and LangGraph, against the real packages."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

from foveate import BadInput, OriginalStore, expand
from foveate.core.compact.shorten import result_handle
from foveate.integrations.langchain import (
    FoveateCompaction,
    FoveateRetriever,
    cited_documents,
    number_citations,
)

PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(120))


@tool
def read(page: int) -> str:
    """Read a page of the manual."""
    return f"Page {page}\n{PAGE}"


class Model(GenericFakeChatModel):
    """A model with a script, which notes what it is sent."""

    seen: list = []

    def bind_tools(self, tools, **_):
        """It calls tools as its script says."""
        return self

    def _generate(self, messages, *args, **kwargs):
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


def called(number):
    """The model's call for a page."""
    call = {"name": "read", "args": {"page": number}, "id": f"c{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_an_agent_in_langgraph_reads_ten_pages_in_a_small_window():
    """A8, F6: every request fits and pairs up; the state keeps all, and originals are kept."""
    script = [*(called(n) for n in range(10)), AIMessage("pump_119 opens last.")]
    model = Model(messages=iter(script))
    store = OriginalStore()
    made = []
    fit = FoveateCompaction(budget=900, originals=store, tenant="t", on_compact=made.append)
    agent = create_react_agent(model, [read], prompt="You read.", pre_model_hook=fit)

    done = agent.invoke({"messages": [HumanMessage("Which pump opens last?")]})

    assert len(done["messages"]) == 22
    assert len(model.seen) == 11
    assert [one.token_count <= 900 for one in made] == [True] * 11
    assert {decision.action for decision in made[-1].decisions} >= {"dropped", "kept"}
    for request in model.seen:
        calls = [c["id"] for m in request if isinstance(m, AIMessage) for c in m.tool_calls]
        assert calls == [m.tool_call_id for m in request if isinstance(m, ToolMessage)]
    assert "[Ledger" in str(model.seen[-1])
    handle = result_handle(done["messages"][2].content)
    assert expand(handle, store, tenant="t", budget=9_999) == done["messages"][2].content


def test_messages_that_stay_are_the_objects_that_came():
    """A1, F6: a list that fits comes back as it is; a shortened result keeps its id."""
    talk = [
        SystemMessage("You read."),
        HumanMessage([{"type": "text", "text": "Read pump_077."}]),
        called(1),
        ToolMessage(PAGE, tool_call_id="c1", id="m1"),
    ]
    assert all(a is b for a, b in zip(FoveateCompaction(budget=9_999)(talk), talk, strict=True))
    shown = FoveateCompaction(budget=400)(talk)
    assert [type(m) for m in shown][-1] is ToolMessage
    assert (shown[-1].id, shown[-1].tool_call_id) == ("m1", "c1")
    assert "pump_077" in shown[-1].content
    assert all(a is b for a, b in zip(shown[-3:-1], talk[1:3], strict=True))
    with pytest.raises(BadInput, match="message 1 must be a message of LangChain"):
        FoveateCompaction(budget=9)(["hello"])


WORDS = [
    "alder",
    "birch",
    "cedar",
    "elder",
    "fir",
    "gorse",
    "hazel",
    "ivy",
    "larch",
    "maple",
    "oak",
]
LOCKS = [
    Document(f"The {word} gate, {word * 2} [9].", metadata={"source": f"lock{n}.md"})
    for n, word in enumerate(WORDS)
]


def lock_search(**options):
    """A tool of LangChain's own over our retriever: a question names the locks it finds."""
    found = RunnableLambda(lambda asked: [LOCKS[int(n)] for n in asked.split() if n.isdigit()])
    retriever = FoveateRetriever(retriever=found, budget=400, recipe="citations", **options)
    about = "Search for locks by number."
    return create_retriever_tool(retriever, "search", about, response_format="content_and_artifact")


def asks(*calls):
    """The model's calls for locks, side by side."""
    made = [
        {"name": "search", "args": {"query": f"Lock {asked}"}, "id": name, "type": "tool_call"}
        for name, asked in calls
    ]
    return AIMessage("", tool_calls=made)


def shown_markers(message):
    """Marker and source of each block of a result, as the model reads it."""
    heads = [line for line in message.content.splitlines() if line.startswith("[")]
    return [(int(h[1 : h.index("]")]), h.split()[-1]) for h in heads]


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_a_marker_is_one_source_in_the_whole_run():
    """C1, A8, F6: over calls side by side and one after the other, and from a checkpoint."""
    script = [
        asks(("a", "1 2"), ("b", "2 3")),
        asks(("c", "3 4 1")),
        asks(("d", "5 6 7 8 9 10")),
        AIMessage("Lock 4 [4]."),
    ]
    model = Model(messages=iter(script))
    fit = FoveateCompaction(budget=9_000)
    agent = create_react_agent(
        model, [lock_search()], pre_model_hook=fit, checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage("When do the locks open?")]}, thread)

    results = [m for m in model.seen[-1] if isinstance(m, ToolMessage)]
    assert [m.tool_call_id for m in results] == ["a", "b", "c", "d"]
    pairs = [pair for message in results for pair in shown_markers(message)]
    sources = dict(pairs)
    assert len(set(pairs)) == len(sources) == 10
    assert sorted(sources) == list(range(1, 11))
    for request in model.seen:  # and what was sent keeps its bytes
        for message in request:
            if isinstance(message, ToolMessage):
                assert message.content == next(
                    r.content for r in results if r.tool_call_id == message.tool_call_id
                )
    kept = agent.get_state(thread).values["messages"]
    cited = cited_documents(kept)
    assert {n: one[0].metadata["source"] for n, one in cited.items()} == sources
    assert [one.metadata["foveate"]["label"] for one in cited[2]] == ["[2]"] * 2
    assert all("[\\9]" in one.page_content for shown in cited.values() for one in shown)


def test_headers_alone_are_numbered_and_spans_move_with_them():
    """C1, J3: the index of `xml`, no number in a text or a name, ten results in a row."""
    calls = [
        {"name": "search", "args": {"query": f"Lock {n}"}, "id": str(n), "type": "tool_call"}
        for n in range(1, 11)
    ]
    for search in (lock_search(format="xml"), lock_search()):
        messages = [search.invoke(call) for call in calls]
        cited = cited_documents(messages)
        assert list(cited) == [*range(1, 11)]
        for document in (one for shown in cited.values() for one in shown):
            first, last = document.metadata["foveate"]["span"]
            assert document.page_content[first:last].startswith("The ")
            assert "gate" in document.page_content[first:last]
    for each in (lock_search(format="doc"), lock_search(format="grouped")):
        messages = [each.invoke(call) for call in calls[:2]]
        assert number_citations(messages)[1].content == messages[1].content


@pytest.mark.parametrize(
    "artifact",
    [
        {"page_content": "x", "metadata": 5},
        {"page_content": "x", "metadata": {"foveate": {}}},
        {"page_content": "", "metadata": {"foveate": {"label": ""}}},
        {"page_content": "[1]", "metadata": {"foveate": {"label": "[1]"}}},
    ],
)
def test_artifacts_of_other_tools_are_left_alone(artifact):
    """F6, X2: a tool that is not ours may give what it likes."""
    message = ToolMessage("x", tool_call_id="a", artifact=[artifact])
    assert number_citations([message]) == [message]
    assert cited_documents([message]) == {}


def test_results_that_cannot_be_numbered_stay_as_they_are():
    """C1, F6: no marker in the text, a text without its documents, documents of others."""
    asked = "Lock 1 2"
    call = {"name": "search", "args": {"query": asked}, "id": "a", "type": "tool_call"}
    plain = lock_search().invoke(call)
    messages = [
        lock_search(format="minimal").invoke(call),
        lock_search(format="doc").invoke(call),
        plain.model_copy(update={"content": "Two locks were found."}),
        ToolMessage("[1] x", tool_call_id="b", artifact=[Document("[1] x")]),
        ToolMessage("[1] y", tool_call_id="c", artifact={"rows": 1}),
        plain,
    ]
    numbered = number_citations(messages)
    assert all(a is b for a, b in zip(numbered, messages, strict=True))
    assert sorted(cited_documents(messages)) == [1, 2]
