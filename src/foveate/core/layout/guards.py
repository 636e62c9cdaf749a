r"""The guards that formats share: what is neutralised in every format, and in every header line.

What it is: rules, put together once. What it is not: a format; what one format alone uses as
structure stands in that format's file.
"""

from __future__ import annotations

from foveate.core.text.escape import Guard, Rule, inline, lines
from foveate.core.text.special_tokens import ANGLE, ROLES, SQUARE

MARKER = r"[ \t]*+\d++[ \t]*+\]"
"""Tail of a citation marker, `[12]`."""

RULER = r"-{3,}+[ \t\r]*+(?=\n|\Z)"
"""A line of dashes, as some formats write between blocks."""

# `[Page context: …]` in any language: a label is at most 80 characters (see `Renderer`).
LABELLED = r"[^\[\]<\\:,§\n]{1,80}+:"

_DETAIL = r"[ ](?:page[ ]-?\d|[\w.-]++:(?:[ ]|\Z))"


def body_guard(
    *, angle: tuple[str, ...] = (), square: tuple[str, ...] = (), line: str = ""
) -> Guard:
    """For a block's text: special tokens, role headers, and what the format adds."""
    at_lines = (*ROLES, line) if line else ROLES
    return Guard((inline("<", *ANGLE, *angle), inline("[", *SQUARE, *square), lines(*at_lines)))


def line_guard(*square: str, angle: tuple[str, ...] = ()) -> Guard:
    """For a title or a summary: one line that cannot pass for a marker or a summary label."""
    return Guard((inline("<", *ANGLE, *angle), inline("[", *SQUARE, LABELLED, *square)))


def field_guard(*square: str) -> Guard:
    """For a field with others after it: `, page 3` and `, key: value` are neutralised too."""
    return line_guard(*square).also(inline(",", _DETAIL))


SECTION: Rule = inline("§", r"[ ]|\Z")
"""For a field with ` § section` after it."""
