"""The tools as an MCP server, whatever carries the messages.

Rules: what goes wrong in a call is the result of that call, as an error that says what to do, so
that the agent reads it; the log gets the rest. A tool that the caller may not use is not listed,
and is unknown to a call.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from foveate._version import __version__
from foveate.core.errors import MissingExtra
from foveate.service.mcp.arguments import check_arguments
from foveate.service.mcp.calls import ToolContext
from foveate.service.mcp.failures import Failure, failure_from_error
from foveate.service.mcp.results import ToolResult
from foveate.service.mcp.tools import INSTRUCTIONS, Tool

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server, ServerRequestContext

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One request: the desk it is served from, and the tools that whoever asks may use.

    `note` puts down what an answer is made of, before it is given.
    """

    context: ToolContext
    tools: tuple[Tool, ...]
    record: Callable[[ToolResult], None] = lambda _: None


class RunCall(Protocol):
    """Does the work of one call somewhere where it holds nobody up."""

    def __call__(self, work: Callable[[], ToolResult], /) -> Awaitable[ToolResult]:
        """Its answer; raises what the work raises, `Refused` or `TimeoutError`."""


class Authentication(Protocol):
    """Who asks, and what they may; for the HTTP transport the request has the key."""

    def __call__(self, request: Any, /) -> ToolCall:
        """The visit; the request is None where there is none."""


def build_server(reception: Authentication, run: RunCall) -> Server[Any]:
    """The server; raises `MissingExtra` where its package is not installed."""
    try:
        from mcp import types
        from mcp.server import Server
    except ImportError:
        raise MissingExtra("mcp", "mcp") from None

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        visit = reception(ctx.request)
        return types.ListToolsResult(tools=[_tool_to_mcp(tool) for tool in visit.tools])

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        visit = reception(ctx.request)
        tool = _find_tool(params.name, visit.tools)
        try:
            # Arguments are looked at where the work is done: many of them take a while, too.
            answer = await run(
                lambda: tool.function(
                    visit.context, check_arguments(params.arguments, tool.input_schema)
                )
            )
            visit.record(answer)
            return _result_to_mcp(answer)
        except Exception as error:
            failure = failure_from_error(error, visit.context.limits.budget)
            if failure.is_internal:
                logger.exception("%s failed", tool.name)
            return _failure_to_mcp(failure)

    return Server(
        "foveate",
        version=__version__,
        title="foveate",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _find_tool(name: str, tools: tuple[Tool, ...]) -> Tool:
    """The tool of that name, as a protocol error where there is none."""
    from mcp import types
    from mcp.shared.exceptions import MCPError

    for tool in tools:
        if tool.name == name:
            return tool
    known = ", ".join(tool.name for tool in tools)
    raise MCPError(types.INVALID_PARAMS, f"unknown tool {name[:60]!r}; known: {known}")


def _tool_to_mcp(tool: Tool) -> types.Tool:
    from mcp import types

    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _result_to_mcp(answer: ToolResult) -> types.CallToolResult:
    from mcp import types

    return types.CallToolResult(
        content=[types.TextContent(text=part) for part in answer.parts],
        structured_content=dict(answer.data),
    )


def _failure_to_mcp(failure: Failure) -> types.CallToolResult:
    """An error that the agent reads; the budget that would do for programs too."""
    from mcp import types

    meta = {"foveate/needed": failure.needed} if failure.needed is not None else None
    content = [types.TextContent(text=failure.message)]
    return types.CallToolResult(content=[*content], is_error=True, _meta=meta)
