"""The guards that formats share: what is neutralised in every text and in every header line."""

from __future__ import annotations

from dataclasses import dataclass

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
_LINE = r"[ ]line[ ]-?\d"


HEADING: Rule = text_start_rule("", SPEAKER)
"""For a field that a heading or a line in italics opens with: `## System`, `*User: …*`."""

SECTION_RULE: Rule = inline_rule("§", r"[ ]|\Z")
"""For a field with ` § section` after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What a format neutralises.

    `body`: in texts, special tokens, role headers and what the format uses as structure. `line`: in
    a title or a summary, which cannot pass for a marker or a summary label. `field`: in a field
    with others behind it, `, page 3` and `, key: value` too. `lead`: in one that a line opens with.
    """

    body: Guard
    line: Guard
    field: Guard
    lead: Guard


def guards(
    *square: str,
    angle: tuple[str, ...] = (),
    line: str = "",
    rules: tuple[Rule, ...] = (),
    markers: bool = True,
    rows: bool = False,
    lines: bool = False,
    heading: bool = False,
) -> Guards:
    """The guards of a format that writes what `square` matches in brackets, and `angle` in `<>`.

    `line`: what it writes as a line of its own; `rules`: what else is neutralised in texts alone;
    `markers`: whether its blocks are cited by markers; `rows`: whether it writes `, row 3`;
    `lines`: `, line 3`; `heading`: whether a line opens with a field, as a heading does.
    """
    at_lines = (*ROLES, line) if line else ROLES
    details = (_DETAIL, *[_ROW] * rows, *[_LINE] * lines)
    one_line = Guard(_brackets(angle, (LABEL_TAIL, *square), markers=markers))
    field = one_line.with_rules(inline_rule(",", *details))
    body = Guard((*_brackets(angle, square, markers=markers), line_start_rule(*at_lines)))
    return Guards(
        body=body.with_rules(*rules) if rules else body,
        line=one_line,
        field=field,
        lead=field.with_rules(HEADING) if heading else field,
    )


def _brackets(
    angle: tuple[str, ...], square: tuple[str, ...], *, markers: bool
) -> tuple[Rule, ...]:
    tails = (*SQUARE, *square, *(TAILS if markers else ()))
    more = RULES if markers else ()
    return (inline_rule("<", *ANGLE, *angle), inline_rule("[", *tails), *more, *OTHERS)
