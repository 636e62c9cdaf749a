"""The command line: this module puts the commands together and runs them.

Results go to stdout alone; progress, warnings, explanations and errors go to stderr. An error is
one line that says what to do, with a fixed exit code. Heavy packages are imported inside the
command that uses them, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from foveate.cli import (
    ask,
    assemble,
    batch,
    bill,
    compact,
    diagnose,
    index,
    keys,
    lists,
    output,
    replay,
    serve,
    store,
)
from foveate.cli import eval as eval_
from foveate.cli.failures import error_line, exit_code_from_error
from foveate.cli.options import flag

EPILOG = (
    "Exit codes: 0 ok, 1 an error in foveate or in a plugin, 2 usage, 3 bad input (also a replay "
    "that diverged, or a damaged store), 4 budget too small, 5 an external failure (a model, a "
    "server, a disk), 6 an evaluation that failed its gate. Errors are one line on stderr; "
    "FOVEATE_DEBUG=1 adds the traceback."
)

app = typer.Typer(
    name="foveate",
    epilog=EPILOG,
    rich_markup_mode=None,  # plain help: quick, one width, the same on the page and in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
app.command()(index.index)
app.command()(assemble.search)
app.command()(assemble.assemble)
app.command("assemble-batch")(batch.assemble_batch)
app.command()(ask.ask)
app.command(short_help="Fit message lists of agents into a token budget.")(compact.compact)
app.command(short_help="Show a tool result that compact left out.")(compact.expand)
app.command()(bill.bill)
app.command()(replay.replay)
app.add_typer(eval_.app, name="eval", short_help="Evaluate and compare recipes on golden cases.")
app.command(short_help="Find the layer that lost each failing question.")(diagnose.diagnose)
app.command(cls=serve.ServeCommand, short_help="Run the HTTP API and the playground.")(serve.serve)
app.command(short_help="Run the MCP server: a store as tools for agents.")(serve.mcp)
app.add_typer(store.app, name="store")
app.add_typer(keys.app, name="keys")
app.add_typer(lists.app, name="recipes")
app.command()(lists.plugins)


def _version(asked: bool) -> None:
    if asked:
        from foveate._version import __version__

        output.write_line(f"foveate {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def foveate(
    context: typer.Context,
    version: Annotated[
        bool, flag("Show the version.", "--version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Context assembly for RAG: what you retrieve is not what the model reads."""
    if context.invoked_subcommand is None:
        output.write_line(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code.

    >>> main(["--version"])
    foveate ...
    0
    """
    output.prepare_streams()
    try:
        with output.print_warnings():
            given = sys.argv[1:] if argv is None else argv
            words = ["--explain-all" if word == "--explain=all" else word for word in given]
            code = app(words, prog_name="foveate", standalone_mode=False)
            output.flush()
    except BaseException as error:  # noqa: BLE001  # a panic of a compiled package is no Exception
        code = exit_code_from_error(error)
        if message := error_line(error):
            sys.stderr.write(f"{message}\n")
    return int(code or 0)
