"""Tracebacks of Python and of the JVM: frames, and the error, which is shown with the user's last.

A frame of an installed package or of the language's own library is not the user's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, indent_of, line_end
from foveate.core.types import Span

OPENS = re.compile(r"\s*+(?:Traceback \(most recent call last\)|Exception in thread |Caused by: )")
_FRAME = re.compile(
    r"""\s*+(?:File[ ]\"[^\"\n]*+\",[ ]line[ ]\d
      |at[ ](?:async[ ]|new[ ])?(?:[\w.$<>/]++(?:[ ]\[as[ ]\w+\])?[ ]?\(|\S+:\d+$))""",
    re.VERBOSE,
)
FRAMES_BELOW = re.compile(r"\n[ \t]++at (?:async |new )?[\w.$<>/]")
"""Behind a line that is the error of the frames below it, as in Java and JavaScript."""
_FOREIGN = re.compile(
    r"site-packages|dist-packages|lib/python\d|<frozen |node_modules|importlib/|\(node:"
    r"|at (?:java|javax|jdk|sun|kotlin|scala|org\.spring\w*|org\.apache|io\.netty)\."
)
_ERROR = re.compile(r"(?:[\w.$]+(?:Error|Exception|Exit|Interrupt|Warning|Fault)|Caused by)\b")
_BETWEEN = re.compile(r"\s*+(?:During handling of|The above exception|\.\.\. \d+ more|Traceback )")
_RAISED = re.compile(r"(?:[\w$]++\.)*+[A-Z][\w$]*+(?=:\s|\s*+\Z)")
"""The name of an error, whatever it is, where the frames of a traceback end."""
FEWEST_LINES = 3


def read_trace(text: str, start: int) -> ReadResult:
    """The traceback that begins with the line here, those that it was caused by included."""
    lines: list[Span] = []
    at, blank = start, 0
    while at < len(text):
        end = line_end(text, at)
        line = text[at:end]
        if not line.strip():
            blank = end + 1
        elif _goes_on(line, first=not lines, after_blank=bool(blank)) or (
            not blank and ends_frames(text, lines[-1], line)
        ):
            lines.append((at, end))
            blank = 0
        else:
            break
        at = end + 1
    if len(lines) < FEWEST_LINES:
        return ReadResult(None, max(at, start + 1))
    builder = ShapeBuilder()
    add_trace(text, lines, builder, -1)
    builder.counted.append(("lines", lines))
    return ReadResult(builder.shape(text, "traceback", lines[-1][1]), max(at, start + 1))


def _goes_on(line: str, *, first: bool, after_blank: bool) -> bool:
    if first or OPENS.match(line) or _BETWEEN.match(line) or _ERROR.match(line):
        return True
    return not after_blank and indent_of(line) > 0


def ends_frames(text: str, before: Span, line: str) -> bool:
    """Whether the line has the error of the frame that the line before it belongs to."""
    return indent_of(text[slice(*before)]) > 0 and _RAISED.match(line) is not None


def add_trace(text: str, lines: Sequence[Span], builder: ShapeBuilder, head: int) -> None:
    """The lines of a traceback as units that lean on `head`, or on the user's last frame.

    Lines that follow a frame, up to the next, belong to it; what opens it belongs to the head.
    """
    user = error = -1
    in_frame = False
    for a, b in lines[1:] if head >= 0 else lines:
        line = text[a:b]
        if _FRAME.match(line):
            in_frame = True
            own = builder.add(_first(text, a, b), head)
            if not _FOREIGN.search(line) and (user < 0 or error < own < 0 or "File " in line):
                user = own
        elif in_frame and indent_of(line) > 0:
            continue
        else:
            unit = builder.add(_first(text, a, b), head)
            if _ERROR.match(line.lstrip()) or (in_frame and _RAISED.match(line)):
                error = unit
                if user >= 0:
                    builder.leans[unit] = user
                    user = -1
            in_frame = False


def _first(text: str, a: int, b: int) -> int:
    return a + len(text[a:b]) - len(text[a:b].lstrip())
