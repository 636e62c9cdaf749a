"""Turns of the entries of messages, and as the entries that `compact` packs, each its own group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from foveate.core.chat.citation_note import citing_places
from foveate.core.chat.turns import SYSTEM_ROLES, ToolResult, Turn, WireFormat
from foveate.core.compact.content import THINKING
from foveate.core.compact.entries import Entry, Group, Json, Result, Speaker, refuse
from foveate.core.compact.measured import MeasuredList
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, join_lines

TEXT = -1
"""The slot of a turn's own text, beside those of its results."""


@dataclass(slots=True, kw_only=True)
class MeasuredTurns(MeasuredList):
    """Turns, counted as their messages are sent, and behind them the question that is asked now.

    `cost`: tokens of the turn at a place as it is shown. `left`: turns that left before.
    """

    turns: Sequence[Turn]
    cost: Callable[[int, Turn], int]
    left: frozenset[int] = frozenset()

    def find_groups(self) -> list[Group]:
        """Each turn holds its results, so it is a group."""
        return [Group(entries=[entry], orphan=entry.index in self.left) for entry in self.entries]

    def lead_tokens(self, entry: Entry) -> int:
        """Tokens of a turn beside its texts; the question has a zone of its own."""
        if entry.index == len(self.turns):
            return 0
        results = sum(map(self.result_tokens, entry.results))
        return self.cost(entry.index, self.turns[entry.index]) - results

    def entry_tokens(self, entry: Entry, texts: Mapping[int, str]) -> int:
        """Tokens of the turn with these texts in the place of results, as it is sent."""
        if not texts:
            return self.tokens[entry.index]
        return self.cost(entry.index, turn_with_texts(self.turns[entry.index], texts))


def turn_with_texts(turn: Turn, texts: Mapping[int, str]) -> Turn:
    """The turn with these texts, by slot; what is said otherwise loses what else it holds."""
    if not texts:
        return turn
    results = [
        replace(result, text=texts[n], extra="") if n in texts else result
        for n, result in enumerate(turn.results)
    ]
    turn = replace(turn, results=tuple(results))
    return replace(turn, text=texts[TEXT], extra="") if TEXT in texts else turn


def entry_from_turn(place: int, turn: Turn) -> Entry:
    """A turn as an entry, its results in slots by their order, and its text as one more."""
    if turn.role in SYSTEM_ROLES:
        return Entry(index=place, role="system", said=turn.text)
    names = {call.id: call.name for call in turn.calls}
    speaker: Speaker = "user" if turn.role == "user" else "assistant"
    text = Result(
        call_id=f"text {place}",
        text=turn.text,
        name=speaker,
        slot=TEXT,
        speaker=speaker,
        cites=citing_places(turn),
    )
    results = [
        Result(call_id=r.call_id, text=r.text, name=names.get(r.call_id, ""), slot=n)
        for n, r in enumerate(turn.results)
    ]
    return Entry(
        index=place,
        role=speaker,
        calls=turn.calls,
        results=(*([text] if turn.text else []), *results),
    )


def turns_from_entries(
    entries: Sequence[tuple[Entry, Sequence[Json]]], form: WireFormat
) -> tuple[Turn, ...]:
    """The turns of the entries of messages, each with what it came as; raises `BadInput`.

    A message that calls tools and the results behind it are one turn.
    """
    found = []
    at = 0
    while at < len(entries):
        end = at + 1
        while entries[at][0].calls and end < len(entries) and entries[end][0].role == "tool":
            end += 1
        found.append(_turn_from_entries(entries[at:end], form))
        at = end
    return tuple(found)


def _turn_from_entries(entries: Sequence[tuple[Entry, Sequence[Json]]], form: WireFormat) -> Turn:
    for entry, _ in entries:
        results = [kind for result in entry.results for kind in result.kinds]
        for kind in (*results, *(kind for kind in entry.kinds if kind not in THINKING)):
            what = f"has a part {kind} whose tokens cannot be counted; take it out"
            raise refuse(entry.index, what)
    lead, (first, *_) = entries[0]
    if lead.role == "tool":
        what = "is a tool's result without a call right before it; keep the two"
        raise refuse(lead.index, what)
    try:
        return Turn(
            role=first["role"],
            text=lead.said,
            calls=lead.calls,
            results=tuple(
                ToolResult(
                    call_id=r.call_id,
                    text=r.text,
                    error=r.error,
                    extra=join_lines(r.rest, r.beside),
                )
                for entry, _ in entries[1:]
                for r in entry.results
            ),
            extra=join_lines(*lead.others),
            original=compact_json([one for _, came in entries for one in came]),
            form=form,
        )
    except BadInput as error:
        raise refuse(entries[-1][0].index, error) from None
