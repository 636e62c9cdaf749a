"""The tools as an MCP server, for any transport.

An error in a call is the result of that call, with what to do, so that the agent reads it; the log
has the rest. A tool that the caller may not use is not listed, and is unknown to a call.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from foveate._version import __version__
from foveate.core.checks import is_encodable
from foveate.core.errors import MissingExtra
from foveate.service.mcp.calls import (
    INSTRUCTIONS,
    Tool,
    ToolCallError,
    ToolContext,
    failure_from_error,
)
from foveate.service.mcp.results import ToolResult
from foveate.service.mcp.schemas import Schema

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server, ServerRequestContext


MAX_VALUES = 10_000
"""Values in the arguments of one call: far more than any schema allows, and soon looked at."""


_MESSAGES = {
    "minLength": "must have at least {} character",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} item",
    "maxItems": "must have at most {} items",
    "maxProperties": "must have at most {} keys",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "pattern": "must be more than white space",
    "anyOf": "must be a string, a number, a boolean or a list of them",
}


def check_arguments(arguments: Mapping[str, Any] | None, schema: Schema) -> Mapping[str, Any]:
    """The arguments, whole numbers as such.

    Raises `ToolCallError` saying where and what to give.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    given = dict(arguments or {})
    if sum(1 for _ in islice(_iter_values(given), MAX_VALUES + 1)) > MAX_VALUES:
        raise ToolCallError(f"more than {MAX_VALUES:,} values; give fewer")
    error = best_match(Draft202012Validator(schema).iter_errors(given))
    if error is not None:
        raise ToolCallError(f"{_format_path(error.absolute_path)}{_error_message(error)}")
    for place, text in _iter_texts(given, ()):
        if not is_encodable(text):
            raise ToolCallError(
                f"{_format_path(place)}has half of a surrogate pair in it; send UTF-8 text"
            )
    whole: Mapping[str, Any] = _convert_integers(given, schema)
    return whole


def _iter_values(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, Mapping | list):
            waiting.extend(here.values() if isinstance(here, Mapping) else here)


def _format_path(path: Sequence[str | int]) -> str:
    """`candidates[2].text: `."""
    said = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{said.removeprefix('.')[:200]}: " if said else ""


def _error_message(error: Any) -> str:
    rule, value = error.validator, error.validator_value
    if rule == "enum":
        near = get_close_matches(str(error.instance)[:200], value, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"not one of the names that there are; {hint}known: {', '.join(map(str, value))}"
    if rule == "additionalProperties" and value is False:
        known = list(error.schema.get("properties", ()))
        unknown = ", ".join(repr(key)[:60] for key in error.instance if key not in known)
        return f"unknown: {unknown[:200]}; known: {', '.join(known)}"
    if rule == "required":
        missing = [name for name in value if name not in error.instance]
        return f"missing: {', '.join(missing)}"
    if rule == "type":
        return f"must be {' or '.join(value) if isinstance(value, list) else value}"
    return _MESSAGES.get(rule, f"must be {rule}").format(value)


def _iter_texts(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in the arguments, keys included, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield path, key
            yield from _iter_texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _iter_texts(inner, (*path, number))


def _convert_integers(value: Any, schema: Schema) -> Any:
    """JSON has one kind of number: 5.0 is 5 where the schema asks for an `integer`.

    Values of a filter stay as they are: only named properties are converted.
    """
    if schema.get("type") == "integer":
        return int(value)
    if isinstance(value, Mapping):
        named = schema.get("properties", {})
        return {
            key: _convert_integers(v, named[key]) if key in named else v for key, v in value.items()
        }
    if isinstance(value, list):
        return [_convert_integers(inner, schema.get("items", {})) for inner in value]
    return value


logger = logging.getLogger(__name__)


RunCall: TypeAlias = Callable[[Callable[[], ToolResult]], Awaitable[ToolResult]]
"""Runs the work of one call without blocking the event loop.

It raises what the work raises, `ToolCallError` or `TimeoutError`.
"""
Authentication: TypeAlias = Callable[[Any], ToolContext]
"""From the transport's request, None on standard input, to the context of its caller."""


def build_server(authenticate: Authentication, run: RunCall) -> Server[Any]:
    """The server; raises `MissingExtra` if its package is not installed."""
    try:
        from mcp import types
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
    except ImportError:
        raise MissingExtra("mcp", "mcp") from None

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        caller = authenticate(ctx.request)
        return types.ListToolsResult(tools=[_tool_to_mcp(tool) for tool in caller.tools])

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        caller = authenticate(ctx.request)
        tools = {tool.name: tool for tool in caller.tools}
        tool = tools.get(params.name)
        if tool is None:
            message = f"unknown tool {params.name[:60]!r}; known: {', '.join(tools)}"
            raise MCPError(types.INVALID_PARAMS, message)
        try:
            # Checking arguments takes a while too, so it is part of the work.
            result = await run(
                lambda: tool.function(caller, check_arguments(params.arguments, tool.input_schema))
            )
            caller.record(result)
            return types.CallToolResult(
                content=[types.TextContent(text=part) for part in result.parts],
                structured_content=dict(result.data),
            )
        except Exception as error:
            failure = failure_from_error(error, caller.limits.budget)
            if failure.is_internal:
                logger.exception("%s failed", tool.name)
            meta = {"foveate/needed": failure.needed} if failure.needed is not None else None
            content = [types.TextContent(text=failure.message)]
            return types.CallToolResult(content=[*content], is_error=True, _meta=meta)

    return Server(
        "foveate",
        version=__version__,
        title="foveate",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool_to_mcp(tool: Tool) -> types.Tool:
    from mcp import types

    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=hints,
    )
