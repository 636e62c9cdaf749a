"""The conversation in its zone (SPEC W1): recent turns verbatim, older ones shortened.

Older turns are replaced by a summary if one helps, else shortened to a half, a quarter, a twelfth,
then left out, a question together with its answers, oldest first. Pinned turns, the last `verbatim`
ones, system turns and the question of the recent turns are never left out. A note carries on what
hidden turns cited, and a ledger their values, as far as there is room. Every turn has a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from foveate.core.chat.history_fit import HistoryFit, MessageCounter, Summary, TurnCache
from foveate.core.chat.shorten import LENGTH_DIVISORS
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn, messages_from_turn
from foveate.core.chat.value_ledger import build_value_ledger, holds_values
from foveate.core.checks import check_zone
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.types import Number, StageTrace

LEDGER_SHARE, LEDGER_TOKENS = 4, 512
"""In a zone of so many tokens or more, the ledger is sure of this part of it, up to so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """How a conversation is kept within its zone.

    `verbatim`: the last so many turns stay as they are. `when`: older ones are shortened only
    where the zone is too small for all (`over_budget`), or `always`, to a half. `slack`: where
    something must go, so many per cent of the zone are freed, so that not every turn changes
    what was sent before. `ledger`: identifiers, dates, numbers and questions of turns that are not
    shown in full stand in front; never with slack, for the beginning would change at every turn.
    """

    verbatim: int = 4
    when: Literal["over_budget", "always"] = "over_budget"
    slack: int = 0
    ledger: bool = True

    def __post_init__(self) -> None:
        check_zone("verbatim", self.verbatim, 0)
        check_zone("slack", self.slack, 0)
        if self.slack > 90:
            raise BadOption(f"history: slack is {self.slack}; it must be 90 per cent or less")
        if self.when not in ("over_budget", "always"):
            raise BadOption(f"history: when must be 'over_budget' or 'always', not {self.when!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedHistory:
    """A conversation as it is sent. `shown[i]` is turn i, None if it is not shown itself."""

    messages: tuple[Message, ...]
    shown: tuple[Turn | None, ...]
    tokens: int
    trace: StageTrace
    summary: Summary | None = None


def fit_history(
    turns: Sequence[Turn],
    room: int,
    options: History,
    *,
    weigh: MessageCounter,
    query: str,
    language: str = "en",
    before: Sequence[Turn | None] = (),
    withdrawn: frozenset[int] = frozenset(),
    summary: Summary | None = None,
    standing: Summary | None = None,
    live: frozenset[int] | None = None,
    memory: TurnCache | None = None,
) -> FittedHistory:
    """The conversation in at most `room` tokens, as `weigh` counts messages.

    `before[i]`: turn i as it was sent last. `withdrawn`: turns that may not be shown. `standing`:
    the summary sent with `before`; `summary`: a new one, of more turns. `live`: markers with the
    same meaning as then. `memory` is for one query. Raises `BudgetTooSmall`.
    """
    draft = HistoryFit(
        turns=turns,
        recent=options.verbatim,
        weigh=weigh,
        query=query,
        language=language,
        live=live,
        memory=TurnCache() if memory is None else memory,
    )
    draft.revoke(withdrawn)
    draft.resume(before, standing)
    if options.when == "always" and not (summary and summary.text):
        draft.shorten(LENGTH_DIVISORS[0], room=-1)
    if options.when == "always" or draft.total() > room:
        _tighten(draft, room, options, summary)
    if (needed := draft.total()) > room:
        raise BudgetTooSmall(
            room,
            needed,
            what=f"the conversation (what is pinned or was cited, and the last {options.verbatim} "
            "turns; fewer can stay verbatim)",
        )
    if options.ledger and not options.slack and not before and draft.summary is None:
        draft.ledger = build_value_ledger(draft, room)
    return _build_fitted_history(draft, options, room, summary)


def _tighten(draft: HistoryFit, room: int, options: History, summary: Summary | None) -> None:
    if summary is not None and summary.text and draft.summarise(summary, room):
        return
    target = room * (100 - options.slack) // 100
    reserves = options.ledger and not options.slack and room >= LEDGER_TOKENS
    if reserves and holds_values(draft):
        target -= min(room // LEDGER_SHARE, LEDGER_TOKENS)
    if draft.total() <= room:
        return
    for share in LENGTH_DIVISORS:
        if draft.shorten(share, target):
            return
    for exchange in draft.exchanges():
        if draft.leave_out(exchange) <= target:
            return
    if draft.total() > room and draft.summary is not None:
        draft.remove_summary()
    if draft.total() > room:
        _cite_sources_only(draft, room, target)


def _cite_sources_only(draft: HistoryFit, room: int, target: int) -> None:
    draft.quotes = False
    if draft.total() <= room:
        return
    draft.most = 1
    for exchange in draft.exchanges():
        if draft.leave_out(exchange) <= target:
            break
    draft.limit_citations(target if draft.total() <= target else room)


def _build_fitted_history(
    draft: HistoryFit, options: History, room: int, summary: Summary | None
) -> FittedHistory:
    systems: list[Message] = []
    rest: list[Message] = []
    for turn, shown in zip(draft.turns, draft.shown, strict=True):
        if shown is not None:
            (systems if turn.role in SYSTEM_ROLES else rest).extend(messages_from_turn(turn, shown))
    tokens = draft.total()
    notes: dict[str, Number] = {"tokens": tokens, "room": room}
    if summary is not None and draft.summary is not summary:
        notes["summary"] = summary.why or "not needed, or too long"
    if lost := draft.lost_citations():
        notes["carried"] = len(lost)
    return FittedHistory(
        messages=(*systems, *draft.lead_messages(), *rest),
        shown=tuple(draft.shown),
        tokens=tokens,
        summary=draft.summary,
        trace=StageTrace(
            stage="history",
            options=repr(options),
            before=len(draft.turns),
            after=sum(shown is not None for shown in draft.shown),
            decisions=tuple(draft.decisions()),
            notes=notes,
        ),
    )
