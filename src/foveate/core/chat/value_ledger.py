"""The ledger of a conversation: values and questions of the turns that are not shown in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foveate.core.chat.history_fit import HistoryFit
from foveate.core.chat.turns import Message, Turn
from foveate.core.compact.ledger import Origin, rank_values, write_ledger
from foveate.core.compact.shorten import question_sentences
from foveate.core.compact.values import Value, extract_values


def build_value_ledger(draft: HistoryFit, room: int) -> str:
    """The ledger in what the conversation leaves of `room` tokens; empty if nothing is missing.

    Turns that were withdrawn, and those that a summary stands for, are not in it.
    """
    origins = list(_origins(draft))
    if not any(origin.values for origin in origins):
        return ""
    shown = [turn for turn in draft.shown if turn is not None]
    ranked = rank_values(
        origins,
        _values(text for turn in shown for text in _texts(turn)),
        _values(turn.text for turn in draft.turns if turn.role == "user"),
        _values(call.arguments for turn in draft.turns for call in turn.calls),
        len(draft.turns),
    )
    ledger = write_ledger(
        origins,
        ranked,
        [(n, q) for n, o in enumerate(origins) if o.kind == "user" for q in _asked(draft, o)],
        (),
        left=len({origin.place for origin in origins}),
        room=room - draft.total(),
        count=_TextCounter(draft),
    )
    return ledger.text if ledger.named else ""


def holds_values(draft: HistoryFit) -> bool:
    """Whether any turn has a value of its own: a small number alone is not worth the room."""
    texts = (text for turn in draft.turns for text in _texts(turn))
    return any(value.kind != "small" for text in texts for value in extract_values(text))


class _TextCounter:
    """Counts a text as a part of a message that there is already."""

    def __init__(self, draft: HistoryFit) -> None:
        self._weigh = draft.weigh
        self._frame = draft.weigh([Message(role="user", text="")])

    def __call__(self, text: str) -> int:
        """Tokens of the text."""
        return self._weigh([Message(role="user", text=text)]) - self._frame


def _asked(draft: HistoryFit, origin: Origin) -> Sequence[str]:
    shown = draft.shown[origin.place]
    return [q for q in question_sentences(origin.text) if shown is None or q not in shown.text]


def _origins(draft: HistoryFit) -> Iterator[Origin]:
    for n, (turn, shown, fate) in enumerate(
        zip(draft.turns, draft.shown, draft.dispositions, strict=True)
    ):
        if fate not in ("shortened", "left_out"):
            continue
        said = (
            [turn.text, *(call.arguments for call in turn.calls)] if shown is None else [turn.text]
        )
        yield Origin(
            place=n,
            name="user" if turn.role == "user" else "assistant",
            text=turn.text,
            values=[value for text in said for value in extract_values(text)],
            kind="user" if turn.role == "user" else "assistant",
        )
        for call, result in zip(turn.calls, turn.results, strict=False):
            yield Origin(
                place=n,
                name=call.name,
                text=result.text,
                values=extract_values(result.text),
                kind="tool",
            )


def _texts(turn: Turn) -> Iterator[str]:
    yield turn.text
    yield from (call.arguments for call in turn.calls)
    yield from (result.text for result in turn.results)


def _values(texts: Iterator[str]) -> frozenset[str]:
    found: set[Value] = set()
    for text in texts:
        found.update(extract_values(text))
    return frozenset(value.text for value in found)
