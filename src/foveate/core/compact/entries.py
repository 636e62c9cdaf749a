"""A message list as entries: what each says, calls and answers, and which belong together.

Each provider's form has one reader, which `compact` and conversations share. The list itself is
never changed: an entry that stays is given back as the object that came.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, TypeAlias

from foveate.core.checks import check_string
from foveate.core.errors import BadInput
from foveate.core.text.shapes.gaps import ELISION

EntryRole: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]
Speaker: TypeAlias = Literal["user", "assistant", "tool"]
Json: TypeAlias = Mapping[str, Any]

BRIDGE = ELISION.strip()
"""What the other side says between two messages whose answers left."""


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
    its unknown keys. `beside`: JSON of what its text parts hold beside their texts, and (`twice`)
    texts that say the same again, which leaves with these.
    """

    call_id: str
    text: str
    name: str = ""
    slot: int = -1
    extra: int = 0
    kinds: tuple[str, ...] = ()
    rest: str = ""
    beside: str = ""
    twice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message or item of the list.

    `said`: the words of a person or a model. `others`: JSON of what is neither text, call nor
    result; it is counted and carried. `extra`: tokens of images. `kinds`: names of what is carried
    without being understood. `carried`: it stays as long as there is room, for it stands for more
    than it shows (a compaction item, an unknown role or part). `opens`: it belongs to the entry
    after it.
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
    texts in some of its result slots. `note` is a message of the user or the model with this text.
    """

    name: str
    read: Reader
    rewrite: Callable[[Json, Mapping[int, str]], dict[str, Any]]
    note: Callable[[str, EntryRole], dict[str, Any]]

    def parse(self, messages: Sequence[Json]) -> list[Entry]:
        """The entries of a list; raises `BadInput` naming the message that is wrong."""
        return read_entries(self.read, enumerate(messages))


@dataclass(slots=True)
class Group:
    """Entries that stay or leave together: one, or calls with their results.

    `orphan`: half of a call is among them, so that a provider refuses them.
    """

    entries: list[Entry] = field(default_factory=list)
    orphan: bool = False


def group_entries(entries: Sequence[Entry]) -> list[Group]:
    """The entries in groups, in order; a group ends when every call in it has its result.

    An entry with half of a call is an orphan: with a result that no call before it waits for, or
    a call that gets no result before somebody else speaks. Calls of the last step may still wait.
    So is reasoning behind which the model neither speaks nor calls.
    An orphan between a call and its result is a group of its own, in front of theirs.
    """
    ends, orphans, paired = _pair_calls(entries)
    done: list[Group] = []
    group, end = Group(), -1
    for n, entry in enumerate(entries):
        opened = bool(group.entries) and group.entries[-1].opens
        if n in orphans and n not in paired and not opened:
            done.append(Group([entry], orphan=True))
            continue
        group.entries.append(entry)
        group.orphan |= n in orphans
        end = max(end, ends[n])
        if n >= end and not entry.opens:
            done.append(group)
            group = Group()
    return [*done, group] if group.entries else done


def _pair_calls(entries: Sequence[Entry]) -> tuple[list[int], set[int], set[int]]:
    """Each entry's last result of its calls; the entries with a half, and those with a pair.

    All by place. A call that may still wait is a pair with whatever comes at the end.
    """
    ends = list(range(len(entries)))
    orphans, paired = _dangling(entries), set[int]()
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for n, entry in enumerate(entries):
        if not entry.results and entry.role != "assistant":
            orphans.update(chain.from_iterable(waiting.values()))
            waiting.clear()
        for result in entry.results:
            if places := waiting.get(result.call_id):
                place = places.popleft()
                ends[place] = n
                paired |= {n, place}
            else:
                orphans.add(n)
        for call in entry.calls:
            waiting[call.id].append(n)
    step = _last_step(entries)
    for place in chain.from_iterable(waiting.values()):
        if place < step:
            orphans.add(place)
        else:
            ends[place] = len(entries) - 1
            paired.add(place)
    return ends, orphans, paired


def _dangling(entries: Sequence[Entry]) -> set[int]:
    """The entries that belong to what the model says next, where it says nothing."""
    found, spoken = set[int](), False
    for n in range(len(entries) - 1, -1, -1):
        if entries[n].opens and not spoken:
            found.add(n)
        elif not entries[n].opens:
            spoken = entries[n].role == "assistant"
    return found


def _last_step(entries: Sequence[Entry]) -> int:
    """The first of the entries that the model said last, whose results may stand behind them."""
    n = len(entries)
    while n and entries[n - 1].results:
        n -= 1
    while n and entries[n - 1].role == "assistant":
        n -= 1
    return n


def takes_turn(entry: Entry) -> bool:
    """Whether a person or the model speaks; calls and results of tools are nothing in between."""
    is_item = entry.role == "assistant" and entry.kinds and not entry.said
    return entry.role in ("user", "assistant") and not (entry.calls or entry.results or is_item)


def is_bridge(entry: Entry) -> bool:
    """Whether it is what stood between two messages of an earlier list."""
    return entry.said == BRIDGE and takes_turn(entry)


def missing_turns(entries: Iterable[Entry], before: EntryRole = "other") -> dict[int, EntryRole]:
    """By index, the entries before which a turn of the other side is missing, and that side.

    Strict chat templates refuse two messages of one side in a row.
    """
    found: dict[int, EntryRole] = {}
    for entry in filter(takes_turn, entries):
        if entry.role == before:
            found[entry.index] = "assistant" if before == "user" else "user"
        before = entry.role
    return found


def read_entries(read: Reader, messages: Iterable[tuple[int, Json]]) -> list[Entry]:
    """The entry of each message with its place; raises `BadInput` naming the message."""
    names: dict[str, str] = {}
    found = []
    for index, message in messages:
        try:
            entry = read(index, message, names)
        except BadInput as error:
            raise refuse(index, error) from None
        except RecursionError:
            raise refuse(index, "is nested too deeply") from None
        names.update((call.id, call.name) for call in entry.calls)
        found.append(entry)
    return found


def refuse(index: int, why: BadInput | str) -> BadInput:
    """The error that names the message which cannot be used."""
    what = str(why).removeprefix("field 'messages': ")
    colon = ":" if what.startswith("field ") else ""
    return BadInput(f"message {index + 1}{colon} {what}", field="messages")


def plain_note(text: str, role: EntryRole) -> dict[str, Any]:
    """A message of the user or the model, as OpenAI's Chat and Anthropic's Messages spell it."""
    return {"role": role, "content": text}
