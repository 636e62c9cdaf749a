"""Reads a provider's response as text and citations.

Anthropic's message: text blocks with citations. OpenAI's chat completion: one text with
annotations; its response: messages of output texts with annotations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from foveate.core.errors import BadInput
from foveate.core.types import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCitation:
    """A citation as the provider gives it, and the stretch of the answer that it is for."""

    citation: Mapping[str, Any]
    span: Span


def parse_response(response: Any) -> tuple[str, list[RawCitation]]:
    """The answer's text and its citations, in order. Raises `BadInput` for another response."""
    given = _to_mapping(response)
    if _is_list(given.get("content")):
        return _join_pieces(_pieces_from_anthropic(given["content"]))
    if "choices" in given:
        return _join_pieces(_pieces_from_chat(given["choices"]))
    if _is_list(given.get("output")):
        return _join_pieces(_pieces_from_responses(given["output"]))
    raise BadInput(
        "is no response known here; give Anthropic's message, or OpenAI's chat completion or "
        "response, whole",
        field="response",
    )


def _to_mapping(response: Any, what: str = "must be the client's object or its JSON") -> Any:
    """The client's object as plain values."""
    if hasattr(response, "model_dump"):
        # What a newer server says may not be of the client's types; that is judged here.
        response = response.model_dump(warnings=False)
    if not isinstance(response, Mapping):
        raise BadInput(f"{what}, not {type(response).__name__}", field="response")
    return response


def _parse_items(value: Any) -> list[Mapping[str, Any]]:
    """The members of a list of a response; what is none would be an answer with a part missing."""
    return [_to_mapping(item, "must hold objects, whole ones or their JSON") for item in value]


_TextPiece = tuple[str, Sequence[Any], bool]
"""A text, its citations, and whether these are for all of it or say for which stretch."""


def _join_pieces(pieces: Iterator[_TextPiece]) -> tuple[str, list[RawCitation]]:
    text, said = "", []
    for piece, citations, whole in pieces:
        start, end = len(text), len(text) + len(piece)
        for one in citations:
            citation = _flatten_annotation(one)
            span = (start, end) if whole else _annotation_span(citation, start, end)
            said.append(RawCitation(citation=citation, span=span))
        text += piece
    return text, said


def _flatten_annotation(citation: Any) -> Mapping[str, Any]:
    """A chat completion's annotation holds its fields one level deeper, under its own type."""
    if hasattr(citation, "model_dump"):
        citation = citation.model_dump(warnings=False)
    if not isinstance(citation, Mapping):
        return {}
    inner = citation.get(str(citation.get("type")))
    return {**inner, "type": citation["type"]} if isinstance(inner, Mapping) else citation


def _annotation_span(citation: Mapping[str, Any], start: int, end: int) -> Span:
    """The range that an annotation is for: a range of its text, a place in it, or all of it.

    An invalid range becomes one outside the answer.
    """
    names = ("start_index", "end_index") if "start_index" in citation else ("index", "index")
    places = [citation.get(name) for name in names]
    if places == [None, None]:
        return start, end
    first, last = (p if isinstance(p, int) and not isinstance(p, bool) else -1 for p in places)
    if not 0 <= first <= last <= end - start:
        return -1, -1
    return start + first, start + last


def _pieces_from_anthropic(content: Sequence[Any]) -> Iterator[_TextPiece]:
    for block in _parse_items(content):
        if _has_type(block, "text"):
            yield _get_text(block, "text"), _get_list(block, "citations"), True


def _pieces_from_chat(choices: Any) -> Iterator[_TextPiece]:
    first = _parse_items(choices[:1])[0] if _is_list(choices) and choices else {}
    message = first.get("message")
    if message is None:
        raise BadInput("has no choice with a message; give the whole response", field="response")
    message = _to_mapping(message, "must have a message that is an object")
    content = message.get("content")
    if _is_list(content):  # as some that speak the protocol write it
        texts = [
            _get_text(part, "text") for part in _parse_items(content) if _has_type(part, "text")
        ]
        content = "".join(texts)
    yield _get_text({"content": content or ""}, "content"), _get_list(message, "annotations"), False


def _pieces_from_responses(output: Any) -> Iterator[_TextPiece]:
    for item in _parse_items(output):
        for part in _parse_items(_get_list(item, "content")) if _has_type(item, "message") else ():
            if _has_type(part, "output_text"):
                yield _get_text(part, "text"), _get_list(part, "annotations"), False


def _has_type(value: Mapping[str, Any], type: str) -> bool:
    return value.get("type") == type


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _get_text(part: Mapping[str, Any], name: str) -> str:
    text = part.get(name)
    if not isinstance(text, str):
        raise BadInput("has a text that is none; give the whole response", field="response")
    return text


def _get_list(part: Mapping[str, Any], name: str) -> Sequence[Any]:
    found = part.get(name)
    return found if _is_list(found) else ()
