"""JSON, YAML, XML, TOML, settings and logs: the text as it is, with a section for each record.

Nothing is evaluated: records are found by `core/text/shapes`, and a text in which none are found is
plain text. A record's section is the path of keys that leads to it, and its row its number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.shape import Shape
from foveate.ingest.loaders.decode import decode
from foveate.ports import LoadedDocument, Section

LONGEST = 4_000_000
"""Characters; in a longer text records are not looked for, and citations name lines alone."""
_KEY = re.compile(r"[\s{\[,-]*+(?:\"((?:[^\"\\]|\\.)*+)\"|([\w./@$-]++))[ \t]*+:")
_ELEMENT = re.compile(r"\s*+<([\w:.-]{1,60})")
_LONGEST_KEY = 60
_TABLE = re.compile(r"^[ \t]*\[{1,2}[ \t]*([^\[\]\n]{1,80}?)[ \t]*\]{1,2}[ \t]*$", re.MULTILINE)
_SETTINGS = (".cfg", ".conf", ".ini", ".toml")


def load_data(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document; records are counted from 1 in each list.

    >>> text = b'{"parts": [' + b", ".join(b'{"id": "A-%d", "price": 3.2}' % n for n in range(99))
    >>> section = load_data(text + b"]}", Path("parts.json"))[0].sections[3]
    >>> section.path, section.row
    ('parts', 4)
    """
    text = decode(data)
    if path.suffix.lower() in _SETTINGS:
        sections = _tables(text)
    else:
        sections = record_sections(text) if len(text) <= LONGEST else []
    return (LoadedDocument(text=text, title=path.stem, sections=sections),)


def record_sections(text: str) -> list[Section]:
    """A section for each record of the text, in order; what is between them is in none."""
    found: list[Section] = []
    for shape in find_shapes(text):
        starts = [a for a, _ in shape.spans]
        for noun, spans in shape.counted:
            if noun != "records":
                continue
            path, before = _path(text, shape, starts, spans[0][0]), 0
            for row, (a, b) in enumerate(spans, 1):
                # with the indentation and the opening bracket that its unit begins with
                unit = starts[max(bisect_right(starts, a) - 1, 0)]
                found.append(Section(start=max(unit, before), end=b, path=path, row=row))
                before = b
    found.sort(key=lambda section: (section.start, -section.end))
    apart: list[Section] = []
    for section in found:
        if not apart or section.start >= apart[-1].end:
            apart.append(section)
    return apart


def _path(text: str, shape: Shape, starts: list[int], at: int) -> str:
    """The keys that lead to what begins there."""
    unit = max(bisect_right(starts, at) - 1, 0)
    keys: list[str] = []
    while shape.leans[unit] != unit:
        unit = shape.leans[unit]
        start = shape.spans[unit][0]
        key = _ELEMENT.match(text, start) or _KEY.match(text, start)
        if key:
            keys.append((key[1] or key[key.lastindex or 1])[:_LONGEST_KEY])
    return " > ".join(reversed(keys))


def _tables(text: str) -> list[Section]:
    """What each `[table]` of settings reaches over."""
    heads = [(match.start(), match.group(1).strip("\"' ")) for match in _TABLE.finditer(text)]
    if not heads:
        return []
    ends = [*(start for start, _ in heads[1:]), len(text)]
    return [
        Section(start=start, end=end, path=name)
        for (start, name), end in zip(heads, ends, strict=True)
    ]
