"""The last error of a log or traceback, and whether a question is about errors, or the last one.

The level of a log's entry is the first that it names. An entry without a level is an error if it
says so in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.trace import ends_traceback

LOGS = ("log", "traceback")
"""The shapes that have errors."""
_LEVEL_BEFORE = 200  # characters of an entry in which its level is looked for
_LEVEL = re.compile(
    r"""\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|(?P<severe>
          ERROR|CRITICAL|FATAL|SEVERE|PANIC|ALERT|EMERG(?:ENCY)?))\b
      | (?i:(?:level|lvl|severity)["']?\s*+[=:]\s*+["']?|[\[<](?:[\w-]+:)?)
        (?i:trace|debug|info|notice|warn(?:ing)?|(?P<severe_too>
          err(?:or)?|crit(?:ical)?|fatal|severe|panic|alert|emerg(?:ency)?))\b
      | (?<!\S)(?:[VDIW]|(?P<severe_letter>[EF]))(?:/[\w.]+\(|\d{4}\ \d{2}:|\ [\w.]+\ *+:)
    """,
    re.VERBOSE,
)
_SAYS_ERROR = re.compile(
    r"(?<!\bno )(?<!\b0 )\b(?:errors?|failed|fails|failure|exception|fatal|panic|segfault)\b(?!=)",
    re.IGNORECASE,
)
_ASKS_FOR_ERRORS = re.compile(
    r"""(?ix)\b(?:abort|bugs?\b|br[eo]ke?|caus|crash|died?\b|err[eo]|exception|fail|fault|health|issue
      |not[ ]work|panic|problem|reason|reject|stop|succe|trace|why|wrong
      |abgebr|abgest|abst\u00fcrz|fehler|fehlg|gescheit|kaputt|scheiter|schief|ursache|warum|wieso
      |\u00e9chec|\u00e9chou|panne|plant\u00e9|pourquoi|fall[ao\u00f3]|por[ ]?qu[e\u00e9]|fallit
      |guast|perch\u00e9|falh|fout|mislukt|storing|waarom)"""
)
"""Beginnings of words with which one asks what went wrong."""
_ERROR = r"""(?:abort|crash|err[eo]|exception|fail|fault|issue|panic|problem|traceback|wrong
  |absturz|ausfall|fehler|st\u00f6rung|\u00e9chec|\u00e9chou|panne|fall[oi]|guast|falh|fout|storing)"""
_ASKS_FOR_LAST = re.compile(
    rf"""(?ix)\b(?:
        (?:last|latest|newest|(?:most[ ])?recent|final|letzte\w*|neueste\w*|j\u00fcngste\w*
          |derni\w+|\u00faltim\w+|ultim\w+|laatste|recentste)\s(?:[\w-]+\s){{0,2}}{_ERROR}
      | {_ERROR}\w*\s(?:[\w-]+\s){{0,3}}(?:last(?=\W*+\Z)|(?:most[ ])recently|zuletzt
          |(?:plus|m\u00e1s|pi\u00f9|mais)[ ]r[e\u00e9]c[ei]\w+))"""
)


def asks_for_errors(query: str) -> bool:
    """Whether the question may be about what went wrong.

    >>> asks_for_errors("Why did the job fail last night?"), asks_for_errors("Who reads logs?")
    (True, False)
    """
    return _ASKS_FOR_ERRORS.search(query) is not None


def asks_for_last_error(query: str) -> bool:
    """Whether the question is about the last error of all.

    >>> asks_for_last_error("the most recent failure of the gate")
    True
    >>> asks_for_last_error("Why did the job fail last night?")
    False
    """
    return _ASKS_FOR_LAST.search(query) is not None


def last_error(
    text: str, shapes: Sequence[Shape], *, by_place: bool = False
) -> tuple[Shape, int] | None:
    """The last error of the text's tracebacks and logs: which of the shapes, and its unit there.

    In a log that is the error of its last traceback, else the last entry of a severe level;
    `by_place`: whichever of them is later.
    """
    for shape in reversed(shapes):
        if shape.name in LOGS and (unit := _last_unit(text, shape, by_place=by_place)) >= 0:
            return shape, unit
    return None


def _last_unit(text: str, shape: Shape, *, by_place: bool) -> int:
    severe = -1
    for unit in reversed(range(len(shape.spans))):
        start, end = shape.spans[unit]
        if shape.leans[unit] == unit and shape.name == "log":
            if severe < 0 and is_severe(text[start : min(end, start + _LEVEL_BEFORE)]):
                severe = unit
        elif ends_traceback(text, start, end):
            return max(unit, severe) if by_place else unit
    return severe


def is_severe(entry: str) -> bool:
    """Whether the entry of a log, from its beginning on, is an error.

    >>> is_severe("10:00 [error] disk full"), is_severe("10:01 INFO 3 ERROR so far")
    (True, False)
    """
    level = _LEVEL.search(entry)
    if level is None:
        return _SAYS_ERROR.search(entry) is not None
    return any(level.groups())
