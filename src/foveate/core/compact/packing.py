"""A list packed at its last repacking: which groups stay, and the ledger of what does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foveate.core.checks import is_encodable
from foveate.core.compact.entries import (
    BRIDGE,
    Entry,
    EntryRole,
    Group,
    Result,
    Speaker,
    missing_turns,
)
from foveate.core.compact.ledger import Ledger, rank_values, write_ledger
from foveate.core.compact.ledger_text import WORTH_HANDLE, Origin, join_ranges, one_line
from foveate.core.compact.measured import MeasuredList
from foveate.core.compact.quotes import find_quotes
from foveate.core.compact.repacking import PEOPLE_SHARE, least_ledger, short_ledger
from foveate.core.compact.results import ResultsView
from foveate.core.compact.shorten import (
    body_of,
    is_shortened,
    result_handle,
)
from foveate.core.compact.values import Value, extract_values
from foveate.core.errors import BudgetTooSmall
from foveate.core.text.shapes.entries import needs_turn_before
from foveate.core.text.shapes.strings import plain_strings

LEDGER_SHARE = 0.6
"""The part of the free room that the ledger may take from messages, if it is small;"""
LEDGER_BASE, LEDGER_MORE = 512, 0.1
"""in a large one it takes so many tokens and this part of the room, for messages say more."""
SPOKEN_SHARE, LEAST_SPOKEN = 0.2, 96
"""The part of the room, and at the least so many tokens, that what people said may take in the
ledger where it is too much to be kept whole; up to half of the ledger."""
LONGEST_ASKED = 60
"""Characters of a call's arguments beside the handle of its result."""
_SECRET = re.compile(
    r"passw|passphrase|pwd|secret|credential|authorization|cookie"
    r"|(?:api|access|auth|private|session|refresh|bearer)[ _-]?(?:key|token)",
    re.IGNORECASE,
)
"""In the name of an argument: its value must not outlive its message. A plain `key` is a value that
the next call may need."""
PREFER_SHARE = 0.5
"""The part of the free room that messages which are carried, and the question, may take."""


@dataclass(slots=True, kw_only=True)
class Packing:
    """The groups up to the last repacking at `point`, in `target` of `room` tokens.

    Groups from `last` on always stay, but orphans, which never do. `visible`: values in what is
    shown.
    """

    measured: MeasuredList
    view: ResultsView
    room: int
    target: int
    point: int
    last: int
    fixed: frozenset[int] = frozenset()
    bridged: bool = False
    stays: set[int] = field(default_factory=set)
    visible: frozenset[str] = frozenset()
    ledger: Ledger = field(default_factory=Ledger)

    def pack(self) -> None:
        """Choose what stays and write the ledger; raises `BudgetTooSmall`."""
        fixed = self._fixed()
        free = max(self.target, min(self.room, fixed + self._people_left())) - fixed
        people = min(free, self._people_left())
        rest = free - people
        reserved = people + int(min(rest * LEDGER_SHARE, LEDGER_BASE + rest * LEDGER_MORE))
        reserved = max(reserved, min(free, short_ledger(self.room)))
        self._choose(free - reserved)
        self.ledger = self._write()
        if self.ledger.needed < reserved:  # the rest is better spent on messages
            self._choose(free - self.ledger.needed)
            self.ledger = self._write()

    def _fixed(self) -> int:
        """Tokens of what stays whatever else does; marks it as staying."""
        groups, sizes = self.measured.groups, self.measured.sizes
        self.fixed = frozenset(
            n
            for n, group in enumerate(groups)
            if not group.orphan and (sizes[n].must or n >= self.last)
        )
        fixed = sum(self.view.group_tokens(n) for n in self.fixed if n <= self.point)
        if fixed > self.room:
            raise BudgetTooSmall(self.room, fixed, what="the last step, beside what is pinned,")
        fixed += self._add_question(self.room - fixed)
        return fixed + self._add_referred(self.target - least_ledger(self.room) - fixed)

    def _add_question(self, free: int) -> int:
        """Let stay what a person said last, if it is words and not long; the tokens of it."""
        asked = (n for n in range(self.last, -1, -1) if self._is_asked(n))
        n, sizes = next(asked, self.last), self.measured.sizes
        is_short = sizes[n].tokens <= min(sizes[n].said, self.room // PEOPLE_SHARE, free)
        if n in self.fixed or not is_short:
            return 0
        self.fixed |= {n}
        return sizes[n].tokens

    def _is_asked(self, n: int) -> bool:
        group = self.measured.groups[n]
        return not group.orphan and any(map(self.measured.is_asked, group.entries))

    def _people_left(self) -> int:
        """Tokens of what people said that does not stay anyway, up to their part of the room."""
        sizes = self.measured.sizes[: self.point + 1]
        shown = sum(size.said for n, size in enumerate(sizes) if n in self.fixed)
        said = sum(size.said for size in sizes)
        return max(0, min(said, self.room // PEOPLE_SHARE) - shown)

    def _add_referred(self, free: int) -> int:
        """Let stay what the first of the last groups refers to; the tokens of it.

        A question about "they" is not understood without the turn before, nor that without the one
        before it. They may take half of the room, before the ledger does.
        """
        groups = self.measured.groups
        used, n = 0, self._first_of_last()
        while n > 0 and not groups[n - 1].orphan and self._needs_group_before(n):
            n -= 1
            used += self.view.group_tokens(n)
            if used > free * PREFER_SHARE:
                return used - self.view.group_tokens(n)
            self.fixed |= {n}
        return used

    def _needs_group_before(self, n: int) -> bool:
        words, before = (self._message_words(at) for at in (n, n - 1))
        return bool(words) and needs_turn_before(before, words)

    def _message_words(self, n: int) -> str:
        """What people and the model say in a group."""
        spoken = map(self.measured.text_of, self.measured.groups[n].entries)
        return " ".join(filter(None, spoken))

    def _first_of_last(self) -> int:
        """The first of the groups up to the point that stay without a hole."""
        first = self.last
        while first - 1 in self.fixed:
            first -= 1
        return first

    def _choose(self, free: int) -> None:
        """The preferred groups, then the newest before the point, without a hole."""
        self.stays = set(self.fixed)
        reserve = int(free * PREFER_SHARE)
        for n in self._preferred():
            cost = self.view.group_tokens(n)
            if cost <= reserve:
                self.stays.add(n)
                reserve -= cost
                free -= cost
        for n in range(self.point - 1, -1, -1):
            if n in self.stays or self.measured.groups[n].orphan:
                continue
            cost = self.view.group_tokens(n)
            if cost > free:
                break
            self.stays.add(n)
            free -= cost

    def _preferred(self) -> Iterator[int]:
        """The question that the last ones answer, then what is carried, the newest first."""
        groups = self.measured.groups
        whole = [n for n in range(self.point + 1) if not groups[n].orphan]
        asked = [n for n in range(self._first_of_last() + 1) if self._is_asked(n)]
        yield from (n for n in asked[-1:] if n not in self.stays)
        for n in reversed(whole):
            if n not in self.stays and any(entry.carried for entry in groups[n].entries):
                yield n

    def _ledger_room(self) -> int:
        """What the messages leave; as `repack_points` reckons, so that what follows fits."""
        fixed = sum(self.view.group_tokens(n) for n in self.fixed if n <= self.point)
        used = sum(self.view.group_tokens(n) for n in self.stays if n <= self.point)
        least = self._people_left() + least_ledger(self.room)
        room = max(self.target, min(self.room, fixed + least)) - used - self.measured.frame
        self.bridged = True
        tokens = len(self.bridges(ledger=True)) * self.bridge_tokens
        self.bridged = tokens <= room
        return room - tokens if self.bridged else room

    @property
    def bridge_tokens(self) -> int:
        """Tokens of what takes the turn of the other side."""
        return self.measured.count(BRIDGE) + self.measured.frame

    def bridges(self, *, ledger: bool) -> Mapping[int, EntryRole]:
        """By index, the entries before which the other side's turn is missing where it was not."""
        came = [e for group in self.measured.groups[: self.point + 1] for e in group.entries]
        if not self.bridged or missing_turns(came):
            return {}
        stays = [e for n in sorted(self.stays) for e in self.measured.groups[n].entries]
        return missing_turns(stays, "user" if ledger else "other")

    def _people_room(self, room: int) -> int:
        """Of a ledger's room, what people may take: all of it where all said so far is little."""
        said = sum(size.said for size in self.measured.sizes[: self.point + 1])
        if said <= self.room // PEOPLE_SHARE:
            return room
        return min(max(int(self.room * SPOKEN_SHARE), LEAST_SPOKEN), room // 2)

    def _write(self) -> Ledger:
        origins = list(self._origins())
        self.visible, said, used = self._known_values()
        last = self.measured.groups[self.point].entries[-1].index
        ranked = rank_values(origins, self.visible, said, used, self.measured.places[last] + 1)
        gone = [n for n in range(self.point + 1) if n not in self.stays]
        room = self._ledger_room()
        return write_ledger(
            origins,
            ranked,
            quotes=find_quotes(origins, self._last_question(), self.view.query),
            people_room=self._people_room(room),
            left=join_ranges(
                one
                for n in gone
                for entry in self.measured.groups[n].entries
                for one in self.measured.places_left(entry)
            ),
            room=room,
            count=self.measured.count,
        )

    def named_values(self, entry: Entry, result: Result | None) -> dict[str, int]:
        """How many values of a text that left are not in view, if any, and how many are named."""
        origins = [self._result_origin(entry, result)] if result else self._gone_origins(entry)
        values = {value.text for origin in origins for value in origin.values} - self.visible
        named = len(values & self.ledger.named)
        return {"values": len(values), "named": named} if values else {}

    def _known_values(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Values that are shown; of all messages up to the point, those said and those used."""
        visible: set[str] = set()
        said: set[str] = set()
        used: set[str] = set()
        for n, group in enumerate(self.measured.groups[: self.point + 1]):
            for entry in group.entries:
                for text in self._texts(entry) if n in self.stays else ():
                    visible.update(value.text for value in extract_values(text))
                for by_person, values in self._named(entry):
                    (said if by_person else used).update(value.text for value in values)
        return frozenset(visible), frozenset(said), frozenset(used)

    def _named(self, entry: Entry) -> Iterator[tuple[bool, Sequence[Value]]]:
        """The values of an entry that people named (true), and of its calls (false).

        Of what an earlier ledger names of the model, most is from calls.
        """
        if entry.index in self.measured.earlier:
            for origin in self.measured.earlier[entry.index].origins:
                if origin.kind != "tool":
                    yield origin.kind == "user", origin.values
        if _role(entry) == "user":
            yield True, extract_values(self.measured.text_of(entry))
        for call in entry.calls:
            yield False, extract_values(call.arguments)

    def _texts(self, entry: Entry) -> Iterator[str]:
        """What is read of an entry as it is shown."""
        yield entry.said
        yield from (call.arguments for call in entry.calls)
        for result in entry.results:
            shown = self.view.show(entry, result)
            yield result.text if shown is None else shown.text

    def _origins(self) -> Iterator[Origin]:
        """Every text up to the point that is not shown in full, in order."""
        for n in range(self.point + 1):
            for entry in self.measured.groups[n].entries:
                if n not in self.stays:
                    yield from self._gone_origins(entry)
                for result in entry.results:
                    shown = self.view.show(entry, result)
                    origin = self._result_origin(entry, result)
                    if n not in self.stays:
                        yield replace(origin, asked=asked_for(self.measured.groups[n], result))
                    elif shown is not None:
                        yield replace(origin, shown=shown.text)

    def _gone_origins(self, entry: Entry) -> Iterator[Origin]:
        said, arguments = self.measured.text_of(entry), " ".join(c.arguments for c in entry.calls)
        if entry.index in self.measured.earlier:
            yield from self.measured.earlier[entry.index].origins
        if said or arguments:
            values = extract_values(said)
            for call in entry.calls:
                values = (*values, *_argument_values(call.arguments))
            yield Origin(
                place=self.measured.places[entry.index],
                name=_role(entry),
                text=said,
                values=values,
                kind=_role(entry),
            )

    def _result_origin(self, entry: Entry, result: Result) -> Origin:
        text = plain_strings(body_of(result.text))
        return Origin(
            place=self.measured.places[entry.index],
            name=result.name or "tool",
            text=text,
            values=extract_values(text),
            kind="tool",
            handle=result_handle(result.text),
            size=max(len(text), WORTH_HANDLE * is_shortened(result.text)),
        )

    def _last_question(self) -> str:
        """What a person said last, up to the point."""
        entries = (e for group in self.measured.groups[: self.point + 1] for e in group.entries)
        said = [self.measured.text_of(entry) for entry in entries if self.measured.is_asked(entry)]
        return said[-1] if said else ""


def asked_for(group: Group, result: Result) -> str:
    """The texts among the arguments of the result's call, in brief; none if two calls have its id.

    A handle is of use if one knows of which file or command it is. Secrets are left out.
    """
    calls = [c for entry in group.entries for c in entry.calls if c.id == result.call_id]
    if len(calls) != 1:
        return ""
    given = _parse_arguments(calls[0].arguments)
    texts = given.values() if isinstance(given, dict) else ()
    words = one_line(", ".join(t for t in texts if isinstance(t, str) and is_encodable(t)))
    return words if len(words) <= LONGEST_ASKED else f"{words[: LONGEST_ASKED - 1]}\u2026"


def _parse_arguments(arguments: str) -> Any:
    """A call's arguments without what may be a secret; None if they are no JSON."""
    try:
        return _without_secrets(json.loads(arguments))
    except (ValueError, RecursionError):
        return None


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_secrets(v) for k, v in value.items() if not _SECRET.search(k)}
    return [_without_secrets(one) for one in value] if isinstance(value, list) else value


def _argument_values(arguments: str) -> Sequence[Value]:
    """The values of a call's arguments, but for secrets, which must not outlive their message."""
    if _SECRET.search(arguments) and (shown := _parse_arguments(arguments)) is not None:
        arguments = json.dumps(shown, ensure_ascii=arguments.isascii())
    return extract_values(arguments)


def _role(entry: Entry) -> Speaker:
    """Who said what an entry says: beside the results of tools, a person."""
    return "user" if entry.role in ("user", "tool") else "assistant"
