"""Whether an entry of a log is an error: by the first level that it names, else by its words."""

from __future__ import annotations

import re

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
    r"(?<!\bno )(?<!\b0 )(?<!\bwithout )(?<!\bno further )"
    r"\b(?:errors?|failed|fails|failure|exception|fatal|panic|segfault)\b(?!=|: 0\b)",
    re.IGNORECASE,
)


def is_severe(entry: str) -> bool:
    """Whether the entry of a log, from its beginning on, is an error.

    >>> is_severe("10:00 [error] disk full"), is_severe("10:01 INFO 3 ERROR so far")
    (True, False)
    """
    level = _LEVEL.search(entry)
    if level is None:
        return _SAYS_ERROR.search(entry) is not None
    return any(level.groups())
