"""Message lists of LangChain and LangGraph agents, fitted before the model is called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from foveate.core.errors import BadInput
from foveate.integrations.compaction import CompactionOptions, chat_call, compact_items
from foveate.integrations.known_options import refuse_unknown_options
from foveate.integrations.langchain.citations import number_citations

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Content blocks of an assistant that its `tool_calls` have already."""


@refuse_unknown_options
@dataclass(kw_only=True, eq=False)
class FoveateCompaction(CompactionOptions):
    """Fits a message list with `foveate.compact`; `tools` are counted within the budget.

    Called with messages, it gives messages: those that stay are the objects that came. Called with
    a graph's state (`{"messages": [...]}`), it gives `{"llm_input_messages": [...]}`, which makes
    it a `pre_model_hook` of LangGraph: the state keeps the whole list.
    """

    tools: Sequence[Mapping[str, Any]] = ()

    def __call__(self, given: Any) -> Any:
        """Messages for messages, the hook's update for a state; raises as `compact` does."""
        if isinstance(given, Mapping):
            known: Any = given["messages"]
            return {"llm_input_messages": fit_messages(self, known, self.tools)}
        return fit_messages(self, given, self.tools)


def fit_messages(
    options: CompactionOptions,
    messages: Iterable[BaseMessage],
    beside: Iterable[Mapping[str, Any]] = (),
) -> list[BaseMessage]:
    """The messages that fit with what is sent `beside` them, with one numbering of citations."""
    return compact_items(
        options,
        number_citations(messages),
        form="openai",
        read=message_to_json,
        write=_message_from_json,
        beside=beside,
    )


def _message_from_json(known: BaseMessage | None, message: Mapping[str, Any]) -> BaseMessage:
    if known is None:
        made = AIMessage if message["role"] == "assistant" else HumanMessage
        return made(message["content"])
    return known.model_copy(update={"content": message["content"]})


def message_to_json(message: BaseMessage, place: int) -> dict[str, Any]:
    """A message in the form of OpenAI's chat, as far as it is counted and matched."""
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise BadInput(f"message {place + 1} must be a message of LangChain, not {kind}")
    content: Any = message.content
    if isinstance(message, AIMessage) and message.tool_calls and not isinstance(content, str):
        content = [b for b in content if not _is_call(b)]
    found = {"role": _ROLES.get(message.type, message.type), "content": content}
    if isinstance(message, AIMessage) and message.tool_calls:
        found["tool_calls"] = [
            chat_call(
                call["id"] or call["name"],
                call["name"],
                json.dumps(call["args"], ensure_ascii=False),
            )
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        found["tool_call_id"] = message.tool_call_id
    return found


def _is_call(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _CALL_BLOCKS
