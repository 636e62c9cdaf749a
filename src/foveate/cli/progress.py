"""A bar on a terminal's stderr, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from foveate.cli.failures import printable

Advance = Callable[[int, int, str], None]
"""Told how many are done, of how many, and what is at work."""


@contextmanager
def progress() -> Iterator[Advance | None]:
    """What moves the bar on; None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    name = TextColumn("{task.description}", markup=False)
    with Progress(
        BarColumn(), MofNCompleteColumn(), name, console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=printable(name)[-50:])

        yield advance
