"""The rest of a record that a text begins with, if the text was cut inside of that record.

It is a unit of the shape that goes on behind it, so that half a row is no prose, and what was open
before the text stays open in it.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.code import read_rest_of_code
from foveate.core.text.shapes.delimited import delimiter_of, is_part_of_row
from foveate.core.text.shapes.json import LONGEST_RECORD, read_json, resume_json
from foveate.core.text.shapes.shape import Shape

LEAST_TORN = 0.4
"""Of a text that begins in the middle of a JSON record is records."""
_ROW_END = re.compile(r"(?:</t[rdh]|\A/?[a-z]{0,2})\s*+>\Z", re.IGNORECASE)
_TAG_NAME = re.compile(r"<([\w:.-]++)")
_INSIDE = re.compile(r"[^A-Z\u00c0-\u00de#*>`~-]|\S*[^\s:]\Z|\Z")
"""What no sentence, heading or item begins with."""


def read_torn_json(text: str) -> Shape | None:
    """JSON from its first whole record on, where the text begins in the middle of another."""
    if not text.lstrip().startswith(("{", "[")) and (at := resume_json(text)) > 0:
        shape = read_json(text, at).shape
        if shape is not None and (shape.end - at) > LEAST_TORN * len(text):
            return _with_unit_before(text, shape._replace(start=at))
    return None


def with_rest(text: str, shape: Shape) -> Shape:
    """The first shape of the text, with the rest of a record if that is all that is before it."""
    rest = text[: shape.start].strip() if shape.start <= LONGEST_RECORD else ""
    if not rest or not _is_rest(text, rest, shape):
        return shape
    if shape.name == "code":
        return read_rest_of_code(text)
    return _with_unit_before(text, shape)


def _is_rest(text: str, rest: str, shape: Shape) -> bool:
    """Whether this is the end of a record of the shape."""
    is_above = text.count("\n", text.index(rest) + len(rest), shape.start) == 1
    if shape.name == "html table":
        return _ROW_END.search(rest) is not None and "<tr" not in rest.lower()
    if shape.name == "xml":
        tag = _TAG_NAME.match(text, shape.start)
        if tag is None or tag[0] in rest:  # it is another example
            return False
        end = f"</{tag[1]}>"
        return rest.endswith(end) or end.endswith(rest)
    if shape.name == "markdown table":
        return is_above and "\n" not in rest and rest.endswith("|")
    if shape.name in ("code", "indented"):
        first, *others = text[: shape.start].rstrip().splitlines()
        is_laid_out = all(not line or line[0] in " \t" for line in [*others, text[shape.start :]])
        return is_laid_out and _INSIDE.match(first) is not None
    if shape.is_table and is_above and shape.head < 0:
        closed = f'"{rest}' if rest.count('"') % 2 else rest
        return is_part_of_row(closed, delimiter_of(shape.name), shape.columns)
    return False


def _with_unit_before(text: str, shape: Shape) -> Shape:
    """The shape with what stands before it in the text as its first unit."""
    start = len(text) - len(text.lstrip())
    first = start, len(text[: shape.start].rstrip())
    return shape._replace(
        start=start,
        spans=(first, *shape.spans),
        leans=(0, *(lean + 1 for lean in shape.leans)),
        head=shape.head + (shape.head >= 0),
        title=shape.title + (shape.title >= 0),
        untitled=shape.untitled + (shape.untitled > 0),
    )
