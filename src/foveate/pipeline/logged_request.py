"""A request to a model as a program logged it, in the spelling of any provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foveate.core.compact.forms import check_messages
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json, join_lines
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
