"""An MCP server of the official package, to stand behind a front: `small_mcp_server.py NOUN…`.

Each noun gives five tools. `die`, `hang` and `grow` do as they are called.
"""

from __future__ import annotations

import os
import sys
import time

from mcp.server.mcpserver import MCPServer

LONG = "It explains at length what it does, and when, and for whom. " * 4


def build(nouns: list[str]) -> MCPServer:
    """The server, whose tools say what they were called with."""
    server = MCPServer("small")

    def add(verb: str, noun: str) -> None:
        def run(id: str) -> str:
            return f"{verb} {noun} {id}"

        description = f"{verb.title()} a {noun}. {LONG}"
        server.add_tool(run, name=f"{verb}_{noun}", description=description)

    for noun in nouns:
        for verb in ("list", "open", "close", "price", "move"):
            add(verb, noun)

    @server.tool()
    def die() -> str:
        """End this server at once."""
        os._exit(3)

    @server.tool()
    def hang() -> str:
        """Answer never."""
        time.sleep(600)
        return ""

    @server.tool()
    def grow(noun: str) -> str:
        """Give this server one more tool."""
        add("inspect", noun)
        return "grown"

    return server


if __name__ == "__main__":
    build(sys.argv[1:]).run("stdio")
