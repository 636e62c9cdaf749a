"""Dialogue: a turn begins with its speaker, with or without a time, and lasts until the next one.

A heading such as `## Second day` behind an empty line ends a dialogue: what is below it is about
something else, and was not said by the last speaker.

A turn is a unit with its speaker. One that cannot be understood without the turn before, for that
asks something, or because it is too much of an answer, is one unit with it, and leans on it if both
are long. One that is only short is one unit with it while that is short, too, and leans on it if
that is longer: people who write in short turns are not shown all or not at all. Long turns are read
by sentences that lean on the first, which names the speaker.
"""

from __future__ import annotations

import re
from collections import Counter

from foveate.core.text.sentences import unit_spans
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end
from foveate.core.types import Span

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
FARTHEST = 40
"""Lines without a speaker after which a dialogue is over."""

_FENCE = re.compile(r"[ \t]*+(?:`{3,}|~{3,})[^`\n]*+")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]++\W{0,2}\w")

TURN = re.compile(
    r"""[ \t]*+(?:[\[(]?(?:(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}),?[ T])?
        \d{1,2}:\d{2}(?::\d{2})?(?:[ \u202f]?[aApP][mM])?[\])]?[ \t]*+[-\u2013]?[ \t]*+)?+
    (?:\*\*|<|\#\#\#[ ])?
    (?P<who>[A-Z\u00c0-\u00de\u0400-\u042f][\w.'\u2019-]*+(?:[ ][\w.'\u2019()-]++){0,3}
      |user|assistant|system|human|agent|tool)
    (?:\*\*|>)?[ \t]*+(?:[\[(]\d{1,2}:\d{2}(?::\d{2})?[\])])?:(?:\*\*)?(?=\s)""",
    re.VERBOSE,
)
_LEVEL = re.compile(r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)\b")
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


def read_transcript(text: str, start: int) -> ReadResult:
    """The turns from here on that begin with a time, as the entries of a log do.

    People end their sentences, and are not called by levels.
    """
    reading = read_dialogue(text, start)
    if reading.shape is not None:
        turns = [text[a:b].rstrip() for a, b in reading.shape.counted[0].spans]
        spoken = sum(turn.endswith(_ENDS_SENTENCE) for turn in turns)
        who = (TURN.match(turn) for turn in turns)
        if 2 * spoken < len(turns) or any(one and _LEVEL.match(one["who"]) for one in who):
            return ReadResult(None, reading.stop)
    return reading


def read_dialogue(text: str, start: int) -> ReadResult:
    """The turns from here on."""
    turns: list[tuple[int, int]] = []  # where a turn begins, and where its words do
    who: Counter[str] = Counter()
    at, since, end, in_fence = start, 0, start, False
    while at < len(text):
        stop = line_end(text, at)
        turn = TURN.match(text, at, stop)
        in_fence ^= _FENCE.fullmatch(text, turn.end() if turn else at, stop) is not None
        is_below_blank = at > end + 1
        if is_below_blank and not (turn or in_fence) and _HEADING.match(text, at, stop):
            break
        if turn:
            turns.append((at + len(text[at:stop]) - len(text[at:stop].lstrip()), turn.end()))
            who[turn.group("who")] += 1
            since = 0
        elif text[at:stop].strip():
            since += 1
            if since > FARTHEST:
                break
        end = stop if since <= FARTHEST and text[at:stop].strip() else end
        at = stop + 1
    repeated = sum(n for n in who.values() if n > 1)
    spoken = "?" in text[start:end] or end - start > SHORT * len(turns)
    if (
        len(turns) < FEWEST_TURNS
        or len(who) < FEWEST_SPEAKERS
        or 5 * repeated < 4 * len(turns)
        or len(who) > max(FEWEST_SPEAKERS, len(turns) / 3)
        or not spoken
    ):
        return ReadResult(None, max(at if len(turns) >= FEWEST_TURNS else start + 1, start + 1))
    builder = ShapeBuilder()
    spans = _spans(turns, end)
    _add_turns(text, spans, [words for _, words in turns], builder)
    builder.counted.append(("turns", spans))
    return ReadResult(builder.shape(text, "dialogue", end), max(at, start + 1))


def _spans(turns: list[tuple[int, int]], end: int) -> list[Span]:
    starts = [a for a, _ in turns]
    return list(zip(starts, [*starts[1:], end], strict=True))


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
