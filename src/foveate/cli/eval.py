"""`foveate eval`: recipes against each other on golden cases, and what leads there.

Its commands: `run` (meant where none is named), `convert`, `thresholds`.
"""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from foveate.cli.eval_convert import convert
from foveate.cli.eval_run import RunCommand, run
from foveate.cli.eval_thresholds import thresholds

RUN = "run"


class RunsByDefault(TyperGroup):
    """`foveate eval --dataset F` is `foveate eval run --dataset F`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `run` before words that name no command and ask for no help."""
        asks = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if asks else [RUN, *args])


app = typer.Typer(
    cls=RunsByDefault,
    help="Evaluate and compare recipes on golden cases; without a command: run.",
    rich_markup_mode=None,
)
app.command(RUN, cls=RunCommand)(run)
app.command()(convert)
app.command(short_help="Show what near-duplicate thresholds would drop.")(thresholds)
