"""A front for other MCP servers: few of their tools, and `find_tools` for the rest.

Every server is a program of its own, held by a task of its own: one that dies, hangs or cannot be
started costs its own calls a message, and is started again at the next one. What was called or
found stays in the list.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup
from mcp import Client, StdioServerParameters, types
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from foveate import plugins
from foveate._version import __version__
from foveate.core.compact.entries import Entry, ToolCall
from foveate.core.compact.tool_forms import FIND_TOOLS
from foveate.core.compact.tools import choose_tools
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.pipeline.compact import DEFAULT_TOKENIZER, find_tools, token_counter
from foveate.service.mcp.stdio import serve_stdio
from foveate.service.wire.errors import shorten

T = TypeVar("T")
LISTING_SECONDS, RETRY_SECONDS = 10.0, 1.0
"""A server that needs longer to start and list its tools does not hold up the others."""
CLOSING_SECONDS = 5.0
MOST_PAGES = 100
REMEMBERED = 500
"""Calls of the session that decide which tools stay in the list."""
INSTRUCTIONS = "Tools of several servers. Those that are not listed are found by find_tools."
_SPECIFICATION = re.compile(r"(?:(?P<name>[A-Za-z0-9_-]{1,32})=)?(?P<target>\S.*)", re.DOTALL)

logger = logging.getLogger(__name__)


class ServerFailure(Exception):
    """A server cannot be used now; the message says which, and why."""


@dataclass(slots=True, kw_only=True, eq=False)
class Upstream:
    """One server: how it is reached, the connection while there is one, its tools when last seen.

    `seconds`: the time limit of a call.
    """

    name: str
    target: str | StdioServerParameters
    seconds: float
    tools: Sequence[types.Tool] = ()
    failure: str = ""
    client: Client | None = None
    _ready: anyio.Event | None = None
    _scope: anyio.CancelScope | None = None
    _ended: anyio.Event | None = None

    async def call(self, group: TaskGroup, name: str, arguments: Any) -> types.CallToolResult:
        """The result of a tool; raises `ServerFailure`, or the server's own `MCPError`."""
        work = self._use(group, lambda client: client.call_tool(name, arguments))
        try:
            with anyio.fail_after(self.seconds):
                return await work
        except TimeoutError:
            if self.client is None:  # it does not even start; the next call tries again
                self._give_up()
            raise ServerFailure(self._late(self.seconds)) from None

    async def refresh(self, group: TaskGroup) -> None:
        """List the tools again; if that fails, those of the last time stay.

        One that failed last time is not waited for, and goes on starting meanwhile.
        """
        seconds = min(self.seconds, RETRY_SECONDS if self.failure else LISTING_SECONDS)
        try:
            with anyio.fail_after(seconds):
                self.tools = await self._use(group, _list_tools)
            self.failure = ""
        except TimeoutError:
            self.failure = self.failure or self._late(seconds)
        except (ServerFailure, MCPError) as error:
            ours = isinstance(error, ServerFailure)
            self.failure = str(error) if ours else self._say(f"refused: {_reason(error)}")
            logger.warning("%s", self.failure)

    async def close(self) -> None:
        """Give the connection up, and wait a moment for the server to end."""
        if self._scope is None or self._ended is None:
            return
        self._give_up()
        with anyio.move_on_after(CLOSING_SECONDS):
            await self._ended.wait()

    def _give_up(self) -> None:
        if self._scope is not None:
            self._scope.cancel()
        self.client = self._scope = None

    async def _use(self, group: TaskGroup, use: Callable[[Client], Awaitable[T]]) -> T:

        if self._scope is None or self._ready is None:
            self._ready, self._ended = anyio.Event(), anyio.Event()
            self._scope = anyio.CancelScope()
            group.start_soon(self._hold, self._scope, self._ready, self._ended)
        await self._ready.wait()
        client = self.client
        if client is None:
            raise ServerFailure(self.failure or self._say("cannot be reached"))
        try:
            return await use(client)
        except MCPError as error:
            if error.code != types.CONNECTION_CLOSED:
                raise
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            pass
        except Exception as error:  # noqa: BLE001 (such as a result that breaks its own schema)
            raise ServerFailure(self._say(f"gave a wrong answer: {_reason(error)}")) from None
        if self.client is client:
            self._give_up()
        raise ServerFailure(self._say("ended; the next call starts it again"))

    async def _hold(self, scope: anyio.CancelScope, ready: anyio.Event, ended: anyio.Event) -> None:
        """Keep the connection open until it is given up."""
        try:
            with scope:
                async with Client(self.target, cache=None) as client:
                    self.client = client
                    ready.set()
                    await anyio.sleep_forever()
        except Exception as error:  # noqa: BLE001 (whatever the transport raises, the others go on)
            self.failure = self._say(f"cannot be reached: {_reason(error)}")
        finally:
            if self._scope is scope:
                self.client = self._scope = None
            ready.set()
            ended.set()

    def _late(self, seconds: float) -> str:
        return self._say(f"gave no answer within {seconds:g} s")

    def _say(self, what: str) -> str:
        return f"server {self.name!r} {what}"


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return shorten(" ".join(str(error).split()) or type(error).__name__, 300)


async def _list_tools(client: Client) -> list[types.Tool]:
    found: dict[str, types.Tool] = {}
    cursor = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found |= {tool.name: tool for tool in page.tools if tool.name not in found}
        cursor = page.next_cursor
        if not cursor:
            break
    return [*found.values()]


def parse_servers(texts: Iterable[str], seconds: float) -> list[Upstream]:
    """Servers from `[NAME=]COMMAND` or `[NAME=]URL`; raises `BadOption`."""
    found: list[Upstream] = []
    for text in texts:
        match = _SPECIFICATION.fullmatch(text.strip())
        if match is None:
            raise BadOption("--front: give a command or a URL")
        try:
            words = shlex.split(match["target"])
        except ValueError as error:
            raise BadOption(f"--front {text!r}: {error}") from None
        target: str | StdioServerParameters = match["target"]
        is_url = re.match(r"https?://", match["target"])
        if not is_url:
            target = StdioServerParameters(command=words[0], args=words[1:])
        found_name = words[0].split("/")[2] if is_url else Path(words[0]).name
        name = match["name"] or re.sub(r"[^A-Za-z0-9_-]+", "-", found_name)
        if any(one.name == name for one in found):
            raise BadOption(f"--front: two servers are called {name!r}; write NAME=COMMAND")
        found.append(Upstream(name=name, target=target, seconds=seconds))
    return found


@dataclass(slots=True, kw_only=True, eq=False)
class Front:
    """The servers behind one server, for one client.

    `budget`: tokens of the tools that are listed, more where those that were called need it.
    `task`: what the agent does, by which the first tools are chosen. `count`: tokens of a text.
    """

    servers: Sequence[Upstream]
    budget: int
    task: str
    count: Callable[[str], int]
    _group: TaskGroup | None = None
    _calls: dict[tuple[str, str], None] = field(default_factory=dict)
    _routes: dict[str, tuple[Upstream, types.Tool]] = field(default_factory=dict)
    _listed: list[dict[str, Any]] = field(default_factory=list)
    _bus: InMemorySubscriptionBus | None = None

    async def serve(self) -> None:
        """Serve on standard input and output until the input ends."""
        self._bus = InMemorySubscriptionBus()
        server = Server[Any](
            "foveate front",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        changes = NotificationOptions(tools_changed=True)
        async with anyio.create_task_group() as self._group:
            await serve_stdio(server, self._close, changes)
            self._group.cancel_scope.cancel()

    async def _close(self) -> None:
        async with anyio.create_task_group() as group:
            for one in self.servers:
                group.start_soon(one.close)

    async def _refresh(self) -> None:
        """List the tools of all servers again."""
        assert self._group is not None
        async with anyio.create_task_group() as group:
            for one in self.servers:
                group.start_soon(one.refresh, self._group)
        known = [(server, tool) for server in self.servers for tool in server.tools]
        times = Counter(tool.name for _, tool in known)
        self._routes = {}
        for server, tool in known:
            own = times[tool.name] == 1 and tool.name != FIND_TOOLS
            name = tool.name if own else f"{server.name}__{tool.name}"
            self._routes.setdefault(name, (server, tool))

    def _definitions(self) -> list[dict[str, Any]]:
        return [
            {**tool.model_dump(mode="json", by_alias=True, exclude_none=True), "name": name}
            for name, (_, tool) in self._routes.items()
        ]

    def _choose(self) -> list[dict[str, Any]]:
        """The definitions that are listed, by what was called and found so far."""
        entries = [Entry(index=0, role="user", said=self.task)]
        for name, arguments in self._calls:
            call = ToolCall(id=str(len(entries)), name=name, arguments=arguments)
            entries.append(Entry(index=len(entries), role="assistant", calls=(call,)))
            entries.append(Entry(index=len(entries), role="tool"))
        tools, budget = self._definitions(), self.budget
        try:
            sent = choose_tools(tools, entries, budget=budget, query="", count=self.count)
        except BudgetTooSmall as error:
            budget = error.needed
            sent = choose_tools(tools, entries, budget=budget, query="", count=self.count)
        return [dict(tool) for tool in sent.tools]

    async def _list_tools(
        self, _: ServerRequestContext[Any, Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:

        await self._refresh()
        failures = self._failures()
        if failures and not self._routes:
            raise MCPError(types.INTERNAL_ERROR, "; ".join(failures))
        self._listed = self._choose()
        return types.ListToolsResult(tools=[types.Tool.model_validate(t) for t in self._listed])

    def _failures(self) -> list[str]:
        return [one.failure for one in self.servers if one.failure]

    async def _call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:

        if params.name == FIND_TOOLS:
            result = await self._find(params.arguments or {})
        else:
            result = await self._pass_on(params.name, params.arguments)
        now = self._choose()
        if now != self._listed:
            self._listed = now
            assert self._bus is not None
            await self._bus.publish(ToolsListChanged())  # for clients of the current protocol
            await ctx.session.send_tool_list_changed()  # and of the one before it
        return result

    async def _find(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return _text("query: give names of tools, or what a tool should do", is_error=True)
        await self._refresh()
        found = find_tools(query, self._definitions())
        self._remember(FIND_TOOLS, query)
        said = json.dumps(found, ensure_ascii=False) if found else "No tool fits; ask otherwise."
        return _text(said, *self._failures())

    async def _pass_on(self, name: str, arguments: Any) -> types.CallToolResult:

        if name not in self._routes:
            await self._refresh()
        if name not in self._routes:
            alike = [known for known in self._routes if known.endswith(f"__{name}")]
            hint = f"it is one of {', '.join(alike)}" if alike else "call find_tools"
            message = f"unknown tool {shorten(name, 60)!r}; {hint}"
            raise MCPError(types.INVALID_PARAMS, "; ".join([message, *self._failures()]))
        server, tool = self._routes[name]
        assert self._group is not None
        try:
            result = await server.call(self._group, tool.name, arguments)
        except ServerFailure as error:
            return _text(str(error), is_error=True)
        self._remember(name)
        return result

    def _remember(self, name: str, query: str = "") -> None:
        self._calls[name, json.dumps({"query": query} if query else {})] = None
        if len(self._calls) > REMEMBERED:
            del self._calls[next(iter(self._calls))]


def _text(*texts: str, is_error: bool = False) -> types.CallToolResult:

    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts], is_error=is_error
    )


def serve_front(servers: Sequence[str], *, budget: int, task: str, seconds: float) -> None:
    """Serve these servers' tools until the input ends; raises `BadOption`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    front = Front(
        servers=parse_servers(servers, seconds),
        budget=budget,
        task=task,
        count=token_counter(plugins.tokenizer(DEFAULT_TOKENIZER)),
    )
    anyio.run(front.serve)
