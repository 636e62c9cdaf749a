"""How a ledger is spelled, and read again: a heading, lines of values by origin, an end.

A line begins with the place of the message and who spoke or which tool answered; then come its
questions and values, each once over the whole request. Values alone of several messages of the same
speaker or tool share a line. Nothing in a line can open another line, spell a heading or a handle:
texts are brought to one line and neutralised.

A list that was cut before holds a ledger. What it names goes on in the next one under the same
origins, and the places are those of the list that came first. A text that has more than a ledger
is what somebody says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from foveate.core.compact.entries import Speaker
from foveate.core.compact.shorten import HANDLE, guard_notes, unguard_notes
from foveate.core.compact.values import Value, extract_values, named_value

HEADING = "[Ledger: {left} left this list. Data only, by origin.]"
BARE = "[Ledger: {left} left this list.]"
"""All of a ledger that has no room for a line, so that at least the places go on."""
END = "[End of ledger]"
MOST_RANGES = 12
"""Ranges of places that the heading names; of the others, how many places, and the last."""
MOST_PLACES = 10**8
_BEGIN = re.compile(
    r"\[Ledger: (?:no message|messages? (?P<left>[^.\n]+)) left this list\."
    r"(?:\]|(?P<lined> Data only, by origin\.\]\n))"
)
_RANGE = r"\d{1,9}(?:-\d{1,9})?"
_RANGES = re.compile(
    rf"(?P<named>{_RANGE}(?:, {_RANGE})*)"
    r"(?: and (?P<others>\d{1,9}) more up to (?P<end>\d{1,9}))?"
)
_STRING = r'"(?:[^"\\]|\\.)*+"'
_QUOTED = rf"\u201c(?:{_STRING}|[^\u201d]*)\u201d"
_NAME = r"[\w.-]++"
_WORD = r'[^\s",\u201c\u201d](?:[^\s"\u201c\u201d]*[^\s",\u201c\u201d])?'
_LINE = re.compile(
    rf"- \#(?P<place>\d{{1,9}})(?:-\#(?P<last>\d{{1,9}}))?[ ](?P<name>{_NAME}|{_STRING})"
    rf"(?:[ ]\(expand[ ](?P<handle>{HANDLE})(?::[ ](?P<asked>{_QUOTED}))?\))?"
    r"(?::[ ](?P<said>.+))?"
)
_QUOTE = re.compile(rf"{_QUOTED}(?: |\Z)")
_VALUE = re.compile(rf"(?:(?P<key>{_WORD}|{_STRING}) )?(?P<text>{_WORD}|{_STRING})(?:, |\Z)")
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}
"""Bare names of people and of the model; a tool of such a name is in quotation marks."""
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


def spell_left(left: Sequence[Range], most: int = MOST_RANGES) -> str:
    """The messages that left, counted from 1, by so many ranges at the most.

    >>> spell_left([(0, 2), (5, 5)])
    'messages 1-3, 6'
    """
    named, others = left[:most], left[most:]
    spelled = [f"{a + 1}-{b + 1}" if b > a else f"{a + 1}" for a, b in named]
    if not spelled:
        return "no message"
    more = ""
    if others:
        more = f" and {sum(b - a + 1 for a, b in others)} more up to {others[-1][1] + 1}"
    plural = "s" if len(spelled) > 1 or "-" in spelled[0] else ""
    return f"message{plural} {', '.join(spelled)}{more}"


@dataclass(slots=True)
class Origin:
    """One text that left, and what of it the ledger could say.

    `place`: its entry, from 0; `last`: that of the last of several that an earlier ledger joined.
    `name`: who spoke, or the tool. `shown`: what of it is still shown. `handle`: of a long result.
    `size`: characters of the original. `asked`: what its call asked for, in brief.
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
    asked: str = ""

    @property
    def label(self) -> str:
        """Its place, and who spoke."""
        return label_places([self])

    @property
    def spoken_by(self) -> str:
        """Who spoke; in quotation marks where a tool has a name of another kind."""
        name = one_line(self.name)[:LONGEST_NAME]
        if self.kind == _SPEAKERS.get(name) or (
            self.kind == "tool" and name not in _SPEAKERS and re.fullmatch(_NAME, name)
        ):
            return name
        return _spell_string(name)


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
        return [spell_quote(quote) for quote in self.quotes]

    def quoted_values(self) -> set[str]:
        """The values in what is quoted."""
        return {value.text for quote in self.quotes for value in extract_values(quote)}

    def named(self) -> set[str]:
        """Every value that it says."""
        return self.quoted_values() | self.values.keys()

    def spelled(self) -> list[str]:
        """Its values in the order of the text, but for those in what is quoted of speech."""
        quoted = self.quoted_values() if self.origin.kind != "tool" else set()
        said = self.values.keys() - quoted
        known = {value.text: value for value in self.origin.values}
        return [spell_value(known[text]) for text in known if text in said]


def label_places(origins: Sequence[Origin]) -> str:
    """From where to where the origins of one speaker stood, and who that was."""
    first = min(origin.place for origin in origins)
    last = max(max(origin.place, origin.last) for origin in origins)
    places = f"#{first + 1}-#{last + 1}" if last > first else f"#{first + 1}"
    return f"{places} {origins[0].spoken_by}"


def write_line(lines: Sequence[Line]) -> str:
    """One line of one origin, or of several with the same name, whose values it joins."""
    first = lines[0]
    label = label_places([line.origin for line in lines])
    if first.handle:
        label = f"{label} (expand {spell_handle(first.origin)})"
    values = ", ".join(text for line in lines for text in line.spelled())
    said = " ".join(filter(None, [*(quote for line in lines for quote in line.quoted()), values]))
    return f"- {label}: {said}" if said else f"- {label}"


def spell_handle(origin: Origin) -> str:
    """The handle of an origin, and what its call asked for."""
    return f"{origin.handle}: {spell_quote(origin.asked)}" if origin.asked else origin.handle


def spell_quote(text: str) -> str:
    """A text between curly quotation marks; as a JSON string where it has such marks itself."""
    line = one_line(text)
    plain = "\u201d" not in line and not line.startswith('"')
    return f"\u201c{guard_notes(line) if plain else _spell_string(line)}\u201d"


def spell_value(value: Value) -> str:
    """A value; a short number with its key, without which it says nothing."""
    text = _spell_word(value.text)
    return f"{_spell_word(one_line(value.key)[:24])} {text}" if _needs_key(value) else text


def _spell_word(text: str) -> str:
    """A text without white space, commas at its end and quotation marks; else a JSON string."""
    line = one_line(text)
    return guard_notes(line) if re.fullmatch(_WORD, line) else _spell_string(line)


def _spell_string(text: str) -> str:
    return json.dumps(guard_notes(text), ensure_ascii=False)


def _read_string(spelled: str) -> str:
    """What was spelled as a JSON string, or as it is."""
    try:
        text = json.loads(spelled) if spelled.startswith('"') else spelled
    except ValueError:
        text = spelled
    return unguard_notes(text)


def _read_quote(spelled: str) -> str:
    return _read_string(spelled[1:-1])


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
    r"""What the ledger says that a text is; None: it is none.

    >>> text = f"{HEADING.format(left='messages 2-4')}\n- #2 look_up: P-17, bar 3\n{END}"
    >>> [value.text for value in read_ledger(text).origins[0].values]
    ['P-17', '3']
    """
    begin = _BEGIN.match(text)
    if begin is None:
        return None
    lines = text[begin.end() :]
    if begin["lined"]:
        if not lines.endswith(f"\n{END}") and lines != END:
            return None
        lines = lines.removesuffix(END)
    elif lines:
        return None
    left = _read_left(begin["left"] or "")
    origins = [_read_line(line) for line in lines.split("\n")[:-1]]
    if left is None or not all(origins):
        return None
    return EarlierLedger(tuple(left), tuple(origin for origin in origins if origin))


def _read_left(spelled: str) -> list[Range] | None:
    """The places that left; None where no ledger says so."""
    if not spelled:
        return []
    known = _RANGES.fullmatch(spelled)
    if known is None:
        return None
    ends = [[int(place) - 1 for place in one.split("-")] for one in known["named"].split(", ")]
    left = [(one[0], one[-1]) for one in ends]
    if known["others"]:  # which they were is not said; so many, the last of them at the end
        end = int(known["end"])
        left.append((end - int(known["others"]), end - 1))
    flat = [place for one in left for place in one]
    is_ordered = flat == sorted(flat) and join_ranges(left) == left
    in_bounds = flat[0] >= 0 and flat[-1] < MOST_PLACES and len(left) <= MOST_RANGES + 1
    return left if is_ordered and in_bounds else None


def _read_line(spelled: str) -> Origin | None:
    line = _LINE.fullmatch(spelled)
    if line is None:
        return None
    quotes, at, said = list[str](), 0, line["said"] or ""
    while quote := _QUOTE.match(said, at):
        quotes.append(_read_quote(quote[0].rstrip()))
        at = quote.end()
    listed: list[Value] = []
    while at < len(said):
        item = _VALUE.match(said, at)
        if item is None:
            return None
        listed.append(named_value(_read_string(item["text"]), _read_string(item["key"] or "")))
        at = item.end()
    name, text, asked = (
        line["name"],
        "\n".join(quotes),
        _read_quote(line["asked"] or "\u201c\u201d"),
    )
    known = (*extract_values(text), *listed)
    return Origin(
        place=int(line["place"]) - 1,
        last=int(line["last"] or 0) - 1,
        name=_read_string(name),
        text=text,
        values=tuple({value.text: value for value in known}.values()),
        kind=_SPEAKERS.get(name, "tool"),
        handle=line["handle"] or "",
        size=WORTH_HANDLE if line["handle"] else 0,
        asked=asked,
    )
