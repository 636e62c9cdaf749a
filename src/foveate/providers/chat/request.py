"""A chat request, and checks of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from foveate.core.errors import BadInput, BadOption
from foveate.core.json_text import compact_json, join_lines
from foveate.ports import Message, Reply, text_from_content


def parse_text(value: Any) -> str:
    r"""The text; empty for None. Raises `TypeError` for what is something else.

    >>> parse_text("nine"), parse_text(None), parse_text("nine \ud800")
    ('nine', '', 'nine \ufffd')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"a text is of type {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def parse_count(value: Any) -> int | None:
    """How many tokens; None for what is no whole number, or below 0.

    >>> parse_count(3), parse_count("3"), parse_count(-1), parse_count(True)
    (3, None, None, None)
    """
    return value if type(value) is int and value >= 0 else None


TOOL_CALLS = "tool_calls"
"""A provider that takes this is sent calls, results and the developer's role as they are."""
TOOL_ROLE, DEVELOPER_ROLE = "tool", "developer"


def calls_to_json(message: Mapping[str, Any]) -> list[str]:
    """The calls of a message, each as the JSON that is sent."""
    return [compact_json(call) for call in message.get(TOOL_CALLS) or ()]


def tools_as_text(messages: Sequence[Message]) -> list[Message]:
    r"""The messages with calls and results as texts of roles that every model knows.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "gauge", "arguments": "{}"}}
    >>> said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    >>> said.append({"role": "tool", "tool_call_id": "c1", "content": "2.4 bar"})
    >>> [message["role"] for message in tools_as_text(said)], tools_as_text(said)[1]["content"]
    (['assistant', 'user'], 'c1:\n2.4 bar')
    """
    found: list[Message] = []
    before = ""
    for message in messages:
        role, more = message["role"], cast("Mapping[str, Any]", message)
        if role == TOOL_ROLE:
            said = f"{more['tool_call_id']}:\n{text_from_content(message['content'])}"
            if before == TOOL_ROLE:
                said = f"{found.pop()['content']}\n\n{said}"
            found.append({"role": "user", "content": said})
        elif calls := calls_to_json(more):
            said = join_lines(text_from_content(message["content"]), *calls)
            found.append({"role": "assistant", "content": said})
        elif role == DEVELOPER_ROLE:
            found.append({"role": "system", "content": message["content"]})
        else:
            found.append(message)
        before = role
    return found


MAX_SECONDS = 86_400.0
"""Seconds: a day. No call is given more, and clocks hold it."""
ROLES = ("system", "user", "assistant")
TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """The messages and what may be written; `forced`: the very text that shall be, to score it.

    `timeout`: seconds of all attempts together.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    stop: tuple[str, ...]
    timeout: float = 120.0
    forced: str = ""

    @property
    def max_characters(self) -> int:
        """Characters that an answer of `max_tokens` cannot exceed, runs of spaces included."""
        return 128 * self.max_tokens + 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredReply(Reply):
    """A text that was forced. `logprobs`: one a token; none if they are unavailable."""

    logprobs: tuple[float, ...] = field(default=())


def check_request(
    messages: Sequence[Message], max_tokens: int, temperature: float, timeout: float
) -> None:
    """Raise `BadInput` or `BadOption` for what no model could be asked."""
    check_messages(messages)
    if max_tokens < 1 or not 0 <= temperature <= 2:
        raise BadOption(
            f"max_tokens is {max_tokens}, temperature {temperature}; give at least one token, and "
            "a temperature of 0 to 2"
        )
    check_timeout(timeout)


def check_messages(messages: object) -> None:
    """Raise `BadInput` for what is no list of messages, naming the one that is wrong."""
    if not messages or isinstance(messages, Mapping) or not isinstance(messages, Sequence):
        raise BadInput("no messages; give a list, at least the user's", field="messages")
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping) or not _is_message(message):
            raise BadInput(
                f"message {number} needs a role ({', '.join(ROLES)}) and a content: a text, or a "
                "list of parts with a type",
                field="messages",
            )


def _is_message(message: Mapping[str, Any]) -> bool:
    role, content = message.get("role"), message.get("content")
    if role == TOOL_ROLE and not isinstance(message.get("tool_call_id"), str):
        return False
    silent = content is None and role == "assistant" and bool(message.get(TOOL_CALLS))
    return role in (*ROLES, DEVELOPER_ROLE, TOOL_ROLE) and (
        silent or isinstance(content, str) or _is_part_list(content)
    )


def _is_part_list(content: object) -> bool:
    return (
        isinstance(content, Sequence)
        and bool(content)
        and all(isinstance(p, Mapping) and isinstance(p.get("type"), str) for p in content)
        and all(isinstance(p.get("text"), str) for p in content if p["type"] == TEXT)
    )


def adapt_messages(messages: Sequence[Message], takes: frozenset[str]) -> tuple[Message, ...]:
    """The messages for a model that takes parts of these types; others become text if they are.

    So do calls of tools and their results, unless it takes `tool_calls`. Raises `BadInput` for
    parts that are no text and that the model does not take.

    >>> adapt_messages(
    ...     [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}], frozenset()
    ... )
    ({'role': 'user', 'content': 'Hi.'},)
    """
    found: list[Message] = []
    for number, message in enumerate(messages, 1):
        content = message["content"]
        kinds = set() if isinstance(content, str) else {part["type"] for part in content or ()}
        if strange := sorted(kinds - takes - {TEXT}):
            instead = "take another format, such as openai-parts or numbered"
            if any(kind.startswith("tool_") for kind in strange):
                instead = "give calls of tools in OpenAI's form, as .openai() does"
            raise BadInput(
                f"message {number} has parts that this model does not take ({', '.join(strange)}); "
                f"{instead}",
                field="messages",
            )
        flat = bool(kinds) and TEXT not in takes
        found.append({**message, "content": text_from_content(content)} if flat else message)
    return tuple(found if TOOL_CALLS in takes else tools_as_text(found))


def check_timeout(seconds: float) -> None:
    """Raise `BadOption` for a time that is none, or that never ends.

    >>> check_timeout(120.0)
    """
    if not 0 < seconds <= MAX_SECONDS:  # no number is not in it, nor is one without end
        raise BadOption(f"timeout is {seconds}; give seconds above 0, at most {MAX_SECONDS:.0f}")
