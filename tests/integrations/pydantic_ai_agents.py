"""Agents of pydantic-ai, against the real package. Run by `make matrix`."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

from agent_faces import (
    BUDGET,
    INSTRUCTIONS,
    PAGE,
    PAGES,
    QUESTION,
    check_example,
    check_made,
    read,
    shown,
)
from foveate.integrations.pydantic_ai import FoveateCompaction
from message_lists import PIXEL, unmatched


class Script:
    """A model that reads every page, and notes what it is sent."""

    def __init__(self):
        self.seen = []

    def __call__(self, messages, info):
        """Note the request, and answer it."""
        page = len(self.seen)
        self.seen.append((messages, info))
        if page == PAGES:
            return ModelResponse([TextPart("pump_119.")])
        return ModelResponse([ToolCallPart("read", {"page": page}, tool_call_id=f"c{page}")])


def ids(messages, kind):
    """The ids of the calls, or of the results, in order."""
    parts = [part for message in messages for part in message.parts]
    return [part.tool_call_id for part in parts if isinstance(part, kind)]


def test_every_request_of_an_agent_fits():
    """A8, F6: instructions and tools included; the run's history keeps everything."""
    script, made = Script(), []
    fit = FoveateCompaction(budget=BUDGET, on_compact=made.append)
    agent = Agent(
        FunctionModel(script),
        system_prompt="You cite.",
        instructions=INSTRUCTIONS,
        tools=[read],
        capabilities=[fit],
    )
    done = agent.run_sync(QUESTION)

    assert done.output == "pump_119."
    check_made(made)
    assert len(done.all_messages()) == 2 + 2 * PAGES
    assert done.all_messages()[2].parts[0].content.endswith(PAGE)
    for messages, info in script.seen:
        assert info.instructions == INSTRUCTIONS
        assert ids(messages, ToolCallPart) == ids(messages, ToolReturnPart)
        assert messages[0].parts[0].content == "You cite."
    assert "[Ledger" in str(script.seen[-1][0])


def test_a_history_processor_replaces_the_history():
    """A8, F6: as the package wants it; each request fits and pairs up."""
    script, made = Script(), []
    fit = FoveateCompaction(budget=BUDGET, on_compact=made.append)
    agent = Agent(FunctionModel(script), tools=[read], capabilities=[ProcessHistory(fit)])
    done = agent.run_sync(QUESTION)

    assert len(made) == PAGES + 1
    assert all(one.token_count <= BUDGET for one in made)
    for messages, _ in script.seen:
        assert ids(messages, ToolCallPart) == ids(messages, ToolReturnPart)
    assert "[Ledger" in str(done.all_messages())
    assert len(str(done.all_messages())) < 4 * len(PAGE)


def history(results):
    """A history with parts of many kinds, whose results are large."""
    image = BinaryContent(data=bytes.fromhex("89504e470d0a1a0a"), media_type="image/png")
    calls = [ToolCallPart("read", {"page": n}, tool_call_id=f"c{n}") for n in range(len(results))]
    return [
        ModelRequest([SystemPromptPart("You read."), UserPromptPart(["Look at pump_7.", image])]),
        ModelResponse([ThinkingPart("Hm."), CompactionPart("Earlier, pump_3 was closed.")]),
        ModelRequest([UserPromptPart(PAGE)]),
        ModelResponse([TextPart("I read."), *calls]),
        ModelRequest(
            [
                ToolReturnPart("read", text, tool_call_id=call.tool_call_id)
                for text, call in zip(results, calls, strict=True)
            ]
        ),
    ]


def test_a_history_that_fits_comes_back_object_for_object():
    """A1: nothing is rebuilt, whatever its parts are; a request may be empty."""
    messages = [*history([{"pump": 7}, PAGE]), ModelResponse([TextPart("So.")]), ModelRequest([])]
    fitted = FoveateCompaction(budget=99_999)(messages)
    assert len(fitted) == len(messages)
    assert all(a is b for a, b in zip(fitted, messages, strict=True))


def test_messages_are_shortened_part_by_part():
    """A2, A4: instructions, compactions and small results stay; a changed message is a copy."""
    messages = history([{"pump": 7}, PAGE])
    before = str(messages)
    fitted = FoveateCompaction(budget=500)(messages)
    assert str(messages) == before
    parts = [part for message in fitted for part in message.parts]
    assert parts[0] is messages[0].parts[0]
    assert messages[1].parts[1] in parts
    assert messages[2].parts[0] not in parts
    small, large = fitted[-1].parts
    assert small is messages[4].parts[0]
    assert (large.tool_call_id, "[shortened:" in large.content) == ("c1", True)


def test_a_shortened_result_keeps_its_files():
    """A2: an image that a tool returned is not text, and stays beside the shorter text."""
    image = BinaryContent(data=PIXEL.encode(), media_type="image/png")
    fitted = FoveateCompaction(budget=1_500)(history([{"pump": 7}, [PAGE * 3, image]]))
    large = fitted[-1].parts[1]
    assert large.files == [image]
    assert "[shortened:" in large.model_response_str()


@pytest.mark.filterwarnings("ignore:.*RetryPromptPart")
def test_a_retry_of_an_old_history_answers_its_call():
    """A2: a call that was answered by a retry prompt keeps it, or both leave."""
    retry = RetryPromptPart("No such page.", tool_name="read", tool_call_id="c0")
    call = ModelResponse([ToolCallPart("read", {"page": 0}, tool_call_id="c0")])
    messages = [ModelRequest([UserPromptPart(PAGE)]), call, ModelRequest([retry])]
    made = []
    fitted = FoveateCompaction(budget=500, on_compact=made.append)(messages)
    assert fitted[-2:] == messages[-2:]
    assert unmatched(made[0].messages) == []


def test_media_count():
    """A7: an image in a prompt is counted by its formula, not as text or as nothing."""
    made = []
    image = BinaryContent(data=PIXEL.encode() * 99, media_type="image/png")
    FoveateCompaction(budget=9_999, on_compact=made.append)(
        [ModelRequest([UserPromptPart(["Look.", image])])]
    )
    assert 85 <= made[0].token_count <= 1_700


def test_the_page_shows_what_runs():
    """F6: the program of docs/agents.md makes an agent."""
    names = {"model": FunctionModel(Script()), "tools": [read]}
    exec(shown("foveate.integrations.pydantic_ai"), names)
    assert names["agent"].run_sync(QUESTION).output == "pump_119."


def test_the_example_fits_every_request(monkeypatch, capsys):
    """A8, F6: examples/pydantic_ai_agent.py runs sixty turns; its history keeps all messages."""
    check_example("pydantic_ai_agent.py", monkeypatch, capsys)
