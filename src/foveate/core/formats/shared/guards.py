"""The guards that formats share: what is neutralised in every text and in every header line."""

from __future__ import annotations

from foveate.core.text.escape import Guard, Rule, inline_rule, line_start_rule, text_start_rule
from foveate.core.text.markers import RULES, TAILS
from foveate.core.text.special_tokens import ANGLE, OTHERS, ROLES, SPEAKER, SQUARE

RULER = r"-{3,}+[ \t\r]*+(?=\n|\Z)"
"""A line of dashes, as some formats write between blocks."""

LONE_RULER: Rule = Rule(r"(?<![^\W_])(?<![^\W_]\r)\n[^\S\n]*+", (RULER,), "---", at_lines=True)
"""A ruler that is not right below a line that ends with a letter or digit, as a heading does."""

# `[Page context: …]` in any language: a label is at most 80 characters (see `Renderer`).
LABEL_TAIL = r"[^\[\]<\\:,§\n]{1,80}+:"

_DETAIL = r"[ ](?:page[ ]-?\d|[\w.-]++:(?:[ ]|\Z))"
_ROW = r"[ ]row[ ]-?\d"


def body_guard(
    *,
    angle: tuple[str, ...] = (),
    square: tuple[str, ...] = (),
    line: str = "",
    markers: bool = False,
) -> Guard:
    """For a block's text: special tokens, role headers, the format's own, and `markers`."""
    at_lines = (*ROLES, line) if line else ROLES
    return Guard((*_brackets(angle, square, markers=markers), line_start_rule(*at_lines)))


def line_guard(*square: str, angle: tuple[str, ...] = (), markers: bool = False) -> Guard:
    """For a title or a summary: one line that cannot pass for a marker or a summary label."""
    return Guard(_brackets(angle, (LABEL_TAIL, *square), markers=markers))


def field_guard(*square: str, markers: bool = False, row: bool = False) -> Guard:
    """For a field with others after it: `, page 3` and `, key: value` are neutralised, too.

    `row`: so is `, row 3`, for a format that shows rows.
    """
    details = (_DETAIL, _ROW) if row else (_DETAIL,)
    return line_guard(*square, markers=markers).with_rules(inline_rule(",", *details))


def _brackets(
    angle: tuple[str, ...], square: tuple[str, ...], *, markers: bool
) -> tuple[Rule, ...]:
    tails = (*SQUARE, *square, *(TAILS if markers else ()))
    more = RULES if markers else ()
    return (inline_rule("<", *ANGLE, *angle), inline_rule("[", *tails), *more, *OTHERS)


HEADING: Rule = text_start_rule("", SPEAKER)
"""For a field that a heading or a line in italics opens with: `## System`, `*User: …*`."""

SECTION_RULE: Rule = inline_rule("§", r"[ ]|\Z")
"""For a field with ` § section` after it."""
