"""Output on stdout and stderr: UTF-8, the same bytes everywhere."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from foveate.cli.failures import PIPE_CLOSED, escape_unprintable, single_line
from foveate.core.errors import ExternalError


def prepare_streams() -> None:
    """UTF-8 and plain line ends, whatever the locale says; what cannot be written is escaped."""
    if sys.stderr is None:  # closed by whoever started us: there is nobody to complain to
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def stdout() -> TextIO:
    """The stream for results; raises `ExternalError` if it was closed at start."""
    if sys.stdout is None:
        raise ExternalError("standard output is closed; nothing can be printed")
    return sys.stdout


def write(text: str) -> None:
    """Put the text on stdout, byte for byte."""
    try:
        stdout().write(text)
    except BrokenPipeError:
        exit_broken_pipe()


def write_line(text: str) -> None:
    """The text and a line end."""
    write(f"{text}\n")


def write_text(text: str) -> None:
    """A context: exactly its characters in a pipe or a file, on a line of its own on a terminal."""
    write(f"{text}\n" if stdout().isatty() and not text.endswith("\n") else text)


def write_json(value: Any) -> None:
    """One object on one line."""
    write_line(encode_json(value))


def write_result(record: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """A result as one JSON object, or as lines."""
    if as_json:
        write_json(record)
    else:
        write("".join(f"{line}\n" for line in lines))


def encode_json(value: Any) -> str:
    """How JSON is written everywhere: UTF-8, no NaN, keys in the order they were put in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def flush() -> None:
    """Flush stdout; stop if its reader is gone."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        exit_broken_pipe()


def exit_broken_pipe() -> None:
    """Stop quietly; the interpreter flushes once more at the end, so give it somewhere to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(PIPE_CLOSED)


def print_lines(lines: Sequence[str], stream: TextIO) -> None:
    """Print lines; on a terminal those without indentation are bold headings."""
    if not stream.isatty():
        stream.writelines(f"{line}\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        heading = line and not line.startswith(" ")
        console.print(Text(line, style="bold" if heading else ""))


def terminal_width() -> int:
    """Columns to write for: COLUMNS or the terminal's; lines of more than 100 are hard to read."""
    from shutil import get_terminal_size

    return max(40, min(get_terminal_size((80, 24)).columns, 100))


def write_note(text: str) -> None:
    """Print a note on stderr."""
    sys.stderr.write(f"foveate: {single_line(text)}\n")


def write_warnings(said: Iterable[object]) -> None:
    """A line each on stderr."""
    sys.stderr.writelines(f"foveate: warning: {single_line(str(one))}\n" for one in said)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Our own warnings as one line each on stderr; those of other packages are not the user's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            ours = [w for w in caught if w.category.__module__.partition(".")[0] == "foveate"]
            write_warnings(w.message for w in ours)


Advance = Callable[[int, int, str], None]
"""Told how many are done, of how many, and what is at work."""


@contextmanager
def progress_bar() -> Iterator[Advance | None]:
    """The function that advances a bar on stderr; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    name = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), TimeLeft(compact=True), name)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int, total: int, name: str) -> None:
            shown = escape_unprintable(name)[-50:]
            bar.update(task, completed=done, total=total, description=shown)

        yield advance
