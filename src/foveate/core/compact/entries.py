"""A message list as entries: what each says, calls and answers, and which belong together.

Each provider's form has one reader, which `compact` and conversations share. The list itself is
never changed: an entry that stays is given back as the object that came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from foveate.core.checks import check_string
from foveate.core.errors import BadInput

EntryRole: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]
Speaker: TypeAlias = Literal["user", "assistant", "tool"]
Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool; `arguments` is the JSON text that the model wrote."""

    id: str
    name: str
    arguments: str = "{}"

    def __post_init__(self) -> None:
        for name in ("id", "name", "arguments"):
            check_string(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool gave back: the texts of it, in block `slot` of its entry (-1: the entry itself).

    `extra`: tokens of what is no text, such as images, and `kinds`: what that is. `rest`: JSON of
    its keys that nobody here knows. `speaker`: who said it, where it is a text that may be
    shortened as a result is. `cites`: places in the text that stay in view as long as any of it
    does.
    """

    call_id: str
    text: str
    name: str = ""
    slot: int = -1
    extra: int = 0
    kinds: tuple[str, ...] = ()
    rest: str = ""
    error: bool = False
    speaker: Speaker = "tool"
    cites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message or item of the list.

    `said`: the words of a person or a model. `others`: JSON of what is neither text, call nor
    result; it is counted and carried. `extra`: tokens of images. `kinds`: names of what is carried
    without being understood. `carried`: it stays as long as there is room, for it stands for more
    than it shows (a compaction item, an unknown role). `opens`: it belongs to the entry after it.
    """

    index: int
    role: EntryRole
    said: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[Result, ...] = ()
    others: tuple[str, ...] = ()
    extra: int = 0
    kinds: tuple[str, ...] = ()
    carried: bool = False
    opens: bool = False


Reader: TypeAlias = Callable[[int, Json, Mapping[str, str]], Entry]
"""Reads the message at a place, given the names of all calls before it, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageForm:
    """One provider's spelling of a message list.

    `read` raises `BadInput` for a message that cannot be used. `rewrite` is a message with other
    texts in some of its result slots. `note` is a message of the user with this text.
    """

    name: str
    read: Reader
    rewrite: Callable[[Json, Mapping[int, str]], dict[str, Any]]
    note: Callable[[str], dict[str, Any]]

    def parse(self, messages: Sequence[Json]) -> list[Entry]:
        """The entries of a list; raises `BadInput` naming the message that is wrong."""
        return read_entries(self.read, enumerate(messages))


@dataclass(slots=True)
class Group:
    """Entries that stay or leave together: one, or calls with their results."""

    entries: list[Entry] = field(default_factory=list)
    orphan: bool = False

    @property
    def first(self) -> int:
        """The place of its first entry."""
        return self.entries[0].index


def group_entries(entries: Iterable[Entry]) -> list[Group]:
    """The entries in groups, in order; a group ends when every call in it has its result.

    A group with a result that no call before it waits for, or with a call that gets no result
    before somebody else speaks, has `orphan` set. Calls that wait at the very end are no orphans.
    """
    done: list[Group] = []
    group = Group()
    waiting: list[str] = []
    for entry in entries:
        if waiting and not entry.results and entry.role != "assistant":
            group.orphan = True
            done.append(group)
            group, waiting = Group(), []
        for result in entry.results:
            if result.call_id in waiting:
                waiting.remove(result.call_id)
            else:
                group.orphan = True
        group.entries.append(entry)
        waiting += [call.id for call in entry.calls]
        if not waiting and not entry.opens:
            done.append(group)
            group = Group()
    return [*done, group] if group.entries else done


def read_entries(read: Reader, messages: Iterable[tuple[int, Json]]) -> list[Entry]:
    """The entry of each message with its place; raises `BadInput` naming the message."""
    names: dict[str, str] = {}
    found = []
    for index, message in messages:
        try:
            entry = read(index, message, names)
        except BadInput as error:
            raise refuse(index, error) from None
        names.update((call.id, call.name) for call in entry.calls)
        found.append(entry)
    return found


def refuse(index: int, why: BadInput | str) -> BadInput:
    """The error that names the message which cannot be used."""
    what = str(why).removeprefix("field 'messages': ")
    colon = ":" if what.startswith("field ") else ""
    return BadInput(f"message {index + 1}{colon} {what}", field="messages")


def user_note(text: str) -> dict[str, Any]:
    """A message of the user, as OpenAI's Chat and Anthropic's Messages spell it."""
    return {"role": "user", "content": text}
