"""Source code: the text as it is, with a section for each definition, by its qualified name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from foveate.core.text.blocks import line_spans
from foveate.core.text.shapes.shape import indent_of
from foveate.ingest.loaders.decode import decode
from foveate.ports import LoadedDocument, Section

_DEFINITION = re.compile(
    r"[ \t]*+(?:(?:export|default|public|private|protected|internal|static|final|abstract|async"
    r"|override|virtual|inline|pub(?:\([a-z]+\))?|unsafe|extern|const)[ \t]++)*+"
    r"(?:def|class|func|fn|function\*?|interface|struct|impl|enum|trait|module|namespace|type"
    r"|record|object|protocol|package|sub|proc)[ \t]++(?:\([^)\n]*\)[ \t]*+)?"
    r"([A-Za-z_$][\w$]*+(?:(?:::|\.)[\w$]++)*+)"
)
_METHOD = re.compile(
    r"[ \t]++(?:(?:public|private|protected|internal|static|final|async|override|virtual)[ \t]++)++"
    r"(?:[\w<>\[\],.?]++[ \t]++)?([A-Za-z_$][\w$]*+)[ \t]*+\([^;\n]*+\)?[^;\n]*\{?[ \t]*\Z"
)
_MAX_NAME = 200


def load_code(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document; a section is `Class > method`.

    >>> loaded = load_code(b"class Weir:\n    def open(self):\n        pass\n", Path("weir.py"))[0]
    >>> [section.path for section in loaded.sections]
    ['Weir', 'Weir > open']
    """
    text = decode(data)
    return (LoadedDocument(text=text, title=path.name, sections=definition_sections(text)),)


def definition_sections(text: str) -> list[Section]:
    """What each definition reaches over, up to the next one; by indentation, nothing is parsed."""
    found: list[Section] = []
    inside: list[tuple[int, str]] = []  # indentation and name of the definitions around
    for start, end in line_spans(text):
        line = text[start:end]
        body = line.lstrip()
        if not body:
            continue
        indent = indent_of(line)
        name = _DEFINITION.match(line) or _METHOD.match(line)
        closes = body[0] in ")]}"
        while inside and (indent < inside[-1][0] or (indent == inside[-1][0] and not closes)):
            inside.pop()
            if not name:
                _open(found, start, inside)
        if name:
            inside.append((indent, name.group(1)))
            _open(found, start, inside)
    if found:
        found[-1] = replace(found[-1], end=len(text))
    return [section for section in found if section.path]


def _open(found: list[Section], start: int, inside: list[tuple[int, str]]) -> None:
    """A section from here on; the one before ends."""
    path = " > ".join(name for _, name in inside)[:_MAX_NAME]
    if found and found[-1].start == start:
        found.pop()
    elif found:
        found[-1] = replace(found[-1], end=start)
    found.append(Section(start=start, end=start + 1, path=path))
