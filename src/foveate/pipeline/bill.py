"""Where the tokens of a request go: by zone, tool, source and turn, what repeats, what changed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate import plugins
from foveate.core.arguments import check_arguments
from foveate.core.compact.entries import Entry, Result
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, join_lines
from foveate.pipeline.compact import DEFAULT_TOKENIZER, token_counter
from foveate.pipeline.compact_json import check_tools

_LISTS = ("messages", "input", "contents")
_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """The messages, tools and system prompt of a request; None where the log does not say."""

    messages: list[Mapping[str, Any]]
    tools: tuple[Mapping[str, Any], ...] | None = None
    system: str | None = None


def parse_request(value: Any) -> LoggedRequest:
    """A logged request: a bare list of messages, or the body that was sent.

    Raises `BadInput` where it is neither.
    """
    if isinstance(value, LoggedRequest):
        return value
    if not isinstance(value, Mapping):
        return LoggedRequest(messages=check_messages(value))
    key = next((key for key in _LISTS if key in value), None)
    if key is None:
        raise BadInput("give a list of messages, or an object with messages")
    found = value[key]
    if key == "input" and isinstance(found, str):
        found = [{"role": "user", "content": found}]
    system = next((value[key] for key in _SYSTEMS if value.get(key)), "")
    return LoggedRequest(
        messages=check_messages(found),
        tools=check_tools(value.get("tools")),
        system=_system_text(system),
    )


def _system_text(value: Any) -> str:
    """The texts of a system prompt, which may be a list of blocks, or a content of Gemini's."""
    parts = value.get("parts", [value]) if isinstance(value, Mapping) else value
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list | tuple):
        raise BadInput("must be a text or a list of parts", field="system")
    return join_lines(*map(_part_text, parts))


def _part_text(part: Any) -> str:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else compact_json(part)


ZONES: tuple[str, ...] = ("tools", "system", "user", "assistant", "calls", "results", "other")
FRONT = ("the tools changed", "the system prompt changed")
"""What providers cache before all messages, in their order, and why the prefix ends there."""
_DEPTH = 6
"""Levels of a request down to a block within a tool's result."""
SHOWN = 60
"""Characters of a text by which it is named."""
LEAST_REPEATED = 16
"""Tokens; a shorter text that comes again costs too little to be named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some of the messages (places from 1), the tokens of theirs, and how their text begins."""

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

    `by_message` has one figure a message, in order. `by_source`: what each call of a tool, with
    its arguments, brought, the most expensive first. `by_turn`: what stands before the first turn,
    tools and system prompt included, then each turn, which begins where the user speaks. `repeats`:
    texts that stand in several messages, and what the copies cost.
    """

    total: int
    by_zone: Mapping[str, int]
    by_tool: Mapping[str, int]
    by_source: tuple[Part, ...]
    by_turn: tuple[Part, ...]
    by_message: tuple[int, ...]
    repeats: tuple[Part, ...]
    prefix: PrefixBreak | None = None


@check_arguments()
def bill(
    request: LoggedRequest | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    before: LoggedRequest | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    tokenizer: str | Tokenizer = DEFAULT_TOKENIZER,
    form: str | None = None,
) -> Bill:
    """The bill of a request; `before` is the request before it, whose prefix may be cached.

    Both are a list of messages, or the body that a provider got, with its tools and system prompt.
    A bare list before has those of the request. Takes the same lists as `foveate.compact`, and
    raises as it does.

    >>> said = [{"role": "user", "content": "Is boat_77 free?"}]
    >>> bill(said).by_zone["user"], bill({"messages": said, "system": "Be brief."}).total
    (6, 9)
    """
    sent = parse_request(request)
    counter = plugins.tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    entries = message_form(sent.messages, form).parse(sent.messages)
    measured = MeasuredList(entries=entries, count=token_counter(counter))
    zones = dict.fromkeys(ZONES, 0)
    front = [sum(map(measured.count, map(compact_json, sent.tools or ())))]
    front.append(measured.count(sent.system or ""))
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
        by_source=_most_expensive(_sources(measured)),
        by_turn=tuple(_turns(measured, sum(front))),
        by_message=tuple(measured.tokens.values()),
        repeats=_most_expensive(_repeats(measured)),
        prefix=None
        if before is None
        else _prefix_break(sent, _parse_before(before), [*front, *measured.tokens.values()]),
    )


def _parse_before(value: Any) -> LoggedRequest:
    """The request before; an error says that it is about this one."""
    try:
        return parse_request(value)
    except BadInput as error:
        what = str(error).removeprefix(f"field {error.field!r}: ")
        raise BadInput(what, field="before") from None


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


def _sources(measured: MeasuredList) -> Iterator[Part]:
    """What each call of a tool brought; the same call again is the same source."""
    calls: defaultdict[str, deque[str]] = defaultdict(deque)
    found: defaultdict[str, list[tuple[int, Result]]] = defaultdict(list)
    for entry in measured.entries:
        for result in entry.results:
            waiting = calls[result.call_id]
            source = waiting.popleft() if waiting else result.name or "unknown"
            found[source].append((entry.index + 1, result))
        for call in entry.calls:
            calls[call.id].append(f"{call.name} {call.arguments}")
    for source, results in found.items():
        tokens = sum(measured.result_tokens(result) for _, result in results)
        yield _part([place for place, _ in results], tokens, source)


def _turns(measured: MeasuredList, front: int) -> Iterator[Part]:
    """What stands before the first turn, then each turn; `front`: tokens before all messages."""
    places, tokens, begins = list[int](), front, ""
    spoke = False
    for entry in measured.entries:
        if entry.role == "user" and not spoke:
            yield _part(places, tokens, begins)
            places, tokens, begins = [], 0, entry.said
        spoke = entry.role == "user"
        places.append(entry.index + 1)
        tokens += measured.tokens[entry.index]
    yield _part(places, tokens, begins)


def _repeats(measured: MeasuredList) -> Iterator[Part]:
    """Texts that come again."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for entry in measured.entries:
        for text in (entry.said, *(result.text for result in entry.results)):
            places[text].append(entry.index + 1)
    for text, where in places.items():
        if len(where) > 1 and measured.count(text) >= LEAST_REPEATED:
            yield _part(where, measured.count(text) * (len(where) - 1), text)


def _part(places: Iterable[int], tokens: int, text: str) -> Part:
    words = " ".join(text[: 4 * SHOWN].split())
    whole = len(words) <= SHOWN and len(text) <= 4 * SHOWN
    begins = words if whole else f"{words[:SHOWN].rstrip()} …"
    return Part(places=tuple(dict.fromkeys(places)), tokens=tokens, begins=begins)


def _most_expensive(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.tokens, part.places)))


def _prefix_break(
    sent: LoggedRequest, last: LoggedRequest, tokens: Sequence[int]
) -> PrefixBreak | None:
    """Where a request stops being an extension of the last one; None where it is one.

    `tokens` are those of its tools, its system prompt, and each of its messages.
    """
    now = _without_breakpoints([sent.tools or (), sent.system or "", *sent.messages])
    before = _without_breakpoints(
        [
            now[0] if last.tools is None else last.tools,
            now[1] if last.system is None else last.system,
            *last.messages,
        ]
    )
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


def _without_breakpoints(value: Any, depth: int = _DEPTH) -> Any:
    """The value as it is cached: a caller moves `cache_control` on with each request.

    It needs a block to stand on, so a single block of text is the same as the text.
    """
    if isinstance(value, Mapping) and depth:
        rest = {key: _without_breakpoints(entry, depth - 1) for key, entry in value.items()}
        rest.pop("cache_control", None)
        return rest
    if isinstance(value, list | tuple) and depth:
        found = [_without_breakpoints(entry, depth - 1) for entry in value]
        text = found[0].get("text") if len(found) == 1 and isinstance(found[0], dict) else None
        alone = isinstance(text, str) and found[0] == {"type": "text", "text": text}
        return text if alone else found
    return value


def _difference(before: Sequence[Any], after: Sequence[Any], at: int) -> str:
    spelled = compact_json(before[at])
    if any(compact_json(message) == spelled for message in after[at + 1 :]):
        return "a message was put in before it"
    if any(compact_json(message) == compact_json(after[at]) for message in before[at + 1 :]):
        return "messages before it are gone"
    keys = sorted(before[at].keys() | after[at].keys())
    changed = [key for key in keys if before[at].get(key) != after[at].get(key)]
    return f"it changed in {', '.join(changed)}"
