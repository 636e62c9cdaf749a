"""`foveate serve`: the HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


class ServeCommand(TyperCommand):
    """Lists all settings under its options; they are read when somebody asks for help."""

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
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="A TOML file of settings.")
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="H", help="The address to listen on.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="The port; 0 takes a free one.")
    ] = None,
    store: Annotated[
        str | None, typer.Option("--store", metavar="URL", help="The store to serve.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Processes that share the port.")
    ] = None,
) -> None:
    """Run the HTTP API and the playground.

    Without keys the service listens only on this machine. On SIGTERM or Ctrl-C it finishes open
    requests and exits with 0. Options override the environment, which overrides the file.
    """
    given = {"host": host, "port": port, "store": store, "workers": workers}
    try:
        from foveate.service.run import serve as served
        from foveate.service.settings import load_settings
    except ModuleNotFoundError as error:
        from foveate.core.errors import MissingExtra

        raise MissingExtra(str(error.name), "serve") from None
    found = load_settings(settings, **{k: v for k, v in given.items() if v is not None})
    raise typer.Exit(served(found))
