"""Where the tokens of a request go: by zone, tool, source and turn, what repeats, what changed."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from foveate import plugins
from foveate.core.compact.entries import Entry
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, name_in_errors
from foveate.core.json_text import compact_json, join_lines
from foveate.core.typed import check_arguments
from foveate.pipeline.compact import DEFAULT_TOKENIZER, token_counter
from foveate.pipeline.compact_json import check_tools

_LISTS = ("messages", "input", "contents")
_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
_ZONES = ("tools", "system", "user", "assistant", "calls", "results", "other")
_SPEAKERS = {"tool": "user", "system": "system", "user": "user", "assistant": "assistant"}
_FRONT = ("the tools changed", "the system prompt changed")
"""What providers cache before all messages, in their order, and why the prefix ends there."""
_SHOWN = 60
"""Characters of a text by which it is named."""
_LEAST_REPEATED = 16
"""Tokens; a shorter text that comes again costs too little to be named."""

Request: TypeAlias = Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A list of messages, or the body that a provider got, with its tools and system prompt."""
_Costs: TypeAlias = list[tuple[int, int]]
"""Places of messages, each with the tokens of what stands there."""


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

    `by_source`: what each call of a tool, with its arguments, brought, the most expensive first.
    `by_turn`: what stands before the first turn, tools and system prompt included, then each turn,
    which begins where the user speaks. `repeats`: texts that stand in several messages, and what
    the copies cost.
    """

    total: int
    by_zone: Mapping[str, int]
    by_tool: Mapping[str, int]
    by_source: tuple[Part, ...]
    by_turn: tuple[Part, ...]
    repeats: tuple[Part, ...]
    prefix: PrefixBreak | None = None


@check_arguments()
def bill(
    request: Request,
    *,
    before: Request | None = None,
    tokenizer: str | Tokenizer = DEFAULT_TOKENIZER,
    form: str | None = None,
) -> Bill:
    """The bill of a request; `before` is the request before it, whose prefix may be cached.

    A bare list before has the tools and the system prompt of the request. Takes the same lists as
    `foveate.compact`, and raises as it does.

    >>> said = [{"role": "user", "content": "Is boat_77 free?"}]
    >>> bill(said).by_zone["user"], bill({"messages": said, "system": "Be brief."}).total
    (6, 9)
    """
    tools, system, sent = parse_request(request)
    count = token_counter(plugins.tokenizer(tokenizer))
    measured = MeasuredList(entries=message_form(sent, form).parse(sent), count=count)
    front = [sum(map(count, map(compact_json, tools))), count(system)]
    zones = Counter(tools=front[0], system=front[1])
    by_tool: Counter[str] = Counter()
    turns: list[tuple[str, _Costs]] = [("", [(0, sum(front))])]
    sources, texts = defaultdict[str, _Costs](list), defaultdict[str, _Costs](list)
    calls: defaultdict[str, deque[str]] = defaultdict(deque)
    spoke = False
    for entry in measured.entries:
        place, said = entry.index + 1, count(entry.said)
        if entry.role == "user" and not spoke:
            turns.append((entry.said, []))
        spoke = entry.role == "user"
        turns[-1][1].append((place, measured.tokens[entry.index]))
        zones[_SPEAKERS.get(entry.role, "other")] += said
        zones["other"] += entry.extra + sum(map(count, entry.others))
        texts[entry.said].append((place, said))
        for result in entry.results:
            name, tokens = result.name or "unknown", measured.result_tokens(result)
            waiting = calls[result.call_id]
            sources[waiting.popleft() if waiting else name].append((place, tokens))
            zones["results"] += tokens
            by_tool[name] += tokens
            texts[result.text].append((place, count(result.text)))
        for call in entry.calls:
            calls[call.id].append(f"{call.name} {call.arguments}")
            zones["calls"] += count(call.arguments)
            by_tool[call.name] += count(call.arguments)
    prefix = None
    if before is not None:
        with name_in_errors("before"):
            tools_then, system_then, old = parse_request(before, (tools, system))
            last: list[Any] = [compact_json(tools_then), system_then]
            last += map(_as_cached, message_form(old, form).parse(old), old)
        now = [compact_json(tools), system, *map(_as_cached, measured.entries, sent)]
        prefix = _prefix_break(now, last, [*front, *measured.tokens.values()])
    return Bill(
        total=zones.total(),
        by_zone={zone: zones[zone] for zone in _ZONES},
        by_tool=dict(sorted(by_tool.items(), key=lambda item: (-item[1], item[0]))),
        by_source=_most_expensive(_part(*one) for one in sources.items()),
        by_turn=tuple(_part(*one) for one in turns),
        repeats=_most_expensive(
            _part(text, same, free=same[0][1])
            for text, same in texts.items()
            if len(same) > 1 and same[0][1] >= _LEAST_REPEATED
        ),
        prefix=prefix,
    )


def parse_request(
    value: Any, front: tuple[Any, str] = ((), "")
) -> tuple[Any, str, list[Mapping[str, Any]]]:
    """The tools, the system prompt and the messages of a request; a bare list has those of `front`.

    Raises `BadInput` where it is neither a list of messages nor a body with one.
    """
    if not isinstance(value, Mapping):
        return *front, check_messages(value)
    key = next((key for key in _LISTS if key in value), None)
    if key is None:
        raise BadInput("give a list of messages, or an object with messages")
    found = value[key]
    if key == "input" and isinstance(found, str):
        found = [{"role": "user", "content": found}]
    system = next((value[key] for key in _SYSTEMS if value.get(key)), "")
    return check_tools(value.get("tools")), _system_text(system), check_messages(found)


def _system_text(value: Any) -> str:
    """The texts of a system prompt, which may be a list of blocks, or a content of Gemini's."""
    parts = value.get("parts", [value]) if isinstance(value, Mapping) else value
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list | tuple):
        raise BadInput("must be a text or a list of parts", field="system")
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    pairs = zip(texts, parts, strict=True)
    return join_lines(*(t if isinstance(t, str) else compact_json(part) for t, part in pairs))


def _part(text: str, costs: _Costs, *, free: int = 0) -> Part:
    words = " ".join(text[: 4 * _SHOWN].split())
    whole = len(words) <= _SHOWN and len(text) <= 4 * _SHOWN
    return Part(
        places=tuple(dict.fromkeys(place for place, _ in costs if place)),
        tokens=sum(tokens for _, tokens in costs) - free,
        begins=words if whole else f"{words[:_SHOWN].rstrip()} …",
    )


def _most_expensive(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.tokens, part.places)))


def _as_cached(entry: Entry, message: Any) -> tuple[Entry, Any]:
    """What a cache compares of a message: what it says, for a caller moves `cache_control` on."""
    media = entry.extra or any(result.extra for result in entry.results)
    return entry, message if media else None


def _prefix_break(now: list[Any], old: list[Any], tokens: list[int]) -> PrefixBreak | None:
    """Where a request stops being an extension of the last one; None where it is one.

    Of both: the tools, the system prompt and the messages. `tokens`: of each of them now.
    """
    pairs = enumerate(zip(old, now, strict=False))
    at = next((n for n, (one, other) in pairs if one != other), min(len(old), len(now)))
    if at == len(old):
        return None
    gone = "messages at the end are gone" if at == len(now) else "another message stands here"
    return PrefixBreak(
        message=max(at + 1 - len(_FRONT), 0),
        reused=sum(tokens[:at]),
        resent=sum(tokens[at:]),
        why=_FRONT[at] if at < len(_FRONT) else gone,
    )
