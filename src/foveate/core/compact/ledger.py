"""The ledger: one message in front that says what left, filled up to its room.

What people said comes first, then decisions of the model, lines that tell most, handles and the
values that the next call most likely needs, and excerpts. `ledger_text.py` spells it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from operator import itemgetter
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
    spell_handle,
    spell_left,
    spell_value,
    write_line,
)
from foveate.core.compact.quotes import Quotes
from foveate.core.compact.values import Value, ValueKind, value_form

KIND_WEIGHT: dict[ValueKind, float] = {
    "identifier": 5.0,
    "date": 4.0,
    "address": 3.0,
    "number": 2.0,
    "time": 0.8,
    "small": 0.5,
}
"""How likely a value of a kind is needed again; the order matters, the figures hardly do."""
AMOUNT_WEIGHT = 4.5
AGAIN_WEIGHT = 0.6  # for each of up to three texts more that have the value
SAID_WEIGHT = 3.0
USED_WEIGHT = 1.5
RECENT_WEIGHT = 1.0
RANGE_TOKENS = 3
"""More than the end of a range of places takes."""
PACES = {
    "decisions": 24.0,
    "lines": 3.0,
    "handles": 0.7,
    "values": 12.0,
    "answers": 2.0,
    "people": 1.0,
}
"""How fast each kind of item is named beside the others, in characters."""
VALUE_CHARS, LINE_CHARS = 4, 24
"""Characters that a value takes beside its text, and a quote or a handle beside its own."""
PEOPLE_LINES = 8
"""Messages of people; where more of them left, what they said shares a line."""
MANY, NAMED = 24, 3
"""More values of one result with one key, or that differ in their numbers alone, are a repeated
kind, such as the times of a log; so many of it are named."""
_CENTS = re.compile(r"-?\d[\d.,]*[.,]\d\d")


class Item(NamedTuple):
    """What a ledger may say of the origin at `n`: a value, else a quote, else its handle."""

    n: int
    text: str = ""
    value: Value | None = None
    filler: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The finished text and its tokens; the values it names, and how many of them left.

    `needed`: tokens without excerpts and repeated kinds, which only fill the room.
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
    added: list[Item] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    used: int = 0
    needed: int = 0
    names: dict[str, int] = field(default_factory=dict)
    joins_people: bool = field(init=False)

    def __post_init__(self) -> None:
        self.used = self.needed = self.count(self._spell([])) + 4
        self.joins_people = sum(one.kind == "user" for one in self.origins) > PEOPLE_LINES

    def _is_alone(self, line: Line) -> bool:
        return line.alone and not (self.joins_people and line.origin.kind == "user")

    def text(self) -> str:
        """The whole message; without a line, as much of the places as there is room for."""
        rows: dict[tuple[str, int], list[Line]] = {}
        for n, line in sorted(self.lines.items()):
            if line.values or line.alone:
                key = line.origin.spoken_by, n if self._is_alone(line) else -1
                rows.setdefault(key, []).append(line)
        if rows:
            return self._spell([write_line(row) for row in rows.values()])
        if not self.left:
            return ""
        bare = (BARE.format(left=spell_left(self.left, most)) for most in (MOST_RANGES, 1))
        return next((text for text in bare if self.count(text) <= self.room), "")

    def _spell(self, lines: Sequence[str]) -> str:
        return "\n".join([HEADING.format(left=spell_left(self.left)), *lines, END])

    def fill(self, items: Iterable[Item], room: int) -> bool:
        """Add the items in this order up to the first that has no room; whether all had."""
        for item in items:
            if item.text and item.value is None and item.text in self.known:
                continue
            cost = self._cost(item)
            if self.used + cost > room:
                return False
            self._add(item)
            self.used += cost
            self.needed += 0 if item.filler else cost
        return True

    def _add(self, item: Item) -> None:
        line = self.lines.setdefault(item.n, Line(self.origins[item.n]))
        name = line.origin.spoken_by
        self.names[name] = self.names.get(name, 0) + 1
        if item.value:
            line.values[item.text] = item.value
        elif item.text:
            line.quotes.append(item.text)
            self.known.add(item.text)
        else:
            line.handle = True
        self.added.append(item)

    def _cost(self, item: Item) -> int:
        origin, line = self.origins[item.n], self.lines.get(item.n)
        if item.value:
            cost, bare = self.count(f", {spell_value(item.value)}"), True
        elif item.text:
            cost, bare = self.count(f" \u201c{one_line(item.text)}\u201d"), False
        else:
            cost, bare = self.count(f" (expand {spell_handle(origin)})"), False
        if self.joins_people and origin.kind == "user":
            bare = True
        if line is not None and (bare or line.alone):
            return cost
        if bare and (known := self.names.get(origin.spoken_by, 0)):
            return cost + (RANGE_TOKENS if known == 1 else 0)
        return cost + self.count(f"\n- {origin.label}:")

    def finish(self, values: frozenset[str]) -> Ledger:
        """The ledger, what was added last taken away until the text itself fits."""
        text = self.text()
        while self.added and self.count(text) > self.room:
            item = self.added.pop()
            line = self.lines[item.n]
            if item.value:
                del line.values[item.text]
            elif item.text:
                line.quotes.remove(item.text)
            else:
                line.handle = False
            text = self.text()
        return Ledger(
            text=text,
            tokens=self.count(text),
            named=values & {text for line in self.lines.values() for text in line.named()},
            values=len(values),
            needed=self.needed if self.added else self.count(text),
            added=len(self.added),
        )


class RankedValues(NamedTuple):
    """What left, each value with the origin to name it under, the most needed first.

    `repeated`: of each repeated kind all but the first. Times and short numbers among them are
    counted; the others, which a later call may use, are named where there is room.
    """

    first: Sequence[tuple[int, Value]]
    repeated: Sequence[tuple[int, Value]]


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
        points = KIND_WEIGHT[home[text][1].kind]
        points = max(points, AMOUNT_WEIGHT * bool(_CENTS.fullmatch(text)))
        points += AGAIN_WEIGHT * min(times[text] - 1, 3)
        points += SAID_WEIGHT * (text in said) + USED_WEIGHT * (text in used)
        return points + RECENT_WEIGHT * min(last[text] / max(end, 1), 1.0)

    ranked = sorted(home, key=lambda text: (-worth(text), home[text][0], text))
    listed = {
        text: _form(home[text][1])
        for text in ranked
        if text not in said
        and text not in used
        and text not in spoken
        and origins[home[text][0]].last <= origins[home[text][0]].place
    }
    lists = _split_repeated(ranked, listed, _repeated_forms(origins))
    return RankedValues(*([home[text] for text in texts] for texts in lists))


def _repeated_forms(origins: Sequence[Origin]) -> set[str]:
    """The forms of which one result has more than `MANY` values."""
    sizes = (Counter(map(_form, one.values)) for one in origins if one.kind == "tool")
    return {form for forms in sizes for form, size in forms.items() if size > MANY}


def _form(value: Value) -> str:
    """What values of a kind have in common: the key, or all but their numbers."""
    return f"{value.key} 0" if value.key else value_form(value.text)


def _split_repeated(
    ranked: Sequence[str], listed: Mapping[str, str], repeated: Collection[str]
) -> tuple[list[str], list[str]]:
    """The lists of `RankedValues`.

    `listed`: the form of each value that tool results alone name, because messages of people and
    models are no logs. Of those that are `repeated`, the best `NAMED` are first.
    """
    first, others = list[str](), list[str]()
    seen: Counter[str] = Counter()
    for text in ranked:
        form = listed.get(text, "")
        seen[form] += 1
        (others if form in repeated and seen[form] > NAMED else first).append(text)
    return first, others


def write_ledger(
    origins: Sequence[Origin],
    ranked: RankedValues,
    *,
    quotes: Quotes,
    people_room: int,
    left: Sequence[Range],
    room: int,
    count: Callable[[str], int],
) -> Ledger:
    """The ledger in at most `room` tokens; `left`: the places of the messages that left.

    What people said comes first, in `people_room`. Beside each other come decisions of the model,
    telling lines, handles, the values that `rank_values` puts first, and what else was said; behind
    them excerpts and repeated kinds. Each part is a beginning of its list, so that
    what a smaller room has, a larger one has too.
    """
    builder = LedgerBuilder(origins=origins, left=left, room=room, count=count)
    people, rest = [Item(*piece) for piece in quotes.people], max(0, room - people_room)
    if builder.fill(people, people_room):
        rest = room - builder.used
    parts = {
        "people": people,
        "decisions": [Item(*piece) for piece in quotes.decisions],
        "lines": [Item(*piece) for piece in quotes.lines],
        "handles": [Item(n) for n in _handles(origins)],
        "values": [Item(n, value.text, value) for n, value in ranked.first],
        "answers": [Item(*piece) for piece in quotes.answers],
    }
    paced = [_paced(origins, items, PACES[kind]) for kind, items in parts.items()]
    more = (Item(n, text, filler=True) for n, text in quotes.excerpts)
    merged = (item for _, item in merge(*paced, key=itemgetter(0)))
    listed = [
        Item(n, value.text, value, filler=True)
        for n, value in ranked.repeated
        if value.kind not in ("time", "small")
    ]
    builder.fill(chain(merged, more, listed), builder.used + rest)
    return builder.finish(frozenset(value.text for _, value in chain(*ranked)))


def _handles(origins: Sequence[Origin]) -> list[int]:
    """Long results that are not shown, each once, the longest first."""
    newest = {
        origin.handle: n
        for n, origin in enumerate(origins)
        if origin.handle and not origin.shown and origin.size >= WORTH_HANDLE
    }
    return sorted(newest.values(), key=lambda n: (-origins[n].size, -n))


def _paced(
    origins: Sequence[Origin], items: Iterable[Item], pace: float
) -> Iterator[tuple[float, Item]]:
    """The items with when each is done, where so many characters are said at a time."""
    done = 0.0
    for item in items:
        done += _size(origins, item) / pace
        yield done, item


def _size(origins: Sequence[Origin], item: Item) -> int:
    text = item.text or spell_handle(origins[item.n])
    return len(text) + (VALUE_CHARS if item.value else LINE_CHARS)
