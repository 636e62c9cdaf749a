"""The errors of a log or traceback, and whether a question is about errors, and about which.

The level of a log's entry is the first that it names. An entry without a level is an error if it
says so in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.trace import ends_traceback
from foveate.core.text.terms import STOP_WORDS
from foveate.core.text.words import split_words
from foveate.core.types import WhichErrors

LOGS = ("log", "traceback")
"""The shapes that have errors."""
ROWS = ("json", "json lines")
"""The shapes whose rows are errors if a field says so."""
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
_SEVERE_ROW = re.compile(
    r"""(?ix)"(?:[\w.]*level(?:name)?|lvl|severity\w*)"\s*+:\s*+
      "(?:err(?:or)?|crit(?:ical)?|fatal|severe|panic|alert|emerg(?:ency)?)\""""
)
_SAYS_ERROR = re.compile(
    r"(?<!\bno )(?<!\b0 )(?<!\bwithout )(?<!\bno further )"
    r"\b(?:errors?|failed|fails|failure|exception|fatal|panic|segfault)\b(?!=|: 0\b)",
    re.IGNORECASE,
)
_COMPONENT = re.compile(r"""["'\]>|:\s-]*+\[?([\w.-]++)(?:\]|:(?!\S)|\s-\s)""")
"""Behind the level of an entry: the name of the part of the program that wrote it."""
_ASKS_FOR_ERRORS = re.compile(
    r"""(?ix)\b(?:abort|bugs?\b|br[eo]ke?|caus|crash|died?\b|err[eo]|exception|fail|fault|health|issue
      |not[ ]work|panic|problem|reason|reject|stop|succe|trace|why|wrong
      |abgebr|abgest|abst\u00fcrz|fehler|fehlg|gescheit|kaputt|scheiter|schief|ursache|warum|wieso
      |\u00e9chec|\u00e9chou|panne|plant\u00e9|pourquoi|fall[ao\u00f3]|por[ ]?qu[e\u00e9]|fallit
      |guast|perch\u00e9|falh|fout|mislukt|storing|waarom)"""
)
"""Beginnings of words with which one asks what went wrong."""
_ERROR = r"""(?:abort|crash|err[eo]|exceptions?\b(?!\sto\b)|fail|faults?\b(?!\slines?\b)
  |issues?\b(?!\sof\b)|panic|problems?\b(?!\ssets?\b)|traceback|wrong
  |absturz|ausfall|fehler|st\u00f6rung|\u00e9chec|\u00e9chou|panne|fall[oi]|guast|falh|fout|storing)"""
_FIRST = r"""(?:first|earliest|oldest|initial|erste[mnrs]?|fr\u00fcheste\w*|premi[e\u00e8]re?
  |primer[ao]?|prim[ao]|primeir[ao]|eerste|vroegste)"""
_LAST = r"""(?:last|latest|newest|(?:most[ ])?recent|final|letzte\w*|neueste\w*|j\u00fcngste\w*
  |derni\w+|\u00faltim\w+|ultim\w+|laatste|recentste)"""
_END = "\x1e"
"""What `_mark_ends` puts where a sentence ends that may ask for errors."""
_ENDS = rf"[^\w{_END}]*+{_END}"
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n")
_IS_QUESTION = re.compile(r"\?\W*\Z")
_HAS_NO_SUBJECT = re.compile(
    r"""(?ix)\W*+(?:(?:\w+\W+){0,2}(?:you|it|that|they|du|sie|vous|je)\b
      | (?:(?:and|und|et|y|e|en)\W+)?\w+\W*\Z)"""
)
"""A question about what another question is about: *Is that bad?*, *Could you be brief?*, *Why?*"""
_CAME_FIRST = rf"""(?:first(?={_ENDS}|\s(?:appear|happen|occur|see|show))|zuerst
  |(?:plus|m\u00e1s|pi\u00f9|mais)[ ](?:ancien|anti[cg])\w*)"""
_CAME_LAST = rf"""(?:last(?={_ENDS}|\s(?:appear|happen|occur|see|show))|(?:most[ ])recently|zuletzt
  |(?:plus|m\u00e1s|pi\u00f9|mais)[ ]r[e\u00e9]c[ei]\w+)"""
_ASKS_FOR = re.compile(rf"(?ix)(?:{_FIRST} | {_LAST} | {_ERROR}\w*)")
"""A word that asks for errors, and names no component."""
_BETWEEN = r"(?:(?!(?:no|for|after|aid|fix|check|should|must|bei|nach|hilfe|kein\w*)\s)[\w-]+\s)"
_NOT_ONE = r"(?!\w*\s(?:budget|rate|handl|correction))"
"""Behind the word for an error: what is about no error that happened."""


def _pattern_of_end(before: str, behind: str) -> re.Pattern[str]:
    """How one asks for the errors at one end, with those words before the error or behind it."""
    return re.compile(
        rf"""(?ix)\b(?:{before}\s{_BETWEEN}{{0,2}}{_ERROR}{_NOT_ONE}
          | (?<!\bno\s){_ERROR}\w*\s{_BETWEEN}{{0,3}}{behind})"""
    )


_ASKS_FOR_FIRST = _pattern_of_end(_FIRST, _CAME_FIRST)
_ASKS_FOR_LAST = _pattern_of_end(_LAST, _CAME_LAST)
_ERRORS = r"""(?:aborts|crashes|errors|exceptions|failures|faults|issues|panics|problems|tracebacks
  |abst\u00fcrze|ausf\u00e4lle|fehler|st\u00f6rungen|\u00e9checs|erreurs|pannes|errores|fallos|fallas
  |errori|guasti|erros|falhas|fouten|storingen)\b"""
_ASKS_FOR_ALL = re.compile(
    rf"""(?ix)\b(?:
        (?:all|any|every|how[ ]many|list|show|what|which|alle|welche|tous|toutes|quel(?:le)?s
          |tod[ao]s|qu\u00e9|cu\u00e1les|tutti|quali|quais|welke)\s{_BETWEEN}{{0,2}}{_ERRORS}
        (?:\s(?:are|were|is|have|been|there|happened|occurred|logged|gab|gibt|es|sind|aufgetreten
          |y|a|hay|hubo|ci|sono|zijn|er)\b)*+{_ENDS}
      | (?:what|which)\s{_BETWEEN}{{0,2}}{_ERRORS}\s(?:did|has|have)\s(?:[\w-]+\s){{1,3}}
        (?:get|had|have|hit|log|logged|raise|raised|report|reported|see|seen|throw|thrown){_ENDS}
      | {_ERRORS}\s(?:[\w-]+\s){{0,6}}(?:\S*[._-])?(?:(?:sys)?logs?|protokoll|journal|registro)\b
    )"""
)
"""Errors and nothing else, or those of a log: a machine has faults, too, and a rule exceptions."""


def asks_for_errors(query: str) -> bool:
    """Whether the question may be about what went wrong.

    >>> asks_for_errors("Why did the job fail last night?"), asks_for_errors("Who reads logs?")
    (True, False)
    """
    return _ASKS_FOR_ERRORS.search(query) is not None


def which_errors(query: str) -> WhichErrors | None:
    """Whether the question is about the first or the last error of all, or about all of them.

    >>> which_errors("the most recent failure of the gate"), which_errors("What failed first?")
    ('last', 'first')
    >>> which_errors("Which errors are in the log?"), which_errors("Why did it fail last night?")
    ('all', None)
    """
    request = _mark_ends(query)
    is_first = _ASKS_FOR_FIRST.search(request) is not None
    is_last = _ASKS_FOR_LAST.search(request) is not None
    if is_first != is_last:
        return "first" if is_first else "last"
    return "all" if is_first or _ASKS_FOR_ALL.search(request) else None


def find_errors(
    text: str, shapes: Sequence[Shape], which: WhichErrors | None
) -> list[tuple[Shape, int]]:
    """Those errors of the text's tracebacks and logs: which of the shapes, and its unit there.

    Rows of JSON with such a level are entries of a log, too. If the question names none of these
    (`None`), it is the error of the last traceback of the last log that has an error, else its
    last one; and then rows are no log, for accidents have levels, too.
    """
    names = LOGS if which is None else (*LOGS, *ROWS)
    units = [(s, unit) for s in shapes if s.name in names for unit in range(len(s.spans))]
    if which in (None, "last"):
        units.reverse()
    found = (one for one in units if _is_error(text, *one))
    if which == "all":
        return [*found]
    best = next(found, None)
    if which is None and best is not None:
        traces = (one for one in units if one[0] is best[0] and _ends_trace(text, *one))
        best = next(traces, best)
    return [best] if best else []


def _mark_ends(request: str) -> str:
    """The request with `_END` behind its last question, or behind all sentences if it has none.

    Instructions may follow the question, and questions that have no subject of their own.
    """
    sentences = _BETWEEN_SENTENCES.split(request)
    questions = [n for n, one in enumerate(sentences) if _IS_QUESTION.search(one)]
    while questions[1:] and _HAS_NO_SUBJECT.match(sentences[questions[-1]]):
        questions.pop()
    asks = questions[-1:] or range(len(sentences))
    return "".join(one + (_END if n in asks else " ") for n, one in enumerate(sentences))


def _is_error(text: str, shape: Shape, unit: int) -> bool:
    start, end = shape.spans[unit]
    if shape.name in ROWS:
        return _SEVERE_ROW.search(text, start, end) is not None
    if _is_entry(shape, unit):
        return is_severe(text[start : min(end, start + _LEVEL_BEFORE)])
    return _ends_trace(text, shape, unit)


def _is_entry(shape: Shape, unit: int) -> bool:
    return shape.name == "log" and shape.leans[unit] == unit


def _ends_trace(text: str, shape: Shape, unit: int) -> bool:
    return not _is_entry(shape, unit) and ends_traceback(text, *shape.spans[unit])


def component(entry: str) -> str:
    """The part of the program that wrote the entry, if its level is followed by one.

    >>> component("10:00 ERROR [mail] mailbox full"), component("10:01 ERROR Error: no answer")
    ('mail', '')
    """
    level = _LEVEL.search(entry)
    found = _COMPONENT.match(entry, level.end()) if level else None
    if found is None or all(map(str.isdecimal, _naming_words(found[1]))):
        return ""
    return found[1]


def asked_components(query: str, source: str) -> frozenset[str]:
    """The words of the query that may name a component; the name of the file in it names none.

    >>> sorted(asked_components("What was the last error of billing in app.log?", "srv/app.log"))
    ['billing']
    """
    file, asked = (" ".join(split_words(text)) for text in (source.rpartition("/")[2], query))
    return _naming_words(f" {asked} ".replace(f" {file} ", "  ") if " " in file else asked)


def is_of_component(entry: str, asked: frozenset[str]) -> bool:
    """Whether the entry has a component, of these words."""
    name = component(entry)
    return bool(name) and _naming_words(name) <= asked


def has_error_of_component(text: str, asked: frozenset[str]) -> bool:
    """Whether the text of a log has an error of a component of these words."""
    lines = text.splitlines() if asked else ()
    return any(is_severe(line) and is_of_component(line, asked) for line in lines)


def _naming_words(text: str) -> frozenset[str]:
    """Those that neither any text has nor any question about errors."""
    words = frozenset(split_words(text)) - STOP_WORDS["en"]
    return frozenset([word for word in words if not _ASKS_FOR.fullmatch(word)])


def is_severe(entry: str) -> bool:
    """Whether the entry of a log, from its beginning on, is an error.

    >>> is_severe("10:00 [error] disk full"), is_severe("10:01 INFO 3 ERROR so far")
    (True, False)
    """
    level = _LEVEL.search(entry)
    if level is None:
        return _SAYS_ERROR.search(entry) is not None
    return any(level.groups())
