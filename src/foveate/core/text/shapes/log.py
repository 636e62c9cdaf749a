"""Logs: an entry begins with a time, a level or an address, and holds the lines that follow it.

A traceback in an entry is read as one; its lines lean on the entry's first. Colours are no matter.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, indent_of, line_end
from foveate.core.text.shapes.trace import FRAMES_BELOW, OPENS, add_trace, ends_frames
from foveate.core.types import Span

FEWEST_ENTRIES = 3
FARTHEST = 60
"""Lines without a time after which a log is over."""
LEAST_SHARE = 0.3
"""Of the lines that are not indented begin an entry."""
LONGEST_ENTRY = 1_200
"""Characters; the lines of a longer entry are units of their own."""

_ANSI = r"(?:\x1b\[[\d;]*m)*+"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_DAY = r"(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\w{1,3}[-/.]\d{2,4})"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)"
ENTRY = re.compile(
    rf"""{_ANSI}(?:
        [\[(]?{_DAY}(?:[T\ :]+{_TIME})
      | [\[(]{_TIME}
      | \[\ *\d+\.\d{{6}}\]
      | \d{{2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?\ +[\[\w]
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +\d{{1,2}}\ +\d{{2}}:\d{{2}}
      | [\[<]?{_ANSI}{_LEVEL}\b{_ANSI}[\]>]?[:\ \t\[]
      | \d{{1,3}}(?:\.\d{{1,3}}){{3}}\ +\S+\ +\S+\ +\[
      | [VDIWEF]/[\w.]+\(
      | [IWEF]\d{{4}}\ \d{{2}}:
      | (?:level=\w+\ +)?t(?:ime(?:stamp)?|s)?=\S+\ +\w+=
      | \d{{10,13}}(?:\.\d+)?\ +[\[\w]
    )""",
    re.VERBOSE,
)


def read_log(text: str, start: int) -> ReadResult:
    """The entries from here on."""
    lines: list[Span] = []
    entries: list[int] = []  # numbers of the lines that begin one
    at, last = start, -1
    while at < len(text):
        end = line_end(text, at)
        if text[at:end].strip():
            if ENTRY.match(text, at, end):
                entries.append(len(lines))
                last = len(lines)
            elif last == len(lines) - 1 and (
                indent_of(text[at:end]) > 0 or OPENS.match(text, at, end)
            ):
                last = len(lines)
            elif len(lines) - last > FARTHEST:
                break
            lines.append((at, end))
        at = end + 1
    lines = lines[: _last_line(text, lines, entries[-1] if entries else 0, last) + 1]
    first_level = sum(not indent_of(text[a:b]) for a, b in lines)
    if len(entries) < FEWEST_ENTRIES or len(entries) < LEAST_SHARE * first_level:
        return ReadResult(None, max(at if len(entries) >= FEWEST_ENTRIES else start + 1, start + 1))
    builder = ShapeBuilder()
    for n, first in enumerate(entries):
        after = entries[n + 1] if n + 1 < len(entries) else len(lines)
        _add_entry(text, lines[first:after], builder)
    builder.counted.append(("lines", lines))
    stop = lines[-1][1]
    return ReadResult(builder.shape(text, "log", stop), stop + 1)


def _last_line(text: str, lines: list[Span], entry: int, last: int) -> int:
    """The last line of the log: a traceback that follows the last entry belongs to it."""
    in_trace = any(OPENS.match(text, a, b) for a, b in lines[entry : last + 1])
    while last + 1 < len(lines):
        line = text[slice(*lines[last + 1])]
        in_trace = in_trace or OPENS.match(line) is not None
        is_error = in_trace and ends_frames(text, lines[last], line)
        if not (is_error or OPENS.match(line) or indent_of(line) > 0):
            break
        last += 1
    return last


def _add_entry(text: str, lines: list[Span], builder: ShapeBuilder) -> None:
    first = builder.add(lines[0][0])
    for n, (a, b) in enumerate(lines[1:], 1):
        if OPENS.match(text[a:b]) or FRAMES_BELOW.match(text, b):
            add_trace(text, lines[n:], builder, first)
            return
    if lines[-1][1] - lines[0][0] > LONGEST_ENTRY:
        for a, b in lines[1:]:
            builder.add(a + len(text[a:b]) - len(text[a:b].lstrip()), first)
