"""A bar with rate and time left on a terminal's stderr, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from foveate.cli.failures import escape_unprintable

Advance = Callable[[int, int, str], None]
"""Told how many are done, of how many, and what is at work."""


@contextmanager
def progress_bar() -> Iterator[Advance | None]:
    """What moves the bar on; None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    name = TextColumn("{task.description}", markup=False)
    speed = TextColumn("{task.fields[rate]}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), speed, TimeLeft(compact=True), name)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="")
        began = monotonic()

        def advance(done: int, total: int, name: str) -> None:
            rate = format_rate(done, monotonic() - began)
            shown = escape_unprintable(name)[-50:]
            bar.update(task, completed=done, total=total, description=shown, rate=rate)

        yield advance


def format_rate(done: int, seconds: float) -> str:
    """How fast it goes, in two or three digits.

    >>> format_rate(30, 2.0), format_rate(1, 4.0), format_rate(0, 0.0)
    ('15/s', '0.2/s', '')
    """
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
