"""The conversation in its zone (SPEC W1): the newest turns, and a ledger of what is not shown.

Turns are packed as `compact` packs messages (SPEC A3): long results are shortened, then the oldest
turns leave. A summary replaces them if one helps. Pinned and system turns always stay, the last
`verbatim` ones as far as the zone has room beside the ledger. The ledger in front has identifiers,
dates, numbers, questions and sentences of what is not shown; a note carries on what it cited. Every
turn has a decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foveate.core.chat.history_fit import HistoryFit, MessageCounter, Summary, TurnCache
from foveate.core.chat.turns import SYSTEM_ROLES, Message, Turn, messages_from_turn
from foveate.core.checks import check_zone
from foveate.core.compact.plan import default_slack
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.core.types import Number, StageTrace


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
    ledger: str = "",
    live: frozenset[int] | None = None,
    memory: TurnCache | None = None,
) -> FittedHistory:
    """The conversation in at most `room` tokens, as `weigh` counts messages.

    `language`: that of the turns, by which sentences are told apart. `before[i]`: turn i as it
    was sent last. `withdrawn`: turns that may not be shown. `standing`, `ledger`: the summary
    and the ledger sent with `before`; `summary`: a new one, of more turns. `live`: markers with
    the same meaning as then. `memory` is for one query. Raises `BudgetTooSmall`.
    """
    fit = HistoryFit(
        turns=turns,
        recent=options.verbatim,
        weigh=weigh,
        query=query,
        live=live,
        ledgers=options.ledger,
        language=language,
        memory=TurnCache() if memory is None else memory,
    )
    fit.revoke(withdrawn)
    fit.resume(before, standing, ledger)
    if fit.total() > room or (withdrawn and fit.ledger):
        _tighten(fit, room, options, summary)
    return _build_fitted_history(fit, options, room, summary)


def _tighten(fit: HistoryFit, room: int, options: History, summary: Summary | None) -> None:
    whole = fit.total()
    if summary is not None and summary.text and fit.summarise(summary, room):
        return
    freed = default_slack(room) if options.slack is None else room * options.slack // 100
    target = room - freed
    if fit.pack(room, target, options.verbatim):
        return
    if fit.summary is not None:
        fit.remove_summary()
        if fit.pack(room, target, options.verbatim):
            return
    fit.quotes = False
    if fit.pack(room, target, options.verbatim):
        return
    fit.most = 1
    if not fit.pack(room, target, options.verbatim):
        fit.keep_least()
        if (needed := fit.total()) > room:
            what = "the conversation (what is pinned or was cited, and the last turn)"
            raise BudgetTooSmall(room, min(needed, whole), what=what)
    fit.limit_citations(target if fit.total() <= target else room)


def _build_fitted_history(
    fit: HistoryFit, options: History, room: int, summary: Summary | None
) -> FittedHistory:
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
            options=repr(options),
            before=len(fit.turns),
            after=sum(shown is not None for shown in fit.shown),
            decisions=tuple(fit.decisions()),
            notes=notes,
        ),
    )
