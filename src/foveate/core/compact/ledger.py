"""The ledger: one message in front that says what left, filled up to its room.

Questions and handles come first, then lines that say an error, the values that the next call most
likely needs, what the model and people said, and excerpts. `ledger_text.py` spells it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from foveate.core.compact.ledger_text import (
    BARE,
    END,
    HEADING,
    MOST_RANGES,
    WORTH_HANDLE,
    Line,
    Origin,
    Range,
    one_line,
    spell_left,
    spell_quote,
    spell_value,
    write_line,
)
from foveate.core.compact.telling_lines import value_form
from foveate.core.compact.values import Value, ValueKind

KIND_WEIGHT: dict[ValueKind, float] = {
    "identifier": 5.0,
    "date": 4.0,
    "address": 3.0,
    "number": 2.0,
    "time": 0.8,
    "small": 0.5,
}
"""How likely a value of a kind is needed again; the order matters, the figures hardly do."""
AGAIN_WEIGHT = 0.6  # for each of up to three texts more that have the value
SAID_WEIGHT = 3.0
USED_WEIGHT = 1.5
RECENT_WEIGHT = 1.0
HANDLE_TOKENS = 22
"""More than a handle takes, with its words and a line of its own."""
RANGE_TOKENS = 3
"""More than the end of a range of places takes."""
QUESTION_SHARE, HANDLE_SHARE, RULE_SHARE, LINE_SHARE, ANSWER_SHARE = 3, 5, 8, 3, 3
"""Questions, handles, rules of people, and lines of long results that the question names or that
say an error may each take this part of the room before the values; short sentences of the model
this part behind what people said."""
MOST_REFUSED = 24
"""Values in a row without room for them, after which no other is tried."""
MANY = 24
"""Values that only one text names; of such, so many come before what was said. The same holds for a
series: values that only results name and that differ in their numbers alone."""
SERIAL = 3
"""Of more than `MANY` such values that nothing else names, so many are named first."""
LONGEST_SAID = 240
"""Characters of a sentence of a person; a longer one is an excerpt like others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The finished text and its tokens; the values it names, and how many of them left.

    `needed`: tokens without what only fills the room: the many values of one text, and excerpts.
    `added`: pieces in it.
    """

    text: str = ""
    tokens: int = 0
    named: frozenset[str] = frozenset()
    values: int = 0
    needed: int = 0
    added: int = 0


@dataclass(slots=True, kw_only=True)
class LedgerBuilder:
    """A ledger while it is filled up to `room` tokens; `count` counts a text."""

    origins: Sequence[Origin]
    left: Sequence[Range]
    room: int
    count: Callable[[str], int]
    lines: dict[int, Line] = field(default_factory=dict)
    added: list[tuple[int, str, bool]] = field(default_factory=list)
    quoted: set[str] = field(default_factory=set)
    used: int = 0
    names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.used = self.count(self._spell([])) + 4

    def text(self) -> str:
        """The whole message; without a line, as much of the places as there is room for."""
        rows: dict[tuple[str, int], list[Line]] = {}
        for n, line in sorted(self.lines.items()):
            if line.values or line.alone:
                rows.setdefault((line.origin.name, n if line.alone else -1), []).append(line)
        if rows:
            return self._spell([write_line(row) for row in rows.values()])
        if not self.left:
            return ""
        bare = (BARE.format(left=spell_left(self.left, most)) for most in (MOST_RANGES, 1))
        return next((text for text in bare if self.count(text) <= self.room), "")

    def _spell(self, lines: Sequence[str]) -> str:
        return "\n".join([HEADING.format(left=spell_left(self.left)), *lines, END])

    def add(self, n: int, text: str, value: Value | None = None) -> bool:
        """Name a value of origin n, or quote a text of it, if there is room."""
        said = f", {spell_value(value)}" if value else f" \u201c{one_line(text)}\u201d"
        cost = self.count(said) + self._label_cost(n, quoted=value is None)
        if self.used + cost > self.room:
            return False
        line = self.lines.setdefault(n, Line(self.origins[n]))
        self.names[line.origin.name] = self.names.get(line.origin.name, 0) + 1
        if value:
            line.values[text] = value
        else:
            line.quotes.append(text)
            self.quoted.add(text)
        self.added.append((n, text, value is not None))
        self.used += cost
        return True

    def _label_cost(self, n: int, *, quoted: bool) -> int:
        line = self.lines.get(n)
        if line is not None and (line.quotes or not quoted):
            return 0
        if not quoted and (known := self.names.get(self.origins[n].name, 0)):
            return RANGE_TOKENS if known == 1 else 0
        return self.count(f"\n- {self.origins[n].label}:")

    def add_values(self, values: Iterable[tuple[int, Value]]) -> None:
        """Name values of origins in this order, while there is room."""
        refused = 0
        for n, value in values:
            refused = 0 if self.add(n, value.text, value) else refused + 1
            if refused > MOST_REFUSED:
                break

    def add_quotes(self, pieces: Iterable[tuple[int, str]]) -> None:
        """Quote pieces of origins, each text once, while there is room."""
        refused = 0
        for n, text in pieces:
            if text not in self.quoted:
                refused = 0 if self.add(n, text) else refused + 1
            if refused > MOST_REFUSED:
                break

    def add_first_quotes(self, pieces: Iterable[tuple[int, str]], share: int) -> None:
        """Quote pieces in this order, in that part of the room, up to the first too long one."""
        most = self.used + (self.room - self.used) // share
        for n, text in pieces:
            if text in self.quoted:
                continue
            if self.used + self.count(text) > most:
                break
            self.add(n, text)

    def add_handles(self) -> None:
        """The handles of long results in their part of the room, each once; the longest first."""
        most = self.used + (self.room - self.used) // HANDLE_SHARE
        newest = {
            origin.handle: n
            for n, origin in enumerate(self.origins)
            if origin.handle and not origin.shown and origin.size >= WORTH_HANDLE
        }
        for n in sorted(newest.values(), key=lambda n: (-self.origins[n].size, -n)):
            origin = self.origins[n]
            cost = HANDLE_TOKENS + self.count(f"\n- {origin.label}")
            if self.used + cost > most:
                continue
            line = self.lines.setdefault(n, Line(origin))
            line.handle = True
            self.used += cost
            cost = self.count(f": {spell_quote(origin.asked)}")
            if origin.asked and self.used + cost <= most:
                line.asked = origin.asked
                self.used += cost

    def finish(self, values: frozenset[str], needed: int) -> Ledger:
        """The ledger, what was added last taken away until the text itself fits."""
        text = self.text()
        while self.added and self.count(text) > self.room:
            n, gone, is_value = self.added.pop()
            if is_value:
                del self.lines[n].values[gone]
            else:
                self.lines[n].quotes.remove(gone)
            text = self.text()
        if self.count(text) > self.room:
            self.lines.clear()
            text = self.text()
        return Ledger(
            text=text,
            tokens=self.count(text),
            named=values & {text for line in self.lines.values() for text in line.named()},
            values=len(values),
            needed=needed if self.lines else self.count(text),
            added=len(self.added) + sum(line.handle for line in self.lines.values()),
        )


class RankedValues(NamedTuple):
    """What left, each value with the origin to name it under, the most needed first.

    `numerous`: of each origin, the values that nothing else names, and those of a series that
    several results list, but for its `MANY` best.
    `serial`: of a result, more than `MANY` values that nothing else names and that differ in their
    numbers alone, but for the `SERIAL` best.
    """

    first: Sequence[tuple[int, Value]]
    numerous: Sequence[tuple[int, Value]]
    serial: Sequence[tuple[int, Value]]


def rank_values(
    origins: Sequence[Origin],
    visible: frozenset[str],
    said: frozenset[str],
    used: frozenset[str],
    end: int,
) -> RankedValues:
    """What left and is not `visible`, by how likely it is needed.

    `said`: values that people named. `used`: values in arguments of calls. `end`: places in all.
    """
    home: dict[str, tuple[int, Value]] = {}
    spoken: set[str] = set()
    times: dict[str, int] = {}
    last: dict[str, float] = {}
    for results in (True, False):
        for n in range(len(origins) - 1, -1, -1):
            origin = origins[n]
            if (origin.kind == "tool") is not results:
                continue
            # of a line that an earlier ledger joined, the values stand in the order of their places
            step = max(origin.last - origin.place, 0) / max(len(origin.values) - 1, 1)
            for at, value in enumerate(origin.values):
                text = value.text
                if text in visible:
                    continue
                place = origin.place + step * at
                if not results:
                    spoken.add(text)
                if text not in home:
                    home[text] = (n, value)
                    times[text], last[text] = 1, place
                else:
                    times[text] += 1
                    last[text] = max(last[text], place)

    def worth(text: str) -> float:
        points = KIND_WEIGHT[home[text][1].kind] + AGAIN_WEIGHT * min(times[text] - 1, 3)
        points += SAID_WEIGHT * (text in said) + USED_WEIGHT * (text in used)
        return points + RECENT_WEIGHT * min(last[text] / max(end, 1), 1.0)

    ranked = sorted(home, key=lambda text: (-worth(text), home[text][0], text))
    listed = {
        text: home[text][0]
        for text in ranked
        if text not in said
        and text not in used
        and origins[home[text][0]].last <= origins[home[text][0]].place
    }
    forms = {text: (n, value_form(text)) for text, n in listed.items() if text not in spoken}
    alone = {text: n for text, n in listed.items() if times[text] == 1}
    lists = _split_numerous(ranked, alone, forms)
    return RankedValues(*([home[text] for text in texts] for texts in lists))


def _split_numerous(
    ranked: Sequence[str], alone: Mapping[str, int], forms: Mapping[str, tuple[int, str]]
) -> tuple[list[str], ...]:
    """The lists of `RankedValues`.

    `alone`: the origin of each value that nothing else names; `forms`: the origin and the form of
    each value that tool results alone name, because messages of people and models are no logs.
    """
    sizes = Counter(forms.values())
    first: list[str] = []
    numerous: list[str] = []
    serial: list[str] = []
    of_form: Counter[tuple[int, str]] = Counter()
    of_origin: Counter[int] = Counter()
    for text in ranked:
        is_series = text in forms and sizes[forms[text]] > MANY
        if is_series and text in alone:
            of_form[forms[text]] += 1
            if of_form[forms[text]] > SERIAL:
                serial.append(text)
                continue
        if not is_series and text not in alone:
            first.append(text)
            continue
        n = forms[text][0] if is_series else alone[text]
        of_origin[n] += 1
        (numerous if of_origin[n] > MANY else first).append(text)
    return first, numerous, serial


def write_ledger(
    origins: Sequence[Origin],
    ranked: RankedValues,
    *,
    questions: Iterable[tuple[int, str]],
    rules: Iterable[tuple[int, str]],
    lines: Iterable[tuple[int, str]],
    said: Iterable[tuple[int, str]],
    answers: Iterable[tuple[int, str]],
    excerpts: Iterable[tuple[int, str]],
    left: Sequence[Range],
    room: int,
    count: Callable[[str], int],
) -> Ledger:
    """The ledger in at most `room` tokens; `left`: the places of the messages that left.

    Questions, handles, `rules` and `lines` come first, each in a part of the room. What
    `rank_values` puts first, what people `said`, `answers` of the model in a part of the room, the
    numerous, excerpts and serial values follow while they fit.
    """
    builder = LedgerBuilder(origins=origins, left=left, room=room, count=count)
    builder.add_first_quotes(questions, QUESTION_SHARE)
    builder.add_handles()
    builder.add_first_quotes(rules, RULE_SHARE)
    builder.add_first_quotes(lines, LINE_SHARE)
    builder.add_values(ranked.first)
    builder.add_quotes(said)
    builder.add_first_quotes(answers, ANSWER_SHARE)
    needed = builder.used
    builder.add_values(ranked.numerous)
    builder.add_quotes(excerpts)
    builder.add_values(ranked.serial)
    left_values = frozenset(value.text for _, value in chain(*ranked))
    return builder.finish(left_values, needed)
