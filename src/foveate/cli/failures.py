"""What went wrong → one line on stderr and an exit code. The only place that maps the two.

| code | meaning |
|---|---|
| 0 | ok |
| 1 | a fault in foveate, or in a plugin's stage |
| 2 | usage: a flag, an option, a name that does not exist |
| 3 | bad input: a file, a candidate, a query; a replay that diverged; a store that is not whole |
| 4 | budget too small |
| 5 | a failure outside: a store, a model, a file system, a missing package |
| 6 | an evaluation did not pass its gate |
"""

from __future__ import annotations

import os
import re
import traceback

import typer

from foveate.core.errors import (
    BadInput,
    BudgetTooSmall,
    ExternalError,
    FoveateError,
    InvalidRequest,
    StageBroke,
)
from foveate.core.removed import advice

FAULT, USAGE, INPUT, BUDGET, OUTSIDE, GATE = 1, 2, 3, 4, 5, 6
INTERRUPTED, PIPE_CLOSED = 130, 141
"""As a shell reports SIGINT and SIGPIPE."""

UsageError: type[BaseException] = typer.BadParameter.__mro__[1]
"""click's UsageError, which typer hands on without naming it."""

PARSER_NOISE = re.compile(r"Value error, |, unable to parse string as an? \w+")
"""What the library that reads values adds, and that says nothing."""

EXTRA_WORDS = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)\Z", re.DOTALL)
GONE = re.compile(r"No such (command|option):? '?([\w-]+)")
KINDS = {"command": "command", "option": "flag"}
"""What the parser calls a name that does not exist → its kind in the table of removed names."""
PLACES_OF_WORDS = {
    "question": "the question in quotes",
    "chunks": "candidates behind --chunks FILE",
    "store": "a store behind --store, as in --store {words}",
}
"""Parameter of a command → where words that are too many may belong."""

SPACES = "\t\n\u00a0\u2002\u2003\u2009\u202f\u3000"
"""White space that is not `isprintable` and harmless."""

MAX_MESSAGE_LENGTH = 1_000
"""Characters of a message; a wrong value can be a megabyte long."""

CODES: tuple[tuple[type[BaseException], int], ...] = (
    (BadInput, INPUT),
    (InvalidRequest, USAGE),
    (BudgetTooSmall, BUDGET),
    (ExternalError, OUTSIDE),
    (StageBroke, FAULT),
    (UsageError, USAGE),
    (BrokenPipeError, PIPE_CLOSED),
    (OSError, OUTSIDE),
    (KeyboardInterrupt, INTERRUPTED),
    (typer.Abort, INTERRUPTED),
)


def exit_code_from_error(error: BaseException) -> int:
    """The exit code for this error; the first kind in the table that it is of."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAULT
    return next((code for kind, code in CODES if isinstance(error, kind)), FAULT)


def error_line(error: BaseException) -> str:
    """The error in one line; empty if there is nothing to print."""
    if isinstance(error, SystemExit | KeyboardInterrupt | BrokenPipeError | typer.Abort):
        return ""
    if os.environ.get("FOVEATE_DEBUG"):
        return "".join(traceback.format_exception(error)).rstrip("\n")
    return f"foveate: {single_line(_error_message(error))}"


def _error_message(error: BaseException) -> str:
    if isinstance(error, FoveateError):
        return str(error)
    if isinstance(error, UsageError):
        return _usage_message(error)
    if isinstance(error, OSError):
        where = f": {error.filename!r}" if error.filename else ""
        return f"{error.strerror or error}{where}"
    return (
        f"{type(error).__name__}: {error}; this is a fault in foveate or in a plugin, "
        "FOVEATE_DEBUG=1 shows where"
    )


def _usage_message(error: BaseException) -> str:
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "foveate"
    plainly = PARSER_NOISE.sub("", said.removeprefix("Invalid value: "))
    plainly = plainly.replace("Input should be", "must be").rstrip(".")
    if extra := EXTRA_WORDS.match(plainly):
        known = {parameter.name for parameter in context.command.params} if context else set()
        hints = ", ".join(
            hint.format(words=extra[1]) for name, hint in PLACES_OF_WORDS.items() if name in known
        )
        plainly = f"too many words: {extra[1]}" + (f"; put {hints}" if hints else "")
    if gone := GONE.match(plainly):
        words = advice(KINDS[gone[1]], gone[2])
        if words is None and command.endswith(" serve"):  # its flags are the service's settings
            setting = gone[2].removeprefix("--").removeprefix("no-").replace("-", "_")
            words = advice("setting", setting)
        if words is not None:
            return words
    if context is not None and plainly.startswith("No such command"):
        names = getattr(context.command, "commands", {}) if context.parent is not None else {}
        plainly += f"; known: {', '.join(names)}" if names else ""
    whole = "a whole number"
    if "budget" in str(getattr(getattr(error, "param", None), "name", "")):
        whole = "a whole number of tokens, such as 4000"
    return f"{plainly.replace('a valid integer', whole)}; see {command} --help"


def single_line(text: str) -> str:
    r"""One line of printable characters, shortened in the middle where it is very long.

    >>> single_line("two\nlines \x1b[31m")
    'two lines \\x1b[31m'
    """
    shown = escape_unprintable(" ".join(text.split()))
    if len(shown) <= MAX_MESSAGE_LENGTH:
        return shown
    return f"{shown[: MAX_MESSAGE_LENGTH // 2]} … {shown[-MAX_MESSAGE_LENGTH // 2 :]}"


def escape_unprintable(text: str) -> str:
    """The text with control characters escaped, which a terminal could interpret; spaces stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in SPACES else ascii(c)[1:-1] for c in text)
