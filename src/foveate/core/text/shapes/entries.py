"""Lines that begin alike and hold those below them: entries of a log, tracebacks, turns of a talk.

An entry of a log begins with a time, a level or an address, a turn with its speaker, with or
without a time. The traceback of an entry belongs to it. A turn is a unit with its speaker. One that
cannot be understood without the turn before, for that asks something, or because it is too much of
an answer, is one unit with it, and leans on it if both are long. One that is only short is one unit
with it while that is short, too: people who write in short turns are not shown all or not at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from foveate.core.text.sentences import unit_spans
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, indent_of, line_end
from foveate.core.types import Span

FARTHEST = 60
"""Lines that begin nothing after which a log or a dialogue is over."""
FEWEST_ENTRIES = 3
LEAST_SHARE = 0.3
"""Of the lines that are not indented begin an entry."""
LONGEST_ENTRY = 240
"""Characters; the lines of a longer entry are units of their own."""
FEWEST_TURNS = 4
FEWEST_SPEAKERS = 2
LONGEST_TURN = 800
"""Characters; a longer turn is read by its sentences."""
LONGEST_EXCHANGE = 400
"""Characters of turns that need one another up to which they are one unit."""
LONGEST_OF_SHORT = 160
"""The same where the last one is only short."""
SHORT = 40
"""Characters; a turn of no more is an answer to the one before."""

_ANSI = r"(?:\x1b\[[\d;]*m)*+"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_DAY = r"(?:\d{4}[-/.]\d{2}[-/.]\d{2}|\d{1,2}[-/.]\w{1,3}[-/.]\d{2,4})"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)"
ENTRY = rf"""(?x:(?=[\[(<\d\x1bTDINWECFSAJMOVtl]){_ANSI}(?:
        [\[(]?{_DAY}(?:[T\ :]+{_TIME})
      | [\[(]{_TIME}
      | \[\ *\d+\.\d{{6}}\]
      | \d{{2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?\ +[\[\w]
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +\d{{1,2}}\ +\d{{2}}:\d{{2}}
      | [\[<]?{_ANSI}{_LEVEL}\b{_ANSI}[\]>]?[:\ \t\[]
      | \d{{1,3}}(?:\.\d{{1,3}}){{3}}\ +\S+\ +\S+\ +\[
      | [VDIWEF]/[\w.]+\(
      | [IWEF]\d{{4}}\ \d{{2}}:
      | (?:level=\w+\ +)?t(?:ime(?:stamp)?|s)?=\S+\ +\w+=
      | \d{{10,13}}(?:\.\d+)?\ +[\[\w]
    ))"""
TRACE = (
    r"[ \t]*+(?:Traceback \(most recent call last\)|Exception in thread |Caused by: )"
    r"|[^\n]*+\n[ \t]++at (?:async |new )?[\w.$<>/]"
)
"""A line that opens a traceback, or, as in Java and JavaScript, the error of the frames below."""
TURN = rf"""(?x:[ \t]*+(?:[\[(]?(?:(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}),?[ T])?
        \d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:[ \u202f]?[aApP][mM])?[\])]?[ \t]*+[-\u2013]?[ \t]*+)?+
    (?:\*\*|<|\#\#\#[ ])?(?!{_LEVEL}\b)
    (?P<who>[A-Z\u00c0-\u00de\u0400-\u042f][\w.'\u2019-]*+(?:[ ](?!\(\d)[\w.'\u2019()-]++){{0,3}}+
      |user|assistant|system|human|agent|tool)
    (?:\*\*|>)?[ \t]*+(?:[\[(]\d{{1,2}}:\d{{2}}(?::\d{{2}})?[\])])?:(?:\*\*)?(?=[^\S\n]))"""

_ENTRY, _TRACE, _TURN = map(re.compile, (ENTRY, TRACE, TURN))
_BETWEEN = re.compile(r"\s*+(?:During handling of|The above exception|\.\.\. \d+ more|Traceback )")
_ENDS_SENTENCE = tuple('.?!\u2026\u3002\uff01\uff1f"\u201d)')
_REFERS = re.compile(
    r"(?:yes|no|yeah|nope|ok(?:ay)?|sure|right|exactly|they|them|it|that|this|those|he|she|his|her"
    r"|ja|nein|oui|non|s\u00ed|nee)\b",
    re.IGNORECASE,
)
_ASKS_ABOUT_THEM = re.compile(
    r"[^.!?\n]{0,200}\b(?:[Tt]hey|[Tt]hem|[Hh]e|[Hh]im|[Ss]he|[Ii]ls|[Ee]lles|[Zz]ij|ihnen)"
    r"\b[^.!?\n]{0,200}[?\uff1f]"
)
"""A question about who was named before; `Ihnen` is the one who is asked, `it` nothing."""


def read_log(text: str, start: int) -> ReadResult:
    """The entries from here on, each with the lines below it."""
    lines, firsts, at = _entries(text, start, _ENTRY)
    lines = lines[: firsts[-1]] + _own_lines(text, lines[firsts[-1]][0])
    unindented = sum(not indent_of(text[a:b]) for a, b in lines)
    if len(firsts) < FEWEST_ENTRIES or len(firsts) < LEAST_SHARE * unindented:
        return ReadResult(None, at if len(firsts) >= FEWEST_ENTRIES else start + 1)
    return _read_entries(text, "log", lines, firsts)


def read_trace(text: str, start: int) -> ReadResult:
    """The traceback that begins with the line here, those that it was caused by included."""
    lines = _own_lines(text, start)
    if len(lines) < FEWEST_ENTRIES:
        return ReadResult(None, lines[-1][1] + 1)
    return _read_entries(text, "traceback", lines, [0])


def _entries(text: str, start: int, begins: re.Pattern[str]) -> tuple[list[Span], list[int], int]:
    """The lines from here on that are not blank; the numbers of those that begin an entry.

    Where the next line begins, before which too many begin none, and are not indented.
    """
    lines, firsts, at, far = list[Span](), list[int](), start, 0
    while at < len(text) and far <= FARTHEST:
        end = line_end(text, at)
        if text[at:end].strip():
            is_first = not lines or begins.match(text, at, end) is not None
            firsts += [len(lines)] * is_first
            far = 0 if is_first else far + (not text[at].isspace())
            lines.append((at, end))
        at = end + 1
    return lines, firsts, max(at, start + 1)


def _own_lines(text: str, at: int) -> list[Span]:
    """The line here with those that are its own: deeper ones, or the traceback that it opens."""
    lines, in_trace = list[Span](), False
    while at < len(text):
        end = line_end(text, at)
        if text[at:end].strip():
            in_trace = in_trace or _TRACE.match(text, at) is not None
            is_next = not lines or at == lines[-1][1] + 1
            is_part = in_trace or text[at].isspace()
            if lines and not (is_part and (is_next or _BETWEEN.match(text, at))):
                break
            lines.append((at, end))
        at = end + 1
    return lines


def _read_entries(text: str, name: str, lines: Sequence[Span], firsts: Sequence[int]) -> ReadResult:
    """A unit for each entry, and for each line of a long one that is no deeper than the last."""
    builder = ShapeBuilder()
    for n, first in enumerate(firsts):
        own = lines[first : firsts[n + 1] if n + 1 < len(firsts) else len(lines)]
        head = builder.add(own[0][0])
        if own[-1][1] - own[0][0] <= LONGEST_ENTRY:
            continue
        before = -1
        for a, b in own[1:]:
            indent = indent_of(text[a:b])
            if indent <= before or before < 0:
                builder.add(b - len(text[a:b].lstrip()), head)
            before = indent
    builder.counted.append(("lines", list(lines)))
    stop = lines[-1][1]
    return ReadResult(builder.shape(text, name, stop), stop + 1)


def read_dialogue(text: str, start: int) -> ReadResult:
    """The turns from here on; people end their sentences, and most speak again."""
    lines, firsts, at = _entries(text, start, _TURN)
    lines = lines[: firsts[-1] + FARTHEST]
    starts = [b - len(text[a:b].lstrip()) for a, b in (lines[n] for n in firsts)]
    end = lines[-1][1]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    turns = [_TURN.match(text, *span) for span in spans]
    who = Counter(turn["who"] for turn in turns if turn)
    repeated = sum(n for n in who.values() if n > 1)
    spoken = sum(text[a:b].rstrip().endswith(_ENDS_SENTENCE) for a, b in spans)
    if (
        len(spans) < FEWEST_TURNS
        or len(who) < FEWEST_SPEAKERS
        or 5 * repeated < 4 * len(spans)
        or len(who) > max(FEWEST_SPEAKERS, len(spans) / 3)
        or not ("?" in text[start:end] or end - start > SHORT * len(spans))
        or (2 * spoken < len(spans) and _ENTRY.match(text, starts[0]))
    ):
        return ReadResult(None, at if len(spans) >= FEWEST_TURNS else start + 1)
    builder = ShapeBuilder()
    _add_turns(text, spans, [turn.end() if turn else start for turn in turns], builder)
    builder.counted.append(("turns", spans))
    return ReadResult(builder.shape(text, "dialogue", end), max(end + 1, start + 1))


def _add_turns(text: str, spans: list[Span], words: list[int], builder: ShapeBuilder) -> None:
    """A unit for each exchange of turns; `words`: where those of each turn begin."""
    before = -1  # the unit of the turn before
    for n, (a, b) in enumerate(spans):
        said, turn = text[spans[n - 1][0] : a] if n else "", text[words[n] : b].strip()
        needs = n > 0 and _refers_to(said, turn)
        longest = LONGEST_EXCHANGE if needs else LONGEST_OF_SHORT
        is_reply = n > 0 and len(turn) <= SHORT
        if (needs or is_reply) and b - builder.starts[before] <= longest:
            continue
        leans = needs or (is_reply and len(text[words[n - 1] : a].strip()) > SHORT)
        before = builder.add(a, before if leans else -1)
        if b - a > LONGEST_TURN:
            for first, _ in unit_spans(text, (a, b), "paragraph")[1:]:
                builder.add(first, before)


def needs_turn_before(before: str, words: str) -> bool:
    """Whether the words of a turn cannot be understood without the turn before.

    >>> before = "The museums of the old town are closed in winter."
    >>> asked = "And at what time of the day do they open in the summer months?"
    >>> needs_turn_before(before, asked), needs_turn_before(asked, before)
    (True, True)
    """
    words = words.strip()
    return len(words) <= SHORT or _refers_to(before, words)


def _refers_to(before: str, words: str) -> bool:
    """Whether the turn before asks, or these words name no one whom they speak of."""
    asked = before.rstrip().endswith(("?", "\uff1f"))
    return asked or bool(_REFERS.match(words) or _ASKS_ABOUT_THEM.match(words))
