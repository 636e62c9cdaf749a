"""Finds stretches of a text that have a shape: records, tables, logs, dialogue, code.

Rules: shapes are detected, never trusted, and what does not parse is prose. A line is looked at
once to see what it may open; a reader says up to where it has looked, and nothing is read twice by
it. Readers are tried in one order, and the first that finds its shape has it; those that a recipe
brings come before the built-in ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TypeAlias

from foveate.core.text.shapes.blob import find_blobs
from foveate.core.text.shapes.code import OPENS as CODE
from foveate.core.text.shapes.code import read_code, read_rest_of_code
from foveate.core.text.shapes.column import read_column
from foveate.core.text.shapes.delimited import opens_table, read_delimited
from foveate.core.text.shapes.dialogue import FEWEST_TURNS, TURN, read_dialogue, read_transcript
from foveate.core.text.shapes.html_table import FIRST, read_html_table
from foveate.core.text.shapes.indented import KEY, read_indented
from foveate.core.text.shapes.json import read_json, resume_json
from foveate.core.text.shapes.log import ENTRY, read_log
from foveate.core.text.shapes.pipe_table import read_pipe_table
from foveate.core.text.shapes.shape import (
    Counted,
    ReadResult,
    Shape,
    ShapeReader,
    check_shape,
    line_end,
)
from foveate.core.text.shapes.trace import FRAMES_BELOW, read_trace
from foveate.core.text.shapes.trace import OPENS as TRACE
from foveate.core.text.shapes.xml import OPENS as XML
from foveate.core.text.shapes.xml import read_xml

__all__ = ["Counted", "Shape", "find_shapes"]

SHORTEST = 40
"""Characters; a shorter text is shown whole."""
LONGEST_FENCE = 1_600
"""Characters; a longer piece of code between fences is read as code."""
_LOOKED_AT = 200  # characters of a line
_LONGEST_KEY = 64
_MAY_OPEN = re.compile(
    r"""[ \t]*+(?:
        [{\["|<`~(\d\x1b@]
      | \#(?:include|!) | [rR]?(?:"{3}|'{3})
      | [^\n:]{1,64}+:(?=[\s*]|\Z)
      | (?:async|class|const|def|export|final|fn|from|func|function|impl|import|interface|let
          |namespace|package|private|protected|pub|public|static|struct|use|var)\b
      | Traceback|Exception\ in|Caused\ by|[\w.$]++(?:(?<=Error)|(?<=Exception))
      | TRACE|DEBUG|INFO|NOTICE|WARN|ERROR|CRITICAL|FATAL|SEVERE
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +\d|[VDIWEF]/|[IWEF]\d{4}
      | t(?:ime(?:stamp)?|s)?=|level=
      | [^\n,;|\t]*+(?:\t|\||[,;](?!\ ))
      | \S{1,80}+\r?\Z
    )""",
    re.VERBOSE,
)
"""What a line begins with that may open a shape, or has in it; for all else it is prose."""
_ENTRY_OPENS = frozenset("[(<\x1bTDINWECFSAJMOVtil")
_CODE_OPENS = frozenset("acdefilnprRsuv@#\"'")
_DOCSTRINGS = frozenset(('"""', "'''", 'r"""'))
"""What a file of code may begin with, its words behind it."""
_SPEAKS = re.compile(r":(?=\s|\*\*)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[^`\n]*")
_INLINE = re.compile(r"(?:\{\s*\"|\[\s*[\[{])")
_SHORTEST_INLINE = 200  # characters
_KEY_BEFORE = re.compile(r"\"[^\"\n]{1,64}\"\s*:\s*\Z")
"""The key of what follows on its line, which is shown with it."""

Reader: TypeAlias = Callable[[str, int], ReadResult]


def find_shapes(text: str, readers: Sequence[ShapeReader] = ()) -> tuple[Shape, ...]:
    """All shapes of the text in order, none inside another; empty for prose.

    `readers`: those of other packages.
    """
    if len(text) < SHORTEST:
        return ()
    blobs = find_blobs(text)
    return (
        _merge_blobs(_each_shape(text, readers), blobs)
        if blobs
        else tuple(_each_shape(text, readers))
    )


def _merge_blobs(shapes: Iterable[Shape], blobs: Sequence[Shape]) -> tuple[Shape, ...]:
    """Both in order: a blob inside of a shape is a part of it, and its lines are no shape."""
    kept = [
        shape
        for shape in shapes
        if not any(
            b.start <= shape.start < b.end or shape.start < b.start < shape.end < b.end
            for b in blobs
        )
    ]
    apart = [b for b in blobs if not any(s.start <= b.start < s.end for s in kept)]
    return tuple(sorted([*kept, *apart], key=attrgetter("start")))


def _each_shape(text: str, readers: Sequence[ShapeReader] = ()) -> Iterator[Shape]:
    at, size, last = 0, len(text), 0
    # up to where each reader has looked; with few colons behind names nobody speaks
    stops = {"dialogue": 0 if len(_SPEAKS.findall(text)) >= FEWEST_TURNS else size}
    resumed = resume_json(text) if "{" in text else None
    if resumed is not None:
        yield resumed
        at = last = line_end(text, resumed.end) + 1
    # One character is looked for in a tenth of the time.
    rare = tuple([mark for mark in ("{", "<t", "<T") if mark[0] in text and mark in text])
    while at < size:
        end = text.find("\n", at)
        end = size if end < 0 else end
        if readers and (own := _read_first(text, at, end, readers, stops)) is not None:
            yield own
            at, last = line_end(text, own.end) + 1, own.end
            continue
        may_open = end > at and _MAY_OPEN.match(text, at, min(end, at + _LOOKED_AT))
        if not may_open and not (rare and any(text.find(mark, at, end) >= 0 for mark in rare)):
            at = end + 1
            continue
        body = text[at:end].lstrip()
        if body.startswith(("```", "~~~")):
            shape, at = _read_fence(text, at, end)
            if shape is not None:
                yield shape
                last = shape.end
            continue
        found = _read_opened(text, _openings(text, at, end, body) if body else (), stops)
        while found is not None:
            if found.name == "code" and not last and _is_inside(text, found.start):
                found = read_rest_of_code(text)
            yield found
            last = found.end
            found = _next_table(text, last, stops) if found.name == "html table" else None
        at = (line_end(text, last) if last > at else end) + 1


def _is_inside(text: str, start: int) -> bool:
    """Whether the text begins inside of a block of code that goes on here: all is indented."""
    lines = [*text[:start].splitlines()[1:], text[start:]]
    return text[:start].strip() != "" and all(not line or line[0] in " \t" for line in lines)


def _read_opened(
    text: str, openings: Iterable[tuple[str, Reader, int]], stops: dict[str, int]
) -> Shape | None:
    """What the first reader finds that finds anything; a place that one has passed is left out."""
    for name, read, place in openings:
        if place >= stops.get(name, 0):
            found, stops[name] = read(text, place)
            if found is not None:
                return found
    return None


def _next_table(text: str, at: int, stops: dict[str, int]) -> Shape | None:
    """The HTML table that begins in the same line behind another."""
    while (tag := FIRST.search(text, at)) and text.find("\n", at, tag.start()) < 0:
        found, at = read_html_table(text, tag.start())
        stops["html"] = at
        if found is not None:
            return found
    return None


def _read_first(
    text: str, at: int, end: int, readers: Sequence[ShapeReader], stops: dict[str, int]
) -> Shape | None:
    """What the first of the readers finds whose shape the line `text[at:end]` opens."""
    line = text[at:end]
    openings = ((repr(one), one.read, at) for one in readers if one.opens(line))
    found = _read_opened(text, openings, stops)
    return None if found is None else check_shape(found, at, len(text))


def _openings(text: str, at: int, end: int, body: str) -> Iterator[tuple[str, Reader, int]]:
    """What the line may open, by its first characters, and where; `body`: without its indent."""
    first, start, near = body[0], end - len(body), min(end, at + _LOOKED_AT)
    if first in '{["' and (start == at or not text[: min(at, SHORTEST)].strip()):
        yield "json", read_json, at
    elif first == "|":
        yield "pipes", read_pipe_table, at
    if first == "<" and XML.match(body):
        yield "xml", read_xml, start
    if "<" in body:
        tags = FIRST.finditer(text, start, end)
        yield from (("html", read_html_table, tag.start()) for tag in tags)
    yield from _entries(text, at, end, body)
    yield from _labels(at, body)
    if "{" in body and (inline := _INLINE.search(text, start + 1, near)):
        yield "inline", _read_inline, inline.start()
    if first in _CODE_OPENS and (CODE.match(body) or (not at and body in _DOCSTRINGS)):
        yield "code", read_code, at
    if end < len(text) and (delimiter := opens_table(text, at, end)):
        yield f"rows by {delimiter}", partial(read_delimited, delimiter=delimiter), at
    if " " not in body:
        yield "column", read_column, at


def _entries(text: str, at: int, end: int, body: str) -> Iterator[tuple[str, Reader, int]]:
    if FRAMES_BELOW.match(text, end) and not ENTRY.match(text, at, end):
        yield "trace", read_trace, at
    if body[0] not in _ENTRY_OPENS and not body[0].isdigit():
        return
    if TRACE.match(body):
        yield "trace", read_trace, at
    if ENTRY.match(text, at, end):
        if TURN.match(body):
            yield "transcript", read_transcript, at
        yield "log", read_log, at


def _labels(at: int, body: str) -> Iterator[tuple[str, Reader, int]]:
    colon = body.find(":", 0, _LOOKED_AT)
    if colon <= 0:
        return
    if TURN.match(body):
        yield "dialogue", read_dialogue, at
    if colon <= _LONGEST_KEY and KEY.match(body):
        yield "indented", read_indented, at


def _read_inline(text: str, start: int) -> ReadResult:
    """JSON behind other words of its line, up to the end of a line."""
    shape, stop = read_json(text, start)
    if shape is None or shape.end - shape.start < _SHORTEST_INLINE:
        return ReadResult(None, stop)
    rest = text[shape.end : line_end(text, shape.end)].strip()
    if rest.strip(".;)`'\""):
        return ReadResult(None, stop)
    if key := _KEY_BEFORE.search(text, text.rfind("\n", 0, start) + 1, start):
        first = (key.start(), shape.spans[0][1])
        shape = shape._replace(start=key.start(), spans=(first, *shape.spans[1:]))
    return ReadResult(shape, stop)


def _read_fence(text: str, at: int, end: int) -> tuple[Shape | None, int]:
    """What is between fences, if it is one shape, with its fences; and where the text goes on."""
    opening = _FENCE.match(text, at, end)
    if opening is None:
        return None, end + 1
    closing = re.compile(rf"^[ ]{{0,3}}{re.escape(opening.group(1))}[ \t]*$", re.MULTILINE)
    close = closing.search(text, end)
    inner_end, after = (close.start(), close.end()) if close else (len(text), len(text))
    inner = text[end + 1 : inner_end]
    found = _only_shape(inner)
    if found is None:
        return None, after + 1
    by = end + 1
    spans = [(a + by, b + by) for a, b in found.spans]
    lead = at + len(text[at:end]) - len(text[at:end].lstrip())
    spans[0] = (lead, spans[0][1])
    spans[-1] = (spans[-1][0], after)
    counted = tuple(
        Counted(noun, tuple((a + by, b + by) for a, b in own)) for noun, own in found.counted
    )
    whole = found._replace(start=lead, end=after, spans=tuple(spans), counted=counted)
    return whole, after + 1


def _only_shape(inner: str) -> Shape | None:
    """The shape that all of the text is; None if there is none."""
    if "```" in inner or "~~~" in inner:
        return None
    first = next(_each_shape(inner), None) if inner.strip() else None
    if first is not None and not inner[: first.start].strip() and not inner[first.end :].strip():
        return first if first.name != "code" or len(inner) > LONGEST_FENCE else None
    return None
