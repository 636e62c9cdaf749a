"""`foveate serve` and `foveate mcp`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from foveate.cli.options import STORE, Principals, SearchedStore, flag, option


def mcp(
    store: SearchedStore = str(STORE),
    *,
    principal: Principals = None,
    budget: Annotated[int, option("N", "Token budget of a call that names none.", min=1)] = 4_000,
    max_budget: Annotated[int, option("N", "Largest token budget of a call.", min=1)] = 32_000,
    timeout: Annotated[float, option("S", "Time limit for a call, in seconds.", min=0.1)] = 60.0,
    originals: Annotated[str, option("FILE", "File of compact's originals, for expand.")] = "",
    front: Annotated[
        list[str] | None,
        option(
            "SERVER", "Serve the tools of MCP servers instead: [NAME=]COMMAND or URL, repeated."
        ),
    ] = None,
    tools_budget: Annotated[
        int, option("N", "Tokens of the tools that --front lists.", min=1)
    ] = 2_000,
    task: Annotated[str, option("TEXT", "What the agent of --front does.")] = "",
) -> None:
    """Run the MCP server for one store, or in front of other MCP servers.

    Its tools: assemble, search, check_answer, list_documents, get_document; expand, if --originals.

    It speaks the Model Context Protocol on standard input and output, for programs that start
    their tools themselves, and exits when its input ends. `foveate serve` has the same tools over
    HTTP, at /mcp.

    With --front it lists the tools of other servers that fit --tools-budget, and find_tools for
    the rest, and passes calls on.
    """
    if front:
        with _require_extra("mcp"):
            from foveate.service.mcp.front import serve_front
        serve_front(front, budget=tools_budget, task=task, seconds=timeout)
        return
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    with _require_extra("mcp"):
        from foveate.service.mcp.stdio import serve
        from foveate.service.mcp.tool import ToolLimits
    with open_store_with_embedder(store) as (opened, embedder):
        serve(
            opened,
            embedder,
            principals=tuple(principal or ()),
            bounds=ToolLimits(budget=max_budget, usual_budget=min(budget, max_budget)),
            seconds=timeout,
            originals=originals,
        )


@contextmanager
def _require_extra(extra: str) -> Iterator[None]:
    """Raise `MissingExtra` where an import within it finds no package."""
    try:
        yield
    except ModuleNotFoundError as error:
        from foveate.core.errors import MissingExtra

        raise MissingExtra(str(error.name), extra) from None


class ServeCommand(TyperCommand):
    """Lists all settings in its help; they are imported only then."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Name, default and purpose of each setting."""
        try:
            from foveate.service.settings import PREFIX, describe_settings
        except ImportError:
            formatter.write_paragraph()
            formatter.write_text("Settings: pip install 'foveate[serve]' to see them here.")
            return
        rows = [
            (name, f"{said}  [{default}]") for name, (default, said) in describe_settings().items()
        ]
        with formatter.section(f"Settings, in a file or as {PREFIX}NAME"):
            formatter.write_dl(rows)


def serve(
    settings: Annotated[Path | None, option("FILE", "A TOML file of settings.")] = None,
    *,
    host: Annotated[str | None, option("H", "The address to listen on.")] = None,
    port: Annotated[int | None, option("N", "The port; 0 takes a free one.")] = None,
    store: Annotated[str | None, option("URL", "The store to serve.")] = None,
    workers: Annotated[int | None, option("N", "Processes that share the port.")] = None,
    create: Annotated[bool, flag("Create the store if it does not exist.", "--create")] = False,
) -> None:
    """Run the HTTP API and the playground.

    Settings, models and the store are checked first; --create makes a store that is not there.
    Without keys the service listens only on this machine. On SIGTERM or Ctrl-C it finishes open
    requests and exits with 0. Options override the environment, which overrides the file.
    """
    given = {"host": host, "port": port, "store": store, "workers": workers}
    given["create"] = create or None
    with _require_extra("serve"):
        from foveate.service.run import serve as served
        from foveate.service.settings import load_settings
    found = load_settings(settings, **{k: v for k, v in given.items() if v is not None})
    raise typer.Exit(served(found))
