"""Checks of what a caller passes beside the candidates: the query, principals, chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from foveate.core.candidates import BestFirst, candidates_from_items
from foveate.core.errors import BadInput, BadOption
from foveate.core.types import Candidate, Context
from foveate.pipeline import tables
from foveate.pipeline.documents import records_from_items

if TYPE_CHECKING:
    from foveate.core.chat.turns import Turn

Channel: TypeAlias = Literal["text", "voice"]


def check_query(query: str) -> str:
    """The query; raises `BadInput` if it is empty or no string."""
    if not isinstance(query, str):
        message = f"must be the question as a string, not {type(query).__name__}"
        raise BadInput(f"{message}; the candidates come after it", field="query")
    if not query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    return query


def check_context(context: Context) -> None:
    """Raise `BadInput` for anything but a `Context`, its text for one."""
    if not isinstance(context, Context):
        found = type(context).__name__
        raise BadInput(f"give the Context that assemble returned, not {found}", field="context")


def check_store(store: object) -> None:
    """Raise `BadOption` for a path, or anything else that is no open store."""
    if isinstance(store, str | PathLike):
        raise BadOption(
            f"store is the path {str(store)!r}; open it first: foveate.open_store({str(store)!r})"
        )
    if "assembler" in getattr(store, "__dict__", {}):
        raise BadOption("store assembles by itself; call its assemble(), or pass its .store")


def check_principals(principals: Iterable[str]) -> tuple[str, ...]:
    """The principals; raises `BadInput` for a single string, which would be read by letters."""
    if isinstance(principals, str):
        raise BadInput(f"must be a list of strings, not {principals!r}", field="principals")
    return tuple(principals)


def parse_messages(
    messages: Iterable[Mapping[str, Any] | tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """Chat messages as (role, content); raises `BadInput` naming the message.

    A message is a mapping in OpenAI's or Anthropic's form, or a pair of strings.
    """
    messages = list(messages)
    if any(map(_has_parts, messages)):
        return role_and_text_pairs([_as_mapping(message) for message in messages])
    return tuple(_parse_message(message, number) for number, message in enumerate(messages, 1))


def _parse_message(message: object, number: int) -> tuple[str, str]:
    pair: tuple[object, ...] = ()
    if isinstance(message, Mapping):
        pair = (message.get("role"), message.get("content"))
    elif isinstance(message, tuple):
        pair = message
    match pair:
        case (str(role), str(content)):
            return role, content
    raise BadInput(
        f"message {number} must have a role and a content, both strings", field="messages"
    )


def _as_mapping(message: Mapping[str, Any] | tuple[str, str]) -> Mapping[str, Any]:
    if isinstance(message, Mapping):
        return message
    role, content = message
    return {"role": role, "content": content}


def _has_parts(message: object) -> bool:
    if not isinstance(message, Mapping):
        return False
    content = message.get("content")
    parts = isinstance(content, Sequence) and not isinstance(content, str)
    return parts or any(message.get(name) for name in ("tool_calls", "tool_call_id"))


def turns_from_messages(turns: Iterable[Turn | Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Turns, or the messages of either form; raises `BadInput` naming the one that is wrong."""
    from foveate.core.chat.anthropic import turns_from_anthropic
    from foveate.core.chat.openai import turns_from_openai
    from foveate.core.chat.turns import Turn
    from foveate.core.compact.forms import check_messages, message_form

    known = list(turns)
    if all(isinstance(turn, Turn) for turn in known):
        return tuple(cast("list[Turn]", known))
    if any(isinstance(turn, Turn) for turn in known):
        raise BadInput("are turns and messages mixed; give all in one form", field="turns")
    messages = check_messages(known)
    if message_form(messages).name == "anthropic":
        return turns_from_anthropic(messages)
    return turns_from_openai(messages)


def role_and_text_pairs(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Messages as they are counted, (role, text); raises `BadInput` naming the wrong message."""
    from foveate.core.chat.turns import messages_from_turn, role_and_text

    said = [
        message
        for turn in turns_from_messages(messages)
        for message in messages_from_turn(turn, turn)
    ]
    return tuple(map(role_and_text, said))


def candidates_of(items: Any) -> tuple[Candidate, ...]:
    """Candidates, mappings, a framework's documents, or a table's rows, in the given order.

    A table: a pandas or polars DataFrame, an Arrow table, batch or reader, or anything that hands
    out Arrow's C stream. If nothing in it has a score, its order becomes the score.
    Raises `BadInput` naming the position (counted from 1, as `line`) and the field.
    """
    if isinstance(items, BestFirst):
        return items
    rows = tables.rows_from_table(items)
    return candidates_from_items(records_from_items(items) if rows is None else rows)
