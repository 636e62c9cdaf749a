r"""Neutralises structure inside text by one backslash, and takes exactly that backslash away again.

The idea: where a text could pass for structure, it has a *place* (a head character such as `<`, or
the start of a line), then k backslashes (usually none), then a *tail* that makes it structural.
Guarding turns k into k + 1, undoing turns k >= 1 into k - 1. What is structure has k = 0; what was
text has k >= 1, whatever the text held before.

Why this is exactly reversible, for one rule:
- a tail contains no backslash, so k is well defined;
- a tail contains none of its own rule's places (no head character, no line break), so a backslash
  put in at one place changes no other place's tail, and guarding adds and removes no place;
- guarding is k -> k + 1 on the very places where undoing is k -> k - 1.

A guard is a sequence of such rules, undone in the opposite order, hence reversible as well. Later
rules only insert backslashes, and no tail matches across one, so nothing that an earlier rule
neutralised comes back.

What it is not: a filter. Nothing is removed or judged here; see `sanitise` for hidden characters.
Time is linear in the text: each place scans at most to the next one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_BLANK = re.compile(r"\n(?=[^\S\n]*+(?:\n|\Z))")
_FILLED = re.compile(r"\n[ ](?=[^\S\n]*+(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of place, and the tails that make it structural (regular expressions).

    `needle` is a literal without which there is no such place. `at_lines`: the place begins with a
    line break, and the text's own start counts as one.
    """

    place: str
    tails: tuple[str, ...]
    needle: str = ""
    at_lines: bool = False


def inline(head: str, *tails: str) -> Rule:
    """Everywhere after `head`, one character that no tail contains."""
    return Rule(re.escape(head), tails, head)


def lines(*tails: str) -> Rule:
    """At the start of a line, after its indentation."""
    return Rule(r"\n[ \t]*+", tails, at_lines=True)


def opening(lead: str, *tails: str) -> Rule:
    """At the very start of the text, after the literal `lead`."""
    return Rule(r"\A" + re.escape(lead), tails, lead)


def closing(mark: str) -> Rule:
    r"""Before `mark`, a character that would end a header early: `]` becomes `\]`."""
    return Rule(r"(?<!\\)", (re.escape(mark),), mark)


@dataclass(frozen=True, slots=True)
class Guard:
    r"""Rules to neutralise by, in order.

    >>> guard = Guard((inline("[", r"\d+\]"), lines(r"-{3,}+(?=\n|\Z)")))
    >>> print(guard("see [2]\n---"))
    see [\2]
    \---
    >>> guard.undo(guard(r"[\[\\2]")) == r"[\[\\2]"
    True
    """

    rules: tuple[Rule, ...]

    def __call__(self, text: str) -> str:
        """The text with every structural place neutralised; the same object where there is none."""
        for rule in self.rules:
            if rule.needle in text:
                text = _substitute(_patterns(rule)[0], r"\g<0>\\", text, at_lines=rule.at_lines)
        return text

    def undo(self, text: str) -> str:
        """What was guarded; a text that was not comes back with some backslashes less."""
        for rule in reversed(self.rules):
            if rule.needle in text and "\\" in text:
                text = _substitute(_patterns(rule)[1], r"\1", text, at_lines=rule.at_lines)
        return text

    def finds(self, text: str) -> bool:
        """Whether anything structural (k = 0) stands in the text."""
        return any(
            _patterns(rule)[2].search("\n" + text if rule.at_lines else text) for rule in self.rules
        )

    def also(self, *rules: Rule) -> Guard:
        """This guard with more rules, applied after its own."""
        return Guard(self.rules + rules)


def fill_blank_lines(text: str) -> str:
    r"""One more space in front of each line that shows nothing: no line is empty any more.

    >>> fill_blank_lines("a\n\nb\n")
    'a\n \nb\n '
    """
    return _substitute(_BLANK, "\n ", text, at_lines=True)


def empty_blank_lines(text: str) -> str:
    """The opposite of `fill_blank_lines`, exactly."""
    return _substitute(_FILLED, "\n", text, at_lines=True)


@cache
def _patterns(rule: Rule) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """To add a backslash, to take one away, to find a place that has none."""
    tails = "|".join(rule.tails)
    return (
        re.compile(rf"{rule.place}\\*+(?={tails})"),
        re.compile(rf"({rule.place})\\(?=\\*+(?:{tails}))"),
        re.compile(rf"{rule.place}(?={tails})"),
    )


def _substitute(pattern: re.Pattern[str], to: str, text: str, *, at_lines: bool) -> str:
    """`pattern.sub`; the text's own start counts as the start of a line."""
    if not at_lines:
        return pattern.sub(to, text)
    changed, count = pattern.subn(to, "\n" + text)
    return changed[1:] if count else text
