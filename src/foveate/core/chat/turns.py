"""A conversation as values: messages in the form of their provider, and what they cited.

`Message` is what is sent: a message that the readers of `core/compact/` read, and texts in front of
it. `role_and_text` defines what is counted of a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from foveate.core.compact.entries import Entry, Json, ToolCall, group_entries, refuse
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.contracts import Tokenizer
from foveate.core.json_text import compact_json, join_lines
from foveate.core.zones import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCitation:
    """Evidence that a turn cited: where it stands, and the words. `marker` 0: not numbered.

    `sequence` and `content_hash`: those of the chunk as it was cited.
    """

    chunk_id: str
    source: str
    quote: str = ""
    marker: int = 0
    document_id: str = ""
    sequence: int = 0
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation, in any provider's form, and what the program knows of it.

    `pinned`: it stays in full, whatever the budget. `cited`: the evidence that it cites. `derived`:
    it was made of turns that left, as a ledger or a summary is.
    """

    message: Mapping[str, Any]
    pinned: bool = False
    cited: tuple[TurnCitation, ...] = ()
    derived: bool = False


def turns_from_messages(turns: Iterable[Turn | Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Turns, and messages of any form as turns; raises `BadInput` naming the one that is wrong."""
    known = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]
    check_messages([turn.message for turn in known])
    return tuple(known)


class Front(NamedTuple):
    """A text in front of a message, in the pieces in which it grew.

    `parts`: it is a JSON list of content parts.
    """

    segments: tuple[str, ...]
    parts: bool = False

    @property
    def text(self) -> str:
        """The whole of it."""
        return "".join(self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message to be sent: what it says, as its `form` spells it, behind what is in `front`."""

    entry: Entry
    source: Json
    form: str = "openai"
    front: tuple[Front, ...] = ()

    @property
    def role(self) -> str:
        """The role that it is sent with."""
        return str(self.source.get("role") or self.entry.role)

    @property
    def text(self) -> str:
        """What is counted of it beside its role."""
        return "\n\n".join(
            filter(None, [*(one.text for one in self.front), entry_text(self.entry)])
        )

    @property
    def media(self) -> int:
        """Tokens of images and files in it."""
        return self.entry.extra + sum(result.extra for result in self.entry.results)


def plain_message(role: str, text: str) -> Message:
    """A message that is a text alone, which is the same in every form that is written."""
    entry = Entry(index=-1, role="user" if role == "user" else "system", said=text)
    return Message(entry=entry, source={"role": role, "content": text})


def read_turns(turns: Sequence[Turn]) -> list[Message]:
    """The turns as messages; raises `BadInput` naming the one that cannot be used."""
    messages = [turn.message for turn in turns]
    form = message_form(messages)
    entries = form.parse(messages)
    pairs = zip(entries, messages, strict=True)
    return [Message(entry=entry, source=message, form=form.name) for entry, message in pairs]


def check_pairs(messages: Iterable[Message], *, said_next: bool = True) -> None:
    """Raise `BadInput` for half of a call; `said_next`: a person speaks behind the messages."""
    entries = [message.entry for message in messages]
    known = [*entries, Entry(index=len(entries), role="user", said="?")][: len(entries) + said_next]
    for group in group_entries(known):
        if group.orphan:
            what = "is half of a call; give every call its result, and every result its call"
            raise refuse(group.entries[0].index, what)


def entry_text(entry: Entry) -> str:
    """What is counted of an entry beside its role, a line each."""
    calls = (compact_json(tool_call_to_json(call)) for call in entry.calls)
    results = (t for r in entry.results for t in (r.text, r.call_id, r.beside))
    return join_lines(entry.said, *calls, *results, *entry.others)


def tool_call_to_json(call: ToolCall) -> dict[str, Any]:
    """A call as OpenAI spells it."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def role_and_text(message: Message) -> tuple[str, str]:
    """What of a message is counted, as (role, text)."""
    return message.role, message.text


def count_tokens(messages: Iterable[Message], budget: Budget, tokenizer: Tokenizer) -> int:
    """Tokens of messages, the chat format's own included; those of the reply's start are not."""
    count, total = tokenizer.count, 0
    for message in messages:
        total += budget.per_message + count(message.role) + count(message.text) + message.media
    return total


def put_in_front(messages: Sequence[Message], front: Sequence[Front]) -> list[Message]:
    """The messages with texts in front of the first that is no instruction, in the user's message.

    They are a message of their own where the model speaks first.
    """
    if not front:
        return list(messages)
    at = next((n for n, m in enumerate(messages) if m.entry.role != "system"), len(messages))
    first = messages[at] if at < len(messages) else None
    joined = first is not None and first.entry.role == "user"
    base = first if joined and first is not None else plain_message("user", "")
    return [
        *messages[:at],
        replace(base, front=(*front, *base.front)),
        *messages[at + joined :],
    ]


def asked_before(turns: Sequence[Turn]) -> Iterator[tuple[str, str]]:
    """What people said, as (role, text)."""
    for turn, message in zip(turns, read_turns(turns), strict=True):
        if message.entry.role == "user" and not turn.derived:
            yield "user", message.entry.said
