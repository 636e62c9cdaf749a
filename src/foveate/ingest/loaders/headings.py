"""Headings of Markdown and plain text, and the sections that they open. Reads no bytes.

Levels: the number of `#`; `=` and `-` underlines are 1 and 2 in Markdown; in plain text and
reStructuredText an underline's level is the order in which its character first appears.
"""

from __future__ import annotations

import re

from foveate.core.text.blocks import each_block, line_spans
from foveate.core.types import Span
from foveate.ports import Section

__all__ = ["Heading", "find_headings", "plain_title", "sections_from_headings"]

Heading = tuple[int, int, str]
"""(start, level, title): where it stands, 1 for the highest, and what it says."""

_ATX = re.compile(r"(#{1,6})(?:[ \t]+|\Z)")
_CLOSING = re.compile(r"(?:\A|[ \t])#+[ \t]*\Z|[ \t]*\{:?[ \t]*[#.][^{}]*\}[ \t]*\Z")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"(`+|\*\*|__|\*)(?=\S)([^`*]+?)(?<=\S)\1")
_MAX_TITLE_LENGTH = 200


def find_headings(text: str, *, markdown: bool) -> list[Heading]:
    """The headings of the text in order; in plain text the underlined ones alone."""
    found: list[Heading] = []
    order = ["=", "-"] if markdown else []
    for span, kind in each_block(text):
        heading = (
            _parse_heading(text, span, order, markdown=markdown) if kind == "heading" else None
        )
        if heading is not None:
            found.append(heading)
    return found


def sections_from_headings(text: str, found: list[Heading]) -> tuple[Section, ...]:
    """What each heading reaches over, up to the next one, with its path `A > B > C`."""
    path: list[tuple[int, str]] = []
    reach: list[Section] = []
    for i, (start, level, title) in enumerate(found):
        end = found[i + 1][0] if i + 1 < len(found) else len(text)
        path = [*(step for step in path if step[0] < level), (level, title)]
        reach.append(Section(start=start, end=end, path=" > ".join(name for _, name in path)))
    return tuple(reach)


def plain_title(title: str) -> str:
    """A title without links and emphasis, on one line, of at most 200 characters."""
    short = " ".join(title[: 4 * _MAX_TITLE_LENGTH].split())
    return _MARKUP.sub(r"\2", _LINK.sub(r"\1", short))[:_MAX_TITLE_LENGTH].strip()


def _parse_heading(text: str, span: Span, order: list[str], *, markdown: bool) -> Heading | None:
    start, end = span
    body = text[start:end]
    atx = _ATX.match(body)
    if atx is not None:
        title = plain_title(_CLOSING.sub("", body[atx.end() : atx.end() + 4 * _MAX_TITLE_LENGTH]))
        return (start, len(atx.group(1)), title) if markdown and title else None
    rule = body[-1]
    if rule not in order:
        order.append(rule)
    title = plain_title(body[: list(line_spans(body))[-1][0]])
    return (start, order.index(rule) + 1, title) if title else None
