"""How each tool result of a list is shown at a repacking: in full, shortened, or as a pointer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from foveate.core.compact.entries import Entry, Result, ToolCall
from foveate.core.compact.measured import MeasuredList
from foveate.core.compact.repacking import (
    LEAST_RESULT,
    NEAR_SHARE,
    FormChoice,
    ResultFacts,
    ResultForm,
    choose_form,
    replaces,
    short_ledger,
    standing_tokens,
)
from foveate.core.compact.shorten import result_handle, shorten_result

FITTED_SHARE = 0.75
"""The part of the room left that a newest result may fill where it does not fit as it is."""

Key = tuple[int, int]
"""A result by the place of its entry and its slot."""


class ShownResult(NamedTuple):
    """A result whose text is not shown as it came: why, the text instead, and its tokens."""

    form: ResultForm
    text: str
    tokens: int


@dataclass(slots=True, kw_only=True)
class ResultsView:
    """The results of a list as they are shown behind the repackings at `points`.

    `target`: tokens that a repacking fills.
    """

    measured: MeasuredList
    room: int
    points: Sequence[int]
    target: int
    query: str = ""
    facts: dict[Key, ResultFacts] = field(init=False)
    clues: dict[Key, str] = field(init=False)
    shown: dict[Key, ShownResult | None] = field(default_factory=dict)
    fitted: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.facts, self.clues = {}, {}
        calls: dict[Key, ToolCall] = {}
        self.fitted = self._fitted_groups()
        asked = ""
        for n, group in enumerate(self.measured.groups):
            made: dict[str, ToolCall] = {}
            for entry in group.entries:
                asked = (self.measured.is_asked(entry) and self.measured.text_of(entry)) or asked
                for call in entry.calls:
                    made.setdefault(call.id, call)
                for result in entry.results:
                    key = (entry.index, result.slot)
                    asking = made.get(result.call_id)
                    if asking is not None:
                        calls[key] = asking
                    arguments = asking.arguments if asking else ""
                    self.clues[key] = f"{self.query or asked}\n{arguments}"
                    tokens = self.measured.text_tokens(result)
                    self.facts[key] = ResultFacts(
                        group=n, tokens=tokens, fitted=n in self.fitted, twice=result.twice
                    )
        self._find_repeats(calls)

    def _fitted_groups(self) -> dict[int, int]:
        """Groups that did not fit in full when they came, with the limit of each large result.

        The next repacking fills a part of the room only; in it they would leave whole.
        """
        found, sizes = {}, self.measured.sizes
        last = max(self.points, default=-1)
        room = self.room - short_ledger(self.room)
        standing = standing_tokens(sizes, self.room)
        for n in self.points:
            if not sizes[n].must and standing[n] + sizes[n].tokens > room:
                later = self.target // NEAR_SHARE if self.target < self.room else self.room
                most = self.room if n == last else later
                found[n] = self._fitted_limit(n, most - standing[n])
        return found

    def _find_repeats(self, calls: dict[Key, ToolCall]) -> None:
        """For each result, the next with the same text and the next of the same call."""
        texts: dict[str, int] = {}
        made: dict[tuple[str, str], tuple[int, str]] = {}
        for entry, result in reversed(list(self._results())):
            key = (entry.index, result.slot)
            fact, call = self.facts[key], calls.get(key)
            if self.measured.groups[fact.group].orphan:
                continue  # it leaves, so that no other one may point at it
            same = (call.name, call.arguments) if call else ("", result.call_id)
            again, (newer, newest) = texts.get(result.text, -1), made.get(same, (-1, ""))
            newer = newer if fact.tokens > LEAST_RESULT and replaces(newest, result.text) else -1
            # what is carried may stay where the later one leaves
            if (again > fact.group or newer > fact.group) and not self._is_carried(fact.group):
                self.facts[key] = replace(
                    fact,
                    again=again if again > fact.group else -1,
                    newer=newer if newer > fact.group else -1,
                )
            texts[result.text], made[same] = fact.group, (fact.group, result.text)

    def _is_carried(self, n: int) -> bool:
        return any(entry.carried for entry in self.measured.groups[n].entries)

    def _results(self) -> Iterator[tuple[Entry, Result]]:
        for entry in self.measured.entries:
            for result in entry.results:
                yield entry, result

    def show(self, entry: Entry, result: Result) -> ShownResult | None:
        """How the result is shown; None: as it came."""
        key = (entry.index, result.slot)
        if key not in self.shown:
            self.shown.update(self._show_entry(entry))
        return self.shown[key]

    def _show_entry(self, entry: Entry) -> Iterator[tuple[Key, ShownResult | None]]:
        """The results of one message; what would change it a second time stays as it came."""
        choices = []
        for result in entry.results:
            fact = self.facts[entry.index, result.slot]
            choices.append(choose_form(fact, self.points, self.room))
        first = min((c.since for c in choices if c.form != "full"), default=-1)
        for result, choice in zip(entry.results, choices, strict=True):
            key = (entry.index, result.slot)
            stays = choice.form == "full" or choice.since > first
            must = self.measured.sizes[self.facts[key].group].must
            yield key, None if stays or must else self._show(key, result, choice)

    def _show(self, key: Key, result: Result, choice: FormChoice) -> ShownResult | None:
        fact, most = self.facts[key], choice.limit
        if choice.form in ("repeated", "superseded"):
            text = pointer_text(choice.form, result)
        else:
            if choice.form == "fitted":
                most = self.fitted[fact.group]
            if fact.tokens <= most and not fact.twice:
                return None
            text, _, _ = shorten_result(result.text, self.clues[key], most, self.measured.count)
        tokens = self.measured.count(text)
        return ShownResult(choice.form, text, tokens) if tokens < fact.tokens else None

    def _fitted_limit(self, n: int, most: int) -> int:
        """Tokens for each large result of a group that has to do with `most` tokens."""
        group = self.measured.groups[n]
        most -= sum(map(self.measured.lead_tokens, group.entries))
        results = [result for entry in group.entries for result in entry.results]
        most -= sum(result.extra for result in results)
        sizes = sorted(map(self.measured.text_tokens, results))
        left = int(most * FITTED_SHARE)
        for place, tokens in enumerate(sizes):
            share = left // (len(sizes) - place)
            if tokens > share:
                return max(share, 0)
            left -= tokens
        return left

    def group_tokens(self, n: int) -> int:
        """Tokens of a group as it is shown."""
        return sum(map(self.entry_tokens, self.measured.groups[n].entries))

    def entry_tokens(self, entry: Entry) -> int:
        """Tokens of an entry as it is shown."""
        return self.measured.entry_tokens(entry, self.texts(entry))

    def texts(self, entry: Entry) -> dict[int, str]:
        """The texts in the place of its results that are not shown as they came, by slot."""
        return {r.slot: s.text for r in entry.results if (s := self.show(entry, r)) is not None}


def pointer_text(form: ResultForm, result: Result) -> str:
    """What stands in the place of a result that came again."""
    handle = result_handle(result.text)
    if form == "repeated":
        return f"[same as a later result; expand {handle}]"
    return f"[shortened: a later result of the same call is newer; expand {handle}]"
