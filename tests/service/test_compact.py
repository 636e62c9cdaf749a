"""`POST /v1/compact` and `POST /v1/expand`, from outside."""

from __future__ import annotations

from foveate import compact
from foveate.core.compact.shorten import result_handle
from foveate.pipeline.compact_json import compacted_to_json
from service_server import problem

PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(120))
CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
MESSAGES = [
    {"role": "system", "content": "You keep the pumps."},
    {"role": "user", "content": "When does pump_077 open?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": PAGE},
]


def test_a_list_becomes_what_the_library_makes_of_it(service):
    """A8, F3: the same JSON as the library's, originals kept for the handle."""
    answer = service.post("/v1/compact", json={"messages": MESSAGES, "budget": 300})
    assert answer.status_code == 200
    assert answer.json() == compacted_to_json(compact(MESSAGES, budget=300))
    assert answer.json()["handles"] == [result_handle(PAGE)]

    asked = {"handle": result_handle(PAGE), "query": "pump_119", "budget": 80}
    more = service.post("/v1/expand", json=asked).json()
    assert "the valve of pump_119 opens" in more["text"]
    assert more["token_count"] <= 80


def test_tools_that_fit_their_own_budget_are_in_the_answer(service):
    """A11, F3: as the library chooses them, within the budget of the request."""
    tools = [{"name": f"open_{n}", "description": f"Opens valve {n}. " * 20} for n in range(40)]
    asked = {"messages": MESSAGES[:2], "tools": tools, "budget": 2_000, "tools_budget": 700}
    answer = service.post("/v1/compact", json=asked)
    made = compact(MESSAGES[:2], budget=2_000, tools=tools, tools_budget=700)
    assert answer.json() == compacted_to_json(made)
    assert answer.json()["tools"][-1]["name"] == "find_tools"
    small = service.post("/v1/compact", json={**asked, "tools_budget": 9})
    assert problem(small)["needed"] > 9


def test_an_original_is_read_under_the_principals_it_was_kept_for(service):
    """A4, I4: what was kept for staff has no handle for anybody else."""
    text = PAGE.replace("valve", "secret valve")
    messages = [*MESSAGES[:3], {**MESSAGES[3], "content": text}]
    service.post("/v1/compact", json={"messages": messages, "budget": 300})
    asked = {"handle": result_handle(text), "budget": 9_000}
    assert service.post("/v1/expand", json=asked).json()["text"] == text
    refused = service.post("/v1/expand", json={**asked, "principals": []})
    assert refused.status_code == 400
    assert problem(refused)["field"] == "handle"


def test_a_budget_that_is_too_small_names_the_one_that_would_do(service):
    """X2, B1: as the problem says; a model's window is a budget too."""
    asked = {"messages": MESSAGES[:2]}
    small = service.post("/v1/compact", json={**asked, "budget": 3})
    fits = service.post("/v1/compact", json={**asked, "budget": problem(small)["needed"]})
    window = service.post("/v1/compact", json={"messages": MESSAGES, "model": "gpt-4.1"})

    assert (small.status_code, fits.status_code) == (422, 200)
    assert window.json()["messages"] == MESSAGES
