"""A message list with its token counts: what every entry, group and result takes as it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from foveate.core.compact.entries import Entry, Group, Result, group_entries, is_bridge
from foveate.core.compact.ledger_text import EarlierLedger, Range, join_ranges, read_ledger
from foveate.core.compact.repacking import GroupSize


@dataclass(slots=True, kw_only=True)
class MeasuredList:
    """The entries and groups of a list, counted.

    `count`: tokens of one text. `frame`: tokens of the provider's own around each message; where
    it is 0, names and ids are not counted either. `pinned`: places of messages that stay.
    `earlier`: ledgers in the list, and `places`: where the entries stood, both by index.
    """

    entries: Sequence[Entry]
    count: Callable[[str], int]
    pinned: frozenset[int] = frozenset()
    frame: int = 0
    groups: list[Group] = field(init=False)
    tokens: dict[int, int] = field(init=False)
    known_sizes: list[GroupSize] = field(init=False, default_factory=list)
    earlier: dict[int, EarlierLedger] = field(init=False)
    places: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.earlier = dict(self._find_ledgers())
        self.places = self._find_places()
        self.groups = group_entries(self.entries)
        self.tokens = {
            entry.index: self.lead_tokens(entry) + sum(map(self.result_tokens, entry.results))
            for entry in self.entries
        }

    @property
    def sizes(self) -> list[GroupSize]:
        """Tokens of each group, counted where a list is packed."""
        if not self.known_sizes:
            self.known_sizes = [
                GroupSize(
                    tokens=sum(self.tokens[entry.index] for entry in group.entries),
                    must=not group.orphan
                    and any(e.role == "system" or e.index in self.pinned for e in group.entries),
                    said=sum(map(self.count, self.said_by_people(group))),
                    orphan=group.orphan,
                )
                for group in self.groups
            ]
        return self.known_sizes

    def _find_ledgers(self) -> Iterator[tuple[int, EarlierLedger]]:
        """The earlier ledgers, in front where they are put; elsewhere it is what a person says."""
        in_front = True
        for entry in self.entries:
            alone = in_front and entry.role == "user" and not entry.kinds
            known = read_ledger(entry.said) if alone else None
            if known is not None:
                yield entry.index, known
            in_front = in_front and (entry.role == "system" or known is not None)

    def is_asked(self, entry: Entry) -> bool:
        """Whether a person speaks in it."""
        return entry.role == "user" and self._is_message(entry)

    def text_of(self, entry: Entry) -> str:
        """What a person or the model says in it."""
        return entry.said if self._is_message(entry) else ""

    def said_by_people(self, group: Group) -> Iterator[str]:
        """What people say in it, beside the results of tools and in an earlier ledger too."""
        for entry in group.entries:
            if entry.index in self.earlier:
                yield from (o.text for o in self.earlier[entry.index].origins if o.kind == "user")
            if entry.role in ("user", "tool"):
                yield self.text_of(entry)

    def _is_message(self, entry: Entry) -> bool:
        """Whether it is one of the list that came first."""
        return entry.index not in self.earlier and not is_bridge(entry)

    def _find_places(self) -> dict[int, int]:
        """Where each entry stood in the list that came first: among those that did not leave."""
        left = join_ranges(chain.from_iterable(known.left for known in self.earlier.values()))
        found: dict[int, int] = {}
        shift, behind = 0, 0  # `behind`: of the ranges that left, those before the entry
        for entry in self.entries:
            while behind < len(left) and entry.index + shift >= left[behind][0]:
                shift += left[behind][1] - left[behind][0] + 1
                behind += 1
            found[entry.index] = entry.index + shift
            shift -= not self._is_message(entry)
        return found

    def places_left(self, entry: Entry) -> Sequence[Range]:
        """The places of the messages that leave with an entry: its own, and those of a ledger."""
        known, place = self.earlier.get(entry.index), self.places[entry.index]
        own = [(place, place)] if self._is_message(entry) else []
        return [*(known.left if known else ()), *own]

    @property
    def total(self) -> int:
        """Tokens of the whole list as it came."""
        return sum(self.tokens.values())

    def lead_tokens(self, entry: Entry) -> int:
        """Tokens of an entry without its results."""
        count = self.count
        total = self.frame + entry.extra + count(entry.said)
        total += sum(count(call.arguments) for call in entry.calls)
        total += sum(map(count, entry.others))
        if self.frame:
            total += sum(count(call.id) + count(call.name) for call in entry.calls)
            total += sum(count(result.call_id) for result in entry.results)
        return total

    def result_tokens(self, result: Result) -> int:
        """Tokens of a result as it came."""
        return self.text_tokens(result) + result.extra

    def text_tokens(self, result: Result) -> int:
        """Tokens of what another text of a result takes the place of."""
        return self.count(result.text) + self.count(result.beside)

    def entry_tokens(self, entry: Entry, texts: Mapping[int, str]) -> int:
        """Tokens of an entry with these texts in the place of results, by slot."""
        total = self.tokens[entry.index]
        for result in entry.results:
            if result.slot in texts:
                total += self.count(texts[result.slot]) - self.text_tokens(result)
        return total
