"""Neutralises structure inside text by one backslash, and takes exactly that backslash away again.

A *place* (a head character such as `<`, or the start of a line) with k backslashes and a *tail*
after it is structure if k = 0. Guarding turns k into k + 1, undoing turns k >= 1 into k - 1.
This is exactly reversible because a tail contains no backslash and none of its own rule's places
(but as its last character), so guarding changes neither places nor other tails. A guard undoes its
rules in the opposite order. Time is linear: each place scans at most to the next one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_BLANK = re.compile(r"\n(?=[^\S\n]*+(?:\n|\Z))")
_BLANK_RUN = re.compile(r"(?!(?<=\S)\n(?=\n[^\S\n]*+\S))\n(?=[^\S\n]*+(?:\n|\Z))")
_FILLED = re.compile(r"\n[ ](?=[^\S\n]*+(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of place, and the tails that make it structural (regular expressions).

    `needle` is a literal without which there is no such place with a tail. `at_lines`: the place
    begins with a line break, and the text's own start counts as one.
    """

    place: str
    tails: tuple[str, ...]
    needle: str = ""
    at_lines: bool = False


def inline_rule(head: str, *tails: str, needle: str = "") -> Rule:
    """Everywhere after `head`, one character that a tail may only end with."""
    return Rule(re.escape(head), tails, needle or head)


def line_start_rule(*tails: str) -> Rule:
    """At the start of a line, after its indentation, of whatever white space it is."""
    return Rule(r"\n[^\S\n]*+", tails, at_lines=True)


def text_start_rule(lead: str, *tails: str) -> Rule:
    """At the very start of the text, after the literal `lead`."""
    return Rule(r"\A" + re.escape(lead), tails, lead)


def closing_rule(mark: str) -> Rule:
    r"""Before `mark`, a character that would end a header early: `]` becomes `\]`."""
    return Rule(r"(?<!\\)", (re.escape(mark),), mark)


@dataclass(frozen=True, slots=True)
class Guard:
    r"""Rules to neutralise by, in order.

    >>> guard = Guard((inline_rule("[", r"\d+\]"), line_start_rule(r"-{3,}+(?=\n|\Z)")))
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
                text = _substitute(_adding(rule), r"\g<0>\\", text, at_lines=rule.at_lines)
        return text

    def undo(self, text: str) -> str:
        """What was guarded; a text that was not comes back with some backslashes less."""
        if "\\" not in text:
            return text
        for rule in reversed(self.rules):
            if rule.needle in text:
                text = _substitute(_taking(rule), r"\1", text, at_lines=rule.at_lines)
        return text

    def with_rules(self, *rules: Rule) -> Guard:
        """This guard with more rules, applied after its own."""
        return Guard(self.rules + rules)


def fill_blank_lines(text: str) -> str:
    r"""One more space in front of each line that shows nothing: no line is empty any more.

    >>> fill_blank_lines("a\n\nb\n")
    'a\n \nb\n '
    """
    return _substitute(_BLANK, "\n ", text, at_lines=True)


def fill_runs_of_blank_lines(text: str) -> str:
    r"""The same for all but an empty line alone between two others: no two stand together.

    >>> fill_runs_of_blank_lines("a\n\nb\n\n\nc")
    'a\n\nb\n \n \nc'
    """
    return _substitute(_BLANK_RUN, "\n ", text, at_lines=True)


def empty_blank_lines(text: str) -> str:
    """The opposite of both, exactly."""
    return _substitute(_FILLED, "\n", text, at_lines=True)


# Each is compiled at first use: to write a context, nothing is taken away.


@lru_cache(maxsize=256)
def _adding(rule: Rule) -> re.Pattern[str]:
    return re.compile(rf"{rule.place}\\*+(?={'|'.join(rule.tails)})")


@lru_cache(maxsize=256)
def _taking(rule: Rule) -> re.Pattern[str]:
    return re.compile(rf"({rule.place})\\(?=\\*+(?:{'|'.join(rule.tails)}))")


def _substitute(pattern: re.Pattern[str], to: str, text: str, *, at_lines: bool) -> str:
    """`pattern.sub`; the text's own start counts as the start of a line."""
    if not at_lines:
        return pattern.sub(to, text)
    changed, count = pattern.subn(to, "\n" + text)
    return changed[1:] if count else text
