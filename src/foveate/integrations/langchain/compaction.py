"""Message lists of LangChain and LangGraph agents, fitted before the model is called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.models import Model
from foveate.pipeline.compact import compact
from foveate.stores.originals import OriginalStore

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Content blocks of an assistant that its `tool_calls` have already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoveateCompaction:
    """Fits a message list with `foveate.compact`; the options are its own.

    Called with messages, it gives messages: those that stay are the objects that came. Called with
    a graph's state (`{"messages": [...]}`), it gives `{"llm_input_messages": [...]}`, which makes
    it a `pre_model_hook` of LangGraph: the state keeps the whole list. `originals`: where the texts
    behind handles are kept, for `tenant` and `principals`.
    """

    budget: int | None = None
    tools: Sequence[Mapping[str, Any]] = ()
    model: str | Model | None = None
    tokenizer: str | Tokenizer | None = None
    query: str | None = None
    slack: int | None = None
    originals: OriginalStore | None = field(default=None, repr=False)
    tenant: str = ""
    principals: tuple[str, ...] = ()

    def __call__(self, given: Any) -> Any:
        """Messages for messages, the hook's update for a state."""
        if isinstance(given, Mapping):
            known: Any = given["messages"]
            return {"llm_input_messages": self.messages(known)}
        return self.messages(given)

    def messages(self, messages: Iterable[BaseMessage]) -> list[BaseMessage]:
        """The messages that fit; raises as `foveate.compact` does."""
        known = list(messages)
        made = compact(
            [message_to_json(message, n) for n, message in enumerate(known)],
            budget=self.budget,
            tools=self.tools,
            model=self.model,
            tokenizer=self.tokenizer,
            query=self.query,
            slack=self.slack,
            form="openai",
        )
        if self.originals is not None and made.originals:
            self.originals.keep(made.originals, tenant=self.tenant, principals=self.principals)
        return [
            self._to_langchain(known, place, message, made.source)
            for place, message in zip(made.places, made.messages, strict=True)
        ]

    @staticmethod
    def _to_langchain(
        known: Sequence[BaseMessage],
        place: int,
        message: Mapping[str, Any],
        source: Sequence[Mapping[str, Any]],
    ) -> BaseMessage:
        if place < 0:
            return HumanMessage(message["content"])
        if message is source[place]:
            return known[place]
        return known[place].model_copy(update={"content": message["content"]})


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
            {
                "id": call["id"] or call["name"],
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["args"], ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        found["tool_call_id"] = message.tool_call_id
    return found


def _is_call(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _CALL_BLOCKS
