"""The conversation in its zone (SPEC W1): the newest turns, and a ledger of what is not shown.

Turns are packed as `compact` packs messages (SPEC A3): long results are shortened, then the oldest
turns leave. A summary replaces them if one helps. Pinned and system turns always stay, the last
`verbatim` ones as far as the zone has room beside the ledger. The ledger in front has identifiers,
dates, numbers, questions and sentences of what is not shown; a note carries on what it cited. Every
turn has a decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foveate.core.chat.history_fit import HistoryFit, Summary
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn, messages_from_turn
from foveate.core.compact.repacking import default_slack
from foveate.core.errors import BudgetTooSmall
from foveate.core.types import Number, StageTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedHistory:
    """A conversation as it is sent. `shown[i]` is turn i, None if it is not shown itself.

    `ledger`: what stands in front for turns that are not shown. `wants`: the room in which the last
    turns would stay verbatim. `originals`: by handle, the texts of results that are not shown.
    """

    messages: tuple[Message, ...]
    shown: tuple[Turn | None, ...]
    tokens: int
    trace: StageTrace
    summary: Summary | None = None
    ledger: str = ""
    wants: int = 0
    originals: Mapping[str, str] = field(default_factory=dict)


def fit_history(fit: HistoryFit, room: int, summary: Summary | None = None) -> FittedHistory:
    """The conversation in at most `room` tokens; `summary`: a new one, of more turns.

    Raises `BudgetTooSmall`.
    """
    if fit.total() > room or (fit.withdrawn and fit.ledger):
        _tighten(fit, room, summary)
    return _build_fitted_history(fit, room, summary)


def _tighten(fit: HistoryFit, room: int, summary: Summary | None) -> None:
    whole = fit.total()
    if summary is not None and summary.text and fit.summarise(summary, room):
        return
    slack = fit.options.slack
    freed = default_slack(room) if slack is None else room * slack // 100
    target = room - freed
    if fit.pack(room, target):
        return
    if fit.summary is not None:
        fit.remove_summary()
        if fit.pack(room, target):
            return
    fit.quotes = False
    if fit.pack(room, target):
        return
    fit.most = 1
    if not fit.pack(room, target):
        fit.keep_least()
        if (needed := fit.total()) > room:
            what = "the conversation (what is pinned or was cited, and the last turn)"
            raise BudgetTooSmall(room, min(needed, whole), what=what)
    fit.limit_citations(target if fit.total() <= target else room)


def _build_fitted_history(fit: HistoryFit, room: int, summary: Summary | None) -> FittedHistory:
    systems: list[Message] = []
    rest: list[Message] = []
    for turn, shown in zip(fit.turns, fit.shown, strict=True):
        if shown is not None:
            (systems if turn.role in SYSTEM_ROLES else rest).extend(messages_from_turn(turn, shown))
    tokens = fit.total()
    notes: dict[str, Number] = {"tokens": tokens, "room": room}
    if summary is not None and fit.summary is not summary:
        notes["summary"] = summary.why or "not needed, or too long"
    if lost := fit.lost_citations():
        notes["carried"] = len(lost)
    return FittedHistory(
        messages=(*systems, *fit.lead_messages(), *rest),
        shown=tuple(fit.shown),
        tokens=tokens,
        summary=fit.summary,
        ledger=fit.ledger,
        wants=fit.recent_tokens(),
        originals=fit.originals,
        trace=StageTrace(
            stage="history",
            options=repr(fit.options),
            before=len(fit.turns),
            after=sum(shown is not None for shown in fit.shown),
            decisions=tuple(fit.decisions()),
            notes=notes,
        ),
    )
