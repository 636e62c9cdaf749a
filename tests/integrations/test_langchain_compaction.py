"""Message lists of LangChain and LangGraph, against the real packages."""

from __future__ import annotations

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent

from foveate import BadInput, OriginalStore, expand
from foveate.core.compact.shorten import result_handle
from foveate.integrations.langchain import FoveateCompaction

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
