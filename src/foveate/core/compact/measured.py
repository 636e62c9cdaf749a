"""A message list with its token counts: what every entry, group and result takes as it came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from foveate.core.compact.entries import Entry, Group, Result, group_entries
from foveate.core.compact.plan import GroupSize


@dataclass(slots=True, kw_only=True)
class MeasuredList:
    """The entries and groups of a list, counted.

    `count`: tokens of one text. `frame`: tokens of the provider's own around each message; where
    it is 0, names and ids are not counted either. `pinned`: places of messages that stay.
    """

    entries: Sequence[Entry]
    count: Callable[[str], int]
    pinned: frozenset[int] = frozenset()
    frame: int = 0
    groups: list[Group] = field(init=False)
    tokens: dict[int, int] = field(init=False)
    sizes: list[GroupSize] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = self.find_groups()
        self.tokens = {
            entry.index: self.lead_tokens(entry) + sum(map(self.result_tokens, entry.results))
            for entry in self.entries
        }
        self.sizes = [
            GroupSize(
                tokens=sum(self.tokens[entry.index] for entry in group.entries),
                must=not group.orphan
                and any(e.role == "system" or e.index in self.pinned for e in group.entries),
            )
            for group in self.groups
        ]

    @property
    def total(self) -> int:
        """Tokens of the whole list as it came."""
        return sum(self.tokens.values())

    def find_groups(self) -> list[Group]:
        """The entries that stay or leave together."""
        return group_entries(self.entries)

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
        return self.count(result.text) + result.extra

    def entry_tokens(self, entry: Entry, texts: Mapping[int, str]) -> int:
        """Tokens of an entry with these texts in the place of results, by slot."""
        total = self.tokens[entry.index]
        for result in entry.results:
            if result.slot in texts:
                total += self.count(texts[result.slot]) - self.result_tokens(result)
        return total
