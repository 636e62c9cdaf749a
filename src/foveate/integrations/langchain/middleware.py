"""Middleware of LangChain agents: each request of the model fits. It needs `langchain` itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.utils.function_calling import convert_to_openai_tool

from foveate.integrations.compaction import CompactionOptions
from foveate.integrations.known_options import refuse_unknown_options
from foveate.integrations.langchain.compaction import fit_messages, message_to_json


@refuse_unknown_options
@dataclass(kw_only=True, eq=False)
class FoveateMiddleware(CompactionOptions, AgentMiddleware):  # type: ignore[misc]
    """Fits the messages of each request with `foveate.compact`; the agent's state keeps them all.

    The system message and the schemas of the tools count within the budget.
    """

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Call the model with what fits; raises as `foveate.compact` does."""
        return handler(self._fit(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]
    ) -> Any:
        """`wrap_model_call` without blocking the event loop."""
        return await handler(await asyncio.to_thread(self._fit, request))

    def _fit(self, request: ModelRequest) -> ModelRequest:
        beside = [
            tool if isinstance(tool, dict) else convert_to_openai_tool(tool)
            for tool in request.tools
        ]
        if request.system_message is not None:
            beside.append(message_to_json(request.system_message, 0))
        return request.override(messages=fit_messages(self, request.messages, beside))
