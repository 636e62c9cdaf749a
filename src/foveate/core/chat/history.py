"""The conversation in its zone (SPEC W1), fitted as `compact` fits the messages of an agent.

Long results are shortened, the oldest messages leave, and a ledger in front names their values. A
model's summary takes the place of the older messages if one helps. Pinned messages and instructions
always stay, the last ones as far as the zone has room beside the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveate.core.chat.turns import Message, Turn, TurnCitation, count_tokens, read_turns
from foveate.core.compact.compaction import Compacted, CompactOptions, compact_messages
from foveate.core.compact.entries import BRIDGE, Group, group_entries
from foveate.core.compact.forms import message_form
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.types import Action, Decision, Number, StageTrace
from foveate.core.zones import Budget

SUMMARY_HEADING = "Summary of the conversation so far:"
VERBATIM = 4
"""Of the last messages so many stay as they are, a call with its results as one."""
LEDGER_SHARE, LEDGER_TOKENS = 2, 512
"""The ledger is sure of this part of the zone, up to so many tokens; the last ones yield to it."""
MAX_ATTEMPTS = 8
_KEPT: tuple[Action, str] = ("kept", "message_kept")
_SUMMARISED: tuple[Action, str] = ("merged", "turn_summarised")
_LEFT: tuple[Action, str] = ("dropped", "message_left_out")
_SUBJECT = "the conversation (what is pinned, and instructions)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A model's summary of the turns at `places`, or `why` there is none."""

    text: str = ""
    places: tuple[int, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedHistory:
    """A conversation as it is sent: its turns, and the same as messages with their tokens.

    `places[i]`: where turn i stood in the list that came; -1 for the ledger and the like. `gone`:
    what turns cited that are not sent. `originals`: by handle, the texts of results that are not.
    """

    turns: tuple[Turn, ...]
    places: tuple[int, ...]
    messages: tuple[Message, ...]
    tokens: int
    trace: StageTrace
    gone: tuple[TurnCitation, ...] = ()
    originals: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether anything left or was shortened."""
        return any(decision.action != "kept" for decision in self.trace.decisions)


@dataclass(slots=True, kw_only=True)
class HistoryFit:
    """The turns before a question, to be fitted; `slack` as in `CompactOptions`."""

    turns: Sequence[Turn]
    query: str
    budget: Budget
    tokenizer: Tokenizer
    verbatim: int = VERBATIM
    slack: int | None = 0
    messages: list[Message] = field(init=False)
    groups: list[Group] = field(init=False)
    costs: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.messages = read_turns(self.turns)
        self.groups = group_entries([message.entry for message in self.messages])
        self.costs = [self._weigh(self._of_group(group)) for group in self.groups]

    @property
    def tokens(self) -> int:
        """Tokens of all turns."""
        return sum(self.costs)

    def fit(self, room: int, summary: Summary | None = None) -> FittedHistory:
        """The turns in at most `room` tokens; raises `BudgetTooSmall`.

        `summary`: a model's, or why there is none.
        """
        whole = range(len(self.turns))
        if self.tokens <= room:
            return self._fitted(self.turns, whole, self._decide(kept=whole), room)
        summarised = self._summarise(summary, room) if summary and summary.text else None
        fitted = summarised or self._compact(room)
        if summary is not None and summarised is None:
            notes = {**fitted.trace.notes, "summary": summary.why or "too long"}
            fitted = replace(fitted, trace=replace(fitted.trace, notes=notes))
        return fitted

    def older(self) -> list[int]:
        """The places of the turns that a summary may stand for."""
        first = max(0, len(self.groups) - self.verbatim)
        groups = (group for group in self.groups[:first] if not self._stays(group))
        return [entry.index for group in groups for entry in group.entries]

    def _stays(self, group: Group) -> bool:
        """Whether it is sent whatever the room is."""
        return any(e.role == "system" or self.turns[e.index].pinned for e in group.entries)

    def _of_group(self, group: Group) -> list[Message]:
        return [self.messages[entry.index] for entry in group.entries]

    def _weigh(self, messages: Sequence[Message]) -> int:
        return count_tokens(messages, self.budget, self.tokenizer)

    def _summarise(self, summary: Summary, room: int) -> FittedHistory | None:
        """The summary in the place of the older turns, if that makes all fit."""
        older = self.older()
        rest = [n for n in range(len(self.turns)) if n not in set(older)]
        lead = [n for n in rest if self.messages[n].entry.role == "system" and n < older[0]]
        rest = rest[len(lead) :]
        note = message_form([turn.message for turn in self.turns]).note
        made = [Turn(note(f"{SUMMARY_HEADING}\n{summary.text}", "user"), derived=True)]
        if rest and self.messages[rest[0]].entry.role == "user":
            made.append(Turn(note(BRIDGE, "assistant"), derived=True))
        turns = [self.turns[n] for n in lead] + made + [self.turns[n] for n in rest]
        decisions = self._decide(kept=[*lead, *rest], summarised=summary.places)
        fitted = self._fitted(turns, (*lead, *(-1 for _ in made), *rest), decisions, room)
        return fitted if fitted.tokens <= room else None

    def _decide(self, kept: Sequence[int], summarised: Sequence[int] = ()) -> list[Decision]:
        """A decision for each turn: it is sent as it came, is in the summary, or left."""
        found = []
        for n in range(len(self.turns)):
            action, reason = _KEPT if n in kept else _SUMMARISED if n in summarised else _LEFT
            numbers = {"tokens": self._weigh(self.messages[n : n + 1])}
            name = f"message {n + 1}"
            found.append(Decision(chunk_id=name, action=action, reason=reason, numbers=numbers))
        return found

    def _compact(self, room: int) -> FittedHistory:
        """The turns packed by `compact`, the question behind them."""
        must = [n for n, group in enumerate(self.groups) if self._stays(group)]
        if (needed := sum(self.costs[n] for n in must)) > room:
            raise BudgetTooSmall(room, needed, what=_SUBJECT)
        target = room
        for _ in range(MAX_ATTEMPTS):
            made = self._compacted(target, room)
            if made is None:
                break
            turns, places = self._turns_of(made)
            fitted = self._fitted(turns, places, made.decisions[:-1], room)
            if (over := fitted.tokens - room) <= 0:
                return replace(fitted, originals=made.originals)
            target = min(target, made.token_count - self._query_tokens) - over
        places = [entry.index for n in must for entry in self.groups[n].entries]
        return self._fitted([self.turns[n] for n in places], places, self._decide(places), room)

    def _compacted(self, target: int, room: int) -> Compacted | None:
        """The list in so many tokens as `compact` counts; None where that is not enough."""
        listed = [turn.message for turn in self.turns]
        listed.append(message_form(listed).note(self.query, "user"))
        options = CompactOptions(
            budget=max(1, target + self._query_tokens),
            query=self.query,
            pinned=tuple(self._pinned(room)),
            slack=self.slack,
            frame=self.budget.per_message,
        )
        try:
            return compact_messages(
                listed, options, tokenizer=self.tokenizer, count=self.tokenizer.count
            )
        except BudgetTooSmall:
            return None

    @property
    def _query_tokens(self) -> int:
        """Tokens of the question, as `compact` counts."""
        return self.tokenizer.count(self.query) + self.budget.per_message

    def _pinned(self, room: int) -> list[int]:
        """The places of what stays, and of the last ones as many as the room has for them."""
        found = {n for n, group in enumerate(self.groups) if self._stays(group)}
        free = room - sum(self.costs[n] for n in found) - min(room // LEDGER_SHARE, LEDGER_TOKENS)
        for n in reversed(range(max(0, len(self.groups) - self.verbatim), len(self.groups))):
            free -= 0 if n in found else self.costs[n]
            if free < 0 or any(self.turns[e.index].derived for e in self.groups[n].entries):
                break
            found.add(n)
        return [entry.index for n in sorted(found) for entry in self.groups[n].entries]

    def _turns_of(self, made: Compacted) -> tuple[list[Turn], list[int]]:
        turns, places = list[Turn](), list[int]()
        for place, message in zip(made.places, made.messages, strict=True):
            if place == len(self.turns):
                continue
            was = self.turns[place] if place >= 0 else Turn(message, derived=True)
            turns.append(was if was.message is message else replace(was, message=message))
            places.append(place)
        return turns, places

    def _fitted(
        self,
        turns: Sequence[Turn],
        places: Sequence[int],
        decisions: Sequence[Decision],
        room: int,
    ) -> FittedHistory:
        messages = tuple(read_turns(turns))
        tokens = self._weigh(messages)
        left = set(range(len(self.turns))).difference(places)
        notes: dict[str, Number] = {"tokens": tokens, "room": room}
        return FittedHistory(
            turns=tuple(turns),
            places=tuple(places),
            messages=messages,
            tokens=tokens,
            gone=tuple(entry for n in sorted(left) for entry in self.turns[n].cited),
            trace=StageTrace(
                stage="history",
                options=f"verbatim={self.verbatim}",
                before=len(self.turns),
                after=len(turns),
                decisions=tuple(decisions),
                notes=notes,
            ),
        )
