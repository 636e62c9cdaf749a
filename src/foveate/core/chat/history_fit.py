"""A conversation while it is being fitted: what of each turn is shown, what it weighs, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from foveate.core.chat.citation_note import (
    CitationNote,
    build_citation_note,
    carried_citations,
    unique_citations,
)
from foveate.core.chat.turn_list import MeasuredTurns, entry_from_turn, turn_with_texts
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn, TurnCitation, messages_from_turn
from foveate.core.checks import check_zone
from foveate.core.compact.entries import Entry
from foveate.core.compact.packing import Packing
from foveate.core.compact.results import Key, ResultsView, ShownResult
from foveate.core.compact.shorten import result_handle, shorten_result
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.types import Action, Decision

MessageCounter = Callable[[Sequence[Message]], int]
Disposition = Literal["verbatim", "shortened", "left_out", "summarised", "withdrawn"]

_OUTCOMES: Mapping[Disposition, tuple[Action, str]] = {
    "summarised": ("merged", "turn_summarised"),
    "left_out": ("dropped", "turn_left_out"),
    "shortened": ("changed", "turn_shortened"),
}
SUMMARY_HEADING = "Summary of the conversation so far:"
MAX_ATTEMPTS = 8
LEAST_LEDGER_ROOM = 128
"""Tokens; in a smaller zone messages say more than a ledger."""
LEDGER_SHARE, LEDGER_TOKENS = 3, 512
"""The ledger is sure of this part of the zone, up to so many tokens; the last turns yield to it."""
_EMPTY = (Message(role="user", text=""),)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """How a conversation is kept within its zone.

    `verbatim`: the last so many turns stay as they are, as far as the zone has room beside the
    ledger. `slack`: where something must go, so many per cent of the zone are freed, so that not
    every turn changes what was sent before; None: as `compact`, nothing in zones up to 4,096
    tokens, up to two fifths of larger ones. `ledger`: identifiers, dates, numbers, questions and
    sentences of turns that are not shown in full stand in front.
    """

    verbatim: int = 4
    slack: int | None = 0
    ledger: bool = True

    def __post_init__(self) -> None:
        check_zone("verbatim", self.verbatim, 0)
        if self.slack is not None:
            check_zone("slack", self.slack, 0)
        if self.slack is not None and self.slack > 90:
            raise BadOption(f"history: slack is {self.slack}; it must be 90 per cent or less")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of the first `turns` turns, or `why` there is none; `unread`: unseen turns."""

    turns: int
    unread: tuple[int, ...] = ()
    text: str = ""
    why: str = ""

    def disposition(self, n: int) -> Disposition:
        """What became of turn n, which is one of them and not shown itself."""
        return "left_out" if n in self.unread else "summarised"


@dataclass(slots=True)
class TurnCache:
    """What was worked out of turns for one query: tokens, and citations that they carry on."""

    weights: dict[tuple[Turn, Turn], int] = field(default_factory=dict)
    carried: dict[tuple[Turn, Turn | None], tuple[TurnCitation, ...]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class HistoryFit:
    """The turns, and what is shown of each.

    `weigh` counts messages. `language`: that of the turns, by which sentences are told apart.
    `before[i]`: turn i as it was sent last, `summary` and `ledger`: what was sent with it.
    `withdrawn`: turns that may not be shown, nor what a ledger says of them. `live`: markers with
    the same meaning as then. `most`: lines that say what was cited; None: all. `memory` is for one
    query.
    """

    turns: Sequence[Turn]
    options: History
    weigh: MessageCounter
    query: str
    language: str = "en"
    before: Sequence[Turn | None] = ()
    withdrawn: frozenset[int] = frozenset()
    summary: Summary | None = None
    ledger: str = ""
    live: frozenset[int] | None = None
    memory: TurnCache = field(default_factory=TurnCache)
    shown: list[Turn | None] = field(init=False)
    dispositions: list[Disposition] = field(init=False)
    originals: dict[str, str] = field(default_factory=dict, init=False)
    quotes: bool = field(default=True, init=False)
    most: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Show the turns as they were sent last, but for those that were withdrawn."""
        self.shown = list(self.turns)
        self.dispositions = ["verbatim"] * len(self.turns)
        for n in sorted(self.withdrawn):
            self.set_shown(n, None, "withdrawn")
        summary = self.summary
        for n, shown in enumerate(self.before):
            if self.dispositions[n] == "verbatim" and not self.stays(n) and shown != self.turns[n]:
                is_summarised = summary is not None and n < summary.turns
                self.set_shown(
                    n, shown, summary.disposition(n) if summary and is_summarised else "left_out"
                )

    def set_shown(self, n: int, shown: Turn | None, fate: Disposition = "left_out") -> None:
        """Show a turn otherwise, or (None) not at all, for the reason that `fate` says."""
        self.shown[n] = shown
        if shown is None:
            self.dispositions[n] = fate
        else:
            self.dispositions[n] = "verbatim" if shown == self.turns[n] else "shortened"

    def stays(self, n: int) -> bool:
        """Whether turn n is shown whatever the room is."""
        return self.turns[n].pinned or self.turns[n].role in SYSTEM_ROLES

    def total(self) -> int:
        """Tokens of it all, as it stands."""
        shown = zip(self.turns, self.shown, strict=True)
        return self.lead_tokens() + sum(self.cost(turn, now) for turn, now in shown if now)

    def lead_tokens(self) -> int:
        """Tokens of what stands before all turns."""
        return self.weigh(self.lead_messages())

    def cost(self, turn: Turn, shown: Turn) -> int:
        """Tokens of a turn as it is shown; weighed once."""
        known = self.memory.weights.get((turn, shown))
        if known is None:
            known = self.weigh(list(messages_from_turn(turn, shown)))
            self.memory.weights[turn, shown] = known
        return known

    def lead_messages(self) -> list[Message]:
        """The summary, the ledger and the note of what was cited, before all turns."""
        parts = [f"{SUMMARY_HEADING}\n{self.summary.text}"] if self.summary else []
        parts += [self.ledger, self.citation_note().text]
        text = "\n\n".join(part for part in parts if part)
        return [Message(role="user", text=text, joined=True)] if text else []

    def citation_note(self) -> CitationNote:
        """What turns cited and no longer show, in words."""
        numbered = self.live is not None
        return build_citation_note(
            self.lost_citations(), quotes=self.quotes, numbered=numbered, most=self.most
        )

    def limit_citations(self, room: int) -> None:
        """Of what was cited, name as many of the latest as there is room for; one at the least."""
        high, low = len(self.lost_citations()), 1
        while high - low > 1:
            self.most = (low + high) // 2
            low, high = (self.most, high) if self.total() <= room else (low, self.most)
        self.most = low

    def lost_citations(self) -> tuple[TurnCitation, ...]:
        """What turns cited and no longer show."""
        found: list[TurnCitation] = []
        for turn, shown, fate in zip(self.turns, self.shown, self.dispositions, strict=True):
            if turn.cited and fate != "withdrawn":
                known = self.memory.carried.get((turn, shown))
                if known is None:
                    known = carried_citations(turn, shown, self.live)
                    self.memory.carried[turn, shown] = known
                found += known
        return unique_citations(found)

    def summarise(self, summary: Summary, room: int) -> bool:
        """Put the summary in the place of the turns that it is of, if that makes it fit."""
        old = list(self.shown), list(self.dispositions), self.summary, self.ledger
        for n in range(min(summary.turns, len(self.turns) - self.options.verbatim)):
            if self.dispositions[n] != "withdrawn" and not self.stays(n):
                self.set_shown(n, None, summary.disposition(n))
        self.summary, self.ledger = summary, ""
        if self.total() <= room:
            return True
        self.shown, self.dispositions, self.summary, self.ledger = old
        return False

    def remove_summary(self) -> None:
        """Leave the summary out, and with it the turns that it is of."""
        self.summary = None
        self.dispositions = [
            "left_out" if fate == "summarised" else fate for fate in self.dispositions
        ]

    def pack(self, room: int, target: int) -> bool:
        """Pack the turns as `compact` packs messages, to `target` tokens; whether they fit."""
        self.ledger = ""
        lead = self.lead_tokens()
        for _ in range(MAX_ATTEMPTS):
            packing = self._packing(room - lead, min(target, room) - lead)
            if packing is None:
                return False
            self._show(packing)
            if (over := self.total() - room) <= 0:
                return True
            lead += over
        return False

    def keep_least(self) -> None:
        """Show only what stays whatever the room is, and the last step, its results cut short."""
        self.ledger = ""
        for n, turn in enumerate(self.turns):
            if self.dispositions[n] == "withdrawn" or self.stays(n):
                continue
            is_last = self.options.verbatim and n == len(self.turns) - 1
            self.set_shown(n, self._cut_short(turn) if is_last else None)

    def _cut_short(self, turn: Turn) -> Turn:
        texts = {}
        for result in entry_from_turn(0, turn).results:
            text, _, _ = shorten_result(result.text, "", 0, self._count, language=self.language)
            if self._count(text) < self._count(result.text):
                texts[result.slot] = text
        return turn_with_texts(turn, texts)

    def recent_tokens(self) -> int:
        """The room in which the last turns stay verbatim, and the ledger has its part."""
        first = len(self.turns) - self.options.verbatim
        whole = self.lead_tokens() - self._count(self.ledger)
        whole += sum(
            self.cost(turn, turn)
            for n, turn in enumerate(self.turns)
            if (n >= first or self.stays(n)) and self.dispositions[n] != "withdrawn"
        )
        return whole + min(-(-whole // (LEDGER_SHARE - 1)), LEDGER_TOKENS) * self.options.ledger

    def _packing(self, room: int, target: int) -> Packing | None:
        """The turns packed in so much room; None where what must stay does not fit."""
        entries = [
            entry_from_turn(n, turn)
            for n, turn in enumerate(self.turns)
            if self.dispositions[n] not in ("withdrawn", "summarised")
        ]
        last = len(entries) - 1
        entries.append(Entry(index=len(self.turns), role="user", said=self.query))
        measured = MeasuredTurns(
            entries=entries,
            count=self._count,
            pinned=self._verbatim(room),
            turns=self.turns,
            cost=lambda n, shown: self.cost(self.turns[n], shown),
            left=frozenset(n for n, b in enumerate(self.before) if b is None and not self.stays(n)),
        )
        with_ledger = self.options.ledger and room >= LEAST_LEDGER_ROOM
        view = ResultsView(
            measured=measured,
            room=room,
            with_ledger=with_ledger,
            points=[n for n in (last, last + 1) if n >= 0],
            query=self.query,
            language=self.language,
        )
        view.shown.update(self._shortened_before())
        packing = Packing(
            measured=measured,
            view=view,
            room=room,
            target=target,
            point=last + 1,
            last=last if self.options.verbatim else last + 1,
            with_ledger=with_ledger,
        )
        try:
            packing.pack()
        except BudgetTooSmall:
            return None
        return packing

    def _verbatim(self, room: int) -> frozenset[int]:
        """The turns that stay as they are: of the last ones as many as the room has for them."""
        found = {n for n in range(len(self.turns)) if self.stays(n)}
        free = room - sum(self.cost(self.turns[n], self.turns[n]) for n in found)
        if self.options.ledger:
            free -= min(room // LEDGER_SHARE, LEDGER_TOKENS)
        for n in reversed(range(max(0, len(self.turns) - self.options.verbatim), len(self.turns))):
            turn = self.turns[n]
            free -= 0 if n in found else self.cost(turn, turn)
            if free < 0 or (n < len(self.before) and self.before[n] != turn):
                break
            found.add(n)
        return frozenset(found)

    def _shortened_before(self) -> Iterator[tuple[Key, ShownResult]]:
        """Texts that were sent shortened before, which stay as they were sent."""
        for n, shown in enumerate(self.before):
            if shown is None or shown == self.turns[n]:
                continue
            now = {result.slot: result.text for result in entry_from_turn(n, shown).results}
            for result in entry_from_turn(n, self.turns[n]).results:
                text = now.get(result.slot, "")
                if text != result.text:
                    yield (n, result.slot), ShownResult("short", text, self._count(text))

    def _show(self, packing: Packing) -> None:
        """Show the turns as they were packed, behind the ledger of what is not shown."""
        self.originals = {}
        for place, group in enumerate(packing.measured.groups[:-1]):
            entry = group.entries[0]
            stays = place in packing.stays
            texts = packing.view.texts(entry)
            turn = turn_with_texts(self.turns[entry.index], texts)
            self.set_shown(entry.index, turn if stays else None)
            for result in entry.results:
                if not stays or result.slot in texts:
                    self.originals[result_handle(result.text)] = result.text
        self.ledger = packing.ledger.text if packing.ledger.added else ""

    def _count(self, text: str) -> int:
        """Tokens of a text as a part of a message that there is already."""
        return self.weigh([Message(role="user", text=text)]) - self.weigh(_EMPTY)

    def decisions(self) -> Iterator[Decision]:
        """What became of each turn, and why; then what was cited and is not said any more."""
        for n, (turn, shown, fate) in enumerate(
            zip(self.turns, self.shown, self.dispositions, strict=True)
        ):
            name = f"turn {n + 1}"
            if fate == "withdrawn":
                yield Decision(chunk_id=name, action="dropped", reason="turn_withdrawn")
                continue
            action, reason = _OUTCOMES.get(fate) or ("kept", self._retention_reason(n))
            now = 0 if shown is None else self.cost(turn, shown)
            numbers = {"tokens": self.cost(turn, turn), "shown": now}
            yield Decision(chunk_id=name, action=action, reason=reason, numbers=numbers)
        for entry in self.citation_note().unsaid:
            yield Decision(chunk_id=entry.chunk_id, action="dropped", reason="citation_left_out")

    def _retention_reason(self, n: int) -> str:
        if self.stays(n):
            return "turn_pinned"
        return "turn_recent" if n >= len(self.turns) - self.options.verbatim else "turn_kept"
