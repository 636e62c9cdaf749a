"""Code and data without line breaks: JavaScript, CSS and objects on one long line.

It is cut where statements, rules and members end, outside of strings and parentheses. A unit holds
as many of them as make a short function, and a block that is no longer is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end

LONGEST_LINE = 400
"""Characters; a line of code that is laid out is shorter."""
SHORTEST_UNIT, LONGEST_UNIT = 40, 400
"""Characters; where a unit ends with what it began in, and where it ends at any statement."""
LONGEST_LIST = 1_600
"""Characters; what has no other end is cut between the items of a list."""
LONGEST_STRETCH = 4_000
"""Characters; what is longer has ends whatever they are in."""
_LOOKED_AT = 2_000
MOST_SPACES, FEWEST_MARKS = 0.08, 0.02
"""Shares of the characters. Prose has twice as many spaces, and hardly a mark."""
_MARKS = re.compile(r"[;{}]")
_BLOCK_END = re.compile(r"[;}]")
_TOKEN = re.compile(
    r"""
      (?<!\\)(?:"(?:[^"\\\n]|\\.){0,4000}+"
        | '(?:[^'\\\n]|\\.){0,4000}+' | `(?:[^`\\]|\\.){0,4000}+`)
    | /\*(?s:.*?)(?:\*/|\Z)
    | (?P<slash>(?:(?<![\w)\]}"'`/\\])|(?<=\breturn)|(?<=\btypeof)|(?<=\bcase))/)
    | url\([^()"'\n]*+\)
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>[;,\n])
    """,
    re.VERBOSE,
)
"""Strings, comments and beginnings of patterns of JavaScript; brackets; ends.

Nothing ends in a string, a comment or a pattern.

A quote that opens no string is followed by another after 4,000 characters, or has a backslash
before it and is not looked at; so each character is looked at a few times.
"""
LONGEST_PATTERN = 300
"""Characters, so that few are looked at for each slash."""
_PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/")
_GOES_ON = re.compile(r"[,;.)\]=?:&|<>*/+(-]|(?:else|catch|finally|while)\b")


def is_minified(text: str, start: int, end: int) -> bool:
    """Whether the line is long, without the spaces of prose, and full of the marks of code."""
    if end - start < LONGEST_LINE or text[start] == "<":
        return False
    line = text[start : min(end, start + _LOOKED_AT)]
    marks, spaces = len(_MARKS.findall(line)), line.count(" ") + line.count("\t")
    return marks >= FEWEST_MARKS * len(line) and spaces <= MOST_SPACES * len(line)


def read_minified(text: str, start: int) -> ReadResult:
    """The line here, and those behind it that are like it."""
    stop = line_end(text, start)
    if not is_minified(text, start, stop):
        return ReadResult(None, stop + 1)
    while is_minified(text, stop + 1, after := line_end(text, stop + 1)):
        stop = after
    stop = start + len(text[start:stop].rstrip())  # what is behind the last statement is in no unit
    ends = _ends(text, start, stop)
    builder = ShapeBuilder()
    first, level = start, 0
    builder.add(start)
    for at, depth in ends:
        length = at - first
        if length >= LONGEST_UNIT or (length >= SHORTEST_UNIT and depth <= level):
            builder.add(at)
            first, level = at, depth
    places = [start, *(at for at, _ in ends), stop]
    builder.counted.append(("statements", [(a, b) for a, b in pairwise(places) if a < b]))
    return ReadResult(builder.shape(text, "minified code", stop), line_end(text, stop) + 1)


def _ends(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """The places behind statements, blocks and members, each with how many brackets are open."""
    found: list[tuple[int, int]] = []
    open_: list[str] = []
    last = start
    for token in _tokens(text, start, stop):
        at, mark = token.end(), token.group()
        inner = open_[-1] if open_ else "{"
        if token.group("open"):
            open_.append(mark)
            continue
        if token.group("close"):
            del open_[-1:]
            inner = open_[-1] if open_ else "{"
            is_end = mark == "}" and inner == "{" and not _GOES_ON.match(text, at, stop)
        elif mark == ",":
            is_member = inner != "(" and text[at - 2] in "}]"
            is_end = is_member or at - last > LONGEST_LIST
        else:
            is_end = mark == "\n" or (mark == ";" and inner == "{")
        if is_end and at < stop:
            if at - last > LONGEST_STRETCH:  # a string that is cut, or read from its end on
                found += [
                    (one.end(), len(open_)) for one in _BLOCK_END.finditer(text, last, at - 1)
                ]
            if found and text[last:at].isspace():
                found.pop()  # white space alone goes with the statement before it
            found.append((at, len(open_)))
            last = at
    return found


def _tokens(text: str, start: int, stop: int) -> Iterator[re.Match[str]]:
    """What stands outside of patterns."""
    at = start
    while token := _TOKEN.search(text, at, stop):
        at = token.end()
        if not token.group("slash"):
            yield token
        elif pattern := _PATTERN.match(text, at - 1, min(at + LONGEST_PATTERN, stop)):
            at = pattern.end()
