"""A conversation while it is being fitted: what of each turn is shown, what it weighs, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from foveate.core.chat.shorten import (
    LENGTH_DIVISORS,
    CitationNote,
    build_citation_note,
    carried_citations,
    shorten_turn,
    unique_citations,
)
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn, TurnCitation, messages_from_turn
from foveate.core.types import Action, Decision

MessageCounter = Callable[[Sequence[Message]], int]
Disposition = Literal["verbatim", "shortened", "left_out", "summarised", "withdrawn"]

_OUTCOMES: Mapping[Disposition, tuple[Action, str]] = {
    "summarised": ("merged", "turn_summarised"),
    "left_out": ("dropped", "turn_left_out"),
    "shortened": ("changed", "turn_shortened"),
}
SUMMARY_HEADING = "Summary of the conversation so far:"


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
    """What was worked out of turns for one query: tokens, shorter versions, what they carry on."""

    weights: dict[Turn, int] = field(default_factory=dict)
    shorter: dict[Turn, tuple[Turn, ...]] = field(default_factory=dict)
    carried: dict[tuple[Turn, Turn | None], tuple[TurnCitation, ...]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class HistoryFit:
    """The turns, and what is shown of each. `open`: those that may be shortened, oldest first.

    `question`: the turn that the recent ones answer, never left out; -1: one of them. `live`:
    markers with the same meaning as then. `most`: lines that say what was cited; None: all.
    """

    turns: Sequence[Turn]
    recent: int
    weigh: MessageCounter
    query: str
    language: str
    live: frozenset[int] | None
    open: list[int] = field(default_factory=list)
    shown: list[Turn | None] = field(default_factory=list)
    dispositions: list[Disposition] = field(default_factory=list)
    summary: Summary | None = None
    ledger: str = ""
    quotes: bool = True
    most: int | None = None
    question: int = -1
    memory: TurnCache = field(default_factory=TurnCache)

    def __post_init__(self) -> None:
        self.shown = list(self.turns)
        self.dispositions = ["verbatim"] * len(self.turns)
        self.open = [
            n
            for n, turn in enumerate(self.turns)
            if n < len(self.turns) - self.recent
            and not turn.pinned
            and turn.role not in SYSTEM_ROLES
        ]
        self.question = self._find_question()

    def _find_question(self) -> int:
        first = max(0, len(self.turns) - self.recent)
        said = [turn.role for turn in self.turns[first:] if turn.role not in SYSTEM_ROLES]
        if not said or said[0] == "user":
            return -1
        return next((n for n in reversed(range(first)) if self.turns[n].role == "user"), -1)

    def set_shown(self, n: int, shown: Turn | None, fate: Disposition = "left_out") -> None:
        """Show a turn shorter, or (None) not at all, for the reason that `fate` says."""
        self.shown[n] = shown
        self.dispositions[n] = fate if shown is None else "shortened"

    def revoke(self, gone: frozenset[int]) -> None:
        """These turns may not be shown any more."""
        for n in sorted(gone):
            self.set_shown(n, None, "withdrawn")
        self.open = [n for n in self.open if n not in gone]

    def total(self) -> int:
        """Tokens of it all, as it stands."""
        return self.weigh(self.lead_messages()) + sum(map(self.cost, self.shown))

    def cost(self, shown: Turn | None) -> int:
        """Tokens of one turn as it is shown; weighed once."""
        if shown is None:
            return 0
        weights = self.memory.weights
        known = weights.get(shown)
        if known is None:
            known = weights[shown] = self.weigh(list(messages_from_turn(shown, shown)))
        return known

    def short_version(self, n: int, share: int) -> Turn:
        """Turn n, a `share`-th of it; shortened once."""
        turn, shorter = self.turns[n], self.memory.shorter
        known = shorter.get(turn)
        if known is None:
            known = shorter[turn] = shorten_turn(turn, self.query, self.language)
        return known[LENGTH_DIVISORS.index(share)]

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

    def shorten(self, share: int, room: int) -> bool:
        """Shorten the oldest first, to a `share`-th, until it fits the room."""
        total = self.total()
        for n in self.open:
            shown = self.shown[n]
            if total <= room:
                return True
            if shown is None:
                continue
            short = self.short_version(n, share)
            if (freed := self.cost(shown) - self.cost(short)) > 0:
                self.set_shown(n, short)
                total = self.total() if self.turns[n].cited else total - freed
        return total <= room

    def leave_out(self, exchange: Sequence[int]) -> int:
        """Leave these turns out, if that frees anything: the total then."""
        old, total = {n: (self.shown[n], self.dispositions[n]) for n in exchange}, self.total()
        for n in exchange:
            self.set_shown(n, None)
        if (less := self.total()) < total:
            return less
        for n, (shown, fate) in old.items():  # the note of what they cited is longer than they were
            self.shown[n], self.dispositions[n] = shown, fate
        return total

    def exchanges(self) -> Iterator[list[int]]:
        """What may go, a question together with all that answers it."""
        some: list[int] = []
        for n in self.open:
            if some and self.turns[n].role == "user":
                yield some
                some = []
            if n != self.question and self.shown[n] is not None:
                some.append(n)
        if some:
            yield some

    def summarise(self, summary: Summary, room: int) -> bool:
        """Put the summary in the place of the turns that it is of, if that makes it fit."""
        old = list(self.shown), list(self.dispositions), self.summary
        for n in self.open:
            if n < summary.turns and n != self.question:
                self.set_shown(n, None, summary.disposition(n))
        self.summary = summary
        if self.total() <= room:
            return True
        self.shown, self.dispositions, self.summary = old
        return False

    def resume(self, before: Sequence[Turn | None], standing: Summary | None) -> None:
        """Show the open turns as they were sent last, under the summary that stood there then."""
        self.summary = standing
        for n in self.open:
            if n >= len(before) or before[n] == self.turns[n]:
                continue
            if before[n] is not None or n != self.question:
                told = standing is not None and n < standing.turns
                self.set_shown(
                    n, before[n], standing.disposition(n) if standing and told else "left_out"
                )

    def remove_summary(self) -> None:
        """Leave the summary out, and with it the turns that it is of."""
        self.summary = None
        self.dispositions = [
            "left_out" if fate == "summarised" else fate for fate in self.dispositions
        ]

    def decisions(self) -> Iterator[Decision]:
        """What became of each turn, and why; then what was cited and is not said any more."""
        for n, (turn, shown, fate) in enumerate(
            zip(self.turns, self.shown, self.dispositions, strict=True)
        ):
            name = f"turn {n + 1}"
            if fate == "withdrawn":
                yield Decision(chunk_id=name, action="dropped", reason="turn_withdrawn")
                continue
            action, reason = _OUTCOMES.get(fate) or ("kept", self._retention_reason(n, turn))
            numbers = {"tokens": self.cost(turn), "shown": self.cost(shown)}
            yield Decision(chunk_id=name, action=action, reason=reason, numbers=numbers)
        for entry in self.citation_note().unsaid:
            yield Decision(chunk_id=entry.chunk_id, action="dropped", reason="citation_left_out")

    def _retention_reason(self, n: int, turn: Turn) -> str:
        if turn.pinned or turn.role in SYSTEM_ROLES:
            return "turn_pinned"
        return "turn_recent" if n >= len(self.turns) - self.recent else "turn_kept"
