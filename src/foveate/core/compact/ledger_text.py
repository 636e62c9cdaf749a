"""How a ledger is spelled, and read again: a heading, lines of values by origin, an end.

A line begins with the place of the message and who spoke or which tool answered; then come its
questions and values, each once over the whole request. Values alone of several messages of the same
speaker or tool share a line. Nothing in a line can open another line, spell a heading or a handle:
texts are brought to one line and neutralised.

A list that was cut before holds a ledger. What it names goes on in the next one under the same
origins, and the places are those of the list that came first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from foveate.core.compact.entries import Speaker
from foveate.core.compact.shorten import guard_notes
from foveate.core.compact.values import Value, extract_values, read_value

HEADING = "[Ledger: {left} left this list. Data only, by origin.]"
END = "[End of ledger]"
MOST_RANGES = 12
"""Ranges of places that the heading names; the last one takes in all that follow."""
_HEADING = re.compile(
    re.escape(HEADING).replace(re.escape("{left}"), "(?:no message|messages? (.+))")
)
_RANGES = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:, \d{1,9}(?:-\d{1,9})?)*")
_LINE = re.compile(
    r"- \#(?P<place>\d{1,9})(?:-\#(?P<last>\d{1,9}))?[ ](?P<name>\S(?:.*?\S)??)"
    r"(?:[ ]\(expand[ ](?P<handle>[0-9a-f]{8})\))?(?::[ ](?P<said>.+))?"
)
_QUOTE = re.compile("\u201c(.*?)\u201d(?: |\\Z)")
WORTH_HANDLE = 240
"""Characters of a result from which on its handle is given."""
LONGEST_NAME = 48
"""Characters of a tool's name that are shown."""

Range: TypeAlias = tuple[int, int]
"""The first and the last of places in a row, from 0."""


def join_ranges(ranges: Iterable[Range]) -> list[Range]:
    """The same places in order, in as few ranges as there can be.

    >>> join_ranges([(4, 6), (1, 1), (2, 3)])
    [(1, 6)]
    """
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def spell_left(left: Sequence[Range]) -> str:
    """The messages that left, counted from 1.

    >>> spell_left([(0, 2), (5, 5)])
    'messages 1-3, 6'
    """
    if len(left) > MOST_RANGES:
        left = [*left[: MOST_RANGES - 1], (left[MOST_RANGES - 1][0], left[-1][1])]
    spelled = [f"{a + 1}-{b + 1}" if b > a else f"{a + 1}" for a, b in left]
    if not spelled:
        return "no message"
    return f"message{'s' if len(spelled) > 1 or '-' in spelled[0] else ''} {', '.join(spelled)}"


@dataclass(slots=True)
class Origin:
    """One text that left, and what of it the ledger could say.

    `place`: its entry, from 0; `last`: that of the last of several that an earlier ledger joined.
    `name`: who spoke, or the tool. `shown`: what of it is still shown. `handle`: of a long result.
    `size`: characters of the original.
    """

    place: int
    name: str
    text: str
    values: Sequence[Value]
    kind: Speaker = "assistant"
    handle: str = ""
    shown: str = ""
    size: int = 0
    last: int = -1

    @property
    def label(self) -> str:
        """Its place, and who spoke."""
        return label_places([self])

    @property
    def speaker(self) -> str:
        """The name on one line, neutralised."""
        return guard_notes(one_line(self.name))[:LONGEST_NAME]


@dataclass(slots=True)
class Line:
    """What the ledger says of one origin."""

    origin: Origin
    values: dict[str, Value] = field(default_factory=dict)
    quotes: list[str] = field(default_factory=list)
    handle: bool = False

    @property
    def alone(self) -> bool:
        """Whether it needs a line of its own, which others of the same name cannot share."""
        return bool(self.quotes or self.handle)

    def quoted(self) -> list[str]:
        """Its quotes."""
        return [f"\u201c{guard_notes(one_line(quote))}\u201d" for quote in self.quotes]

    def spelled(self) -> list[str]:
        """Its values in the order of the text, but for those in what is quoted of a person."""
        quotes = self.quotes if self.origin.kind == "user" else ()
        quoted = {value.text for quote in quotes for value in extract_values(quote)}
        said = self.values.keys() - quoted
        known = {value.text: value for value in self.origin.values}
        return [spell_value(known[text]) for text in known if text in said]


def label_places(origins: Sequence[Origin]) -> str:
    """From where to where the origins of one speaker stood, and who that was."""
    first = min(origin.place for origin in origins)
    last = max(max(origin.place, origin.last) for origin in origins)
    places = f"#{first + 1}-#{last + 1}" if last > first else f"#{first + 1}"
    return f"{places} {origins[0].speaker}"


def write_line(lines: Sequence[Line]) -> str:
    """One line of one origin, or of several with the same name, whose values it joins."""
    first = lines[0]
    label = label_places([line.origin for line in lines])
    if first.handle:
        label = f"{label} (expand {first.origin.handle})"
    values = ", ".join(text for line in lines for text in line.spelled())
    said = " ".join(filter(None, [*first.quoted(), values]))
    return f"- {label}: {said}" if said else f"- {label}"


def spell_value(value: Value) -> str:
    """A value; a short number with its key, without which it says nothing."""
    text = guard_notes(one_line(value.text))
    return f"{guard_notes(one_line(value.key))[:24]} {text}" if _needs_key(value) else text


def _needs_key(value: Value) -> bool:
    return bool(value.key) and value.kind in ("number", "small")


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class EarlierLedger:
    """What an earlier ledger says: which messages left before, and what it names of them."""

    left: tuple[Range, ...]
    origins: tuple[Origin, ...]


def read_ledger(text: str) -> EarlierLedger | None:
    r"""What a ledger says; None: the text is none, or not one whole.

    >>> text = f"{HEADING.format(left='messages 2-4')}\n- #2 look_up: P-17, bar 3\n{END}"
    >>> [value.text for value in read_ledger(text).origins[0].values]
    ['P-17', '3']
    """
    first, *lines = text.split("\n")
    heading, known = _HEADING.fullmatch(first), [_LINE.fullmatch(line) for line in lines[:-1]]
    if heading is None or not lines or lines[-1] != END or not all(known):
        return None
    left = heading[1] or ""
    if left and not _RANGES.fullmatch(left):
        return None
    ends = [[int(place) - 1 for place in one.split("-")] for one in left.split(", ") if left]
    origins = [_read_line(line) for line in known if line]
    return EarlierLedger(tuple((one[0], one[-1]) for one in ends), tuple(origins))


def _read_line(line: re.Match[str]) -> Origin:
    quotes, at, said = list[str](), 0, line["said"] or ""
    while quote := _QUOTE.match(said, at):
        quotes.append(quote[1])
        at = quote.end()
    text = "\n".join(quotes)
    listed = [read_value(piece) for piece in said[at:].split(", ") if piece]
    speakers: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}
    return Origin(
        place=int(line["place"]) - 1,
        last=int(line["last"] or 0) - 1,
        name=line["name"],
        text=text,
        values=tuple({value.text: value for value in (*extract_values(text), *listed)}.values()),
        kind=speakers.get(line["name"], "tool"),
        handle=line["handle"] or "",
        size=WORTH_HANDLE if line["handle"] else 0,
    )
