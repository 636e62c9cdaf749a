"""Where the tokens of a message list go: by zone, tool and message, what repeats, what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate import plugins
from foveate.core.compact.entries import Entry
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.contracts import Tokenizer
from foveate.core.json_text import compact_json
from foveate.pipeline.compact import DEFAULT_TOKENIZER, token_counter

ZONES: tuple[str, ...] = ("tools", "system", "user", "assistant", "calls", "results", "other")
FRONT = ("the tools changed", "the system prompt changed")
"""What providers cache before all messages, in their order, and why the prefix ends there."""
LEAST_REPEATED = 16
"""Tokens; a shorter text that comes again costs too little to be named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A text that stands in several messages (places from 1), and what the copies cost."""

    places: tuple[int, ...]
    tokens: int
    begins: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixBreak:
    """Where a request stops being the one before: the first message that differs (from 1).

    0 where tools, or the system prompt beside the messages, differ, which stand before all of
    them. `reused`: tokens before that place, which a prefix cache has. `resent`: those from there.
    """

    message: int
    reused: int
    resent: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Tokens of contents, arguments, tools and the system prompt beside the messages.

    `by_message` has one figure a message, in order.
    """

    total: int
    by_zone: Mapping[str, int]
    by_tool: Mapping[str, int]
    by_message: tuple[int, ...]
    repeats: tuple[Repeat, ...]
    prefix: PrefixBreak | None = None


def bill(
    messages: Iterable[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    system: str = "",
    before: Iterable[Mapping[str, Any]] | None = None,
    tools_before: Sequence[Mapping[str, Any]] | None = None,
    system_before: str | None = None,
    tokenizer: str | Tokenizer = DEFAULT_TOKENIZER,
    form: str | None = None,
) -> Bill:
    """The bill of a request; `before` is the request before it, whose prefix may be cached.

    `system`: the system prompt where it stands beside the messages. `tools_before` and
    `system_before`: those of the request before; None where they are the same, or unknown. Takes
    the same lists as `foveate.compact`, and raises as it does.

    >>> said = [{"role": "user", "content": "Is boat_77 free?"}]
    >>> bill(said).by_zone["user"], bill(said).total
    (6, 6)
    """
    known = check_messages(messages)
    counter = plugins.tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    entries = message_form(known, form).parse(known)
    measured = MeasuredList(entries=entries, count=token_counter(counter))
    zones = dict.fromkeys(ZONES, 0)
    front = [sum(measured.count(compact_json(tool)) for tool in tools), measured.count(system)]
    zones["tools"], zones["system"] = front
    by_tool: dict[str, int] = {}
    for entry in measured.entries:
        for zone, tool, tokens in _items(measured, entry):
            zones[zone] += tokens
            if tool:
                by_tool[tool] = by_tool.get(tool, 0) + tokens
    return Bill(
        total=sum(zones.values()),
        by_zone=zones,
        by_tool=dict(sorted(by_tool.items(), key=lambda item: (-item[1], item[0]))),
        by_message=tuple(measured.tokens.values()),
        repeats=tuple(_repeats(measured)),
        prefix=None
        if before is None
        else _prefix_break(
            [tools, system, *known],
            [
                tools if tools_before is None else tools_before,
                system if system_before is None else system_before,
                *check_messages(before),
            ],
            [*front, *measured.tokens.values()],
        ),
    )


def _items(measured: MeasuredList, entry: Entry) -> Iterator[tuple[str, str, int]]:
    """What an entry's tokens are: zone, tool, tokens."""
    count = measured.count
    zone = entry.role if entry.role in ("system", "user", "assistant") else "other"
    yield ("user" if entry.role == "tool" else zone), "", count(entry.said)
    yield "other", "", entry.extra + sum(map(count, entry.others))
    for call in entry.calls:
        yield "calls", call.name, count(call.arguments)
    for result in entry.results:
        yield "results", result.name or "unknown", measured.result_tokens(result)


def _repeats(measured: MeasuredList) -> Iterator[Repeat]:
    """Texts that come again, the most expensive first."""
    places: dict[str, list[int]] = {}
    for entry in measured.entries:
        for text in (entry.said, *(result.text for result in entry.results)):
            places.setdefault(text, []).append(entry.index + 1)
    found = [
        Repeat(
            places=tuple(where),
            tokens=measured.count(text) * (len(where) - 1),
            begins=" ".join(text[:200].split())[:60],
        )
        for text, where in places.items()
        if len(where) > 1 and measured.count(text) >= LEAST_REPEATED
    ]
    yield from sorted(found, key=lambda repeat: (-repeat.tokens, repeat.places))


def _prefix_break(
    now: Sequence[Any], before: Sequence[Any], tokens: Sequence[int]
) -> PrefixBreak | None:
    """Where a request stops being an extension of the one before; None where it is one.

    Both are tools, the system prompt, and each message; `tokens` are those of `now`.
    """
    pairs = enumerate(zip(before, now, strict=False))
    at = next((n for n, (old, new) in pairs if compact_json(old) != compact_json(new)), None)
    if at is None:
        if len(now) >= len(before):
            return None
        at, why = len(now), "messages at the end are gone"
    elif at < len(FRONT):
        why = FRONT[at]
    else:
        why = _difference(before, now, at)
    reused = sum(tokens[:at])
    return PrefixBreak(
        message=max(at + 1 - len(FRONT), 0), reused=reused, resent=sum(tokens) - reused, why=why
    )


def _difference(before: Sequence[Any], after: Sequence[Any], at: int) -> str:
    spelled = compact_json(before[at])
    if any(compact_json(message) == spelled for message in after[at + 1 :]):
        return "a message was put in before it"
    if any(compact_json(message) == compact_json(after[at]) for message in before[at + 1 :]):
        return "messages before it are gone"
    keys = sorted(before[at].keys() | after[at].keys())
    changed = [key for key in keys if before[at].get(key) != after[at].get(key)]
    return f"it changed in {', '.join(changed)}"
