"""The tools that show a store's documents: a list by id, and one document in parts.

What the caller may not read is neither listed nor counted. Texts, titles and ids are data, shown as
a context shows them; a cursor is opaque, so that no id of a document becomes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from foveate.core.errors import BadInput
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Document, ListableStore
from foveate.service.mcp.results import ToolResult, clean, clean_line
from foveate.service.mcp.schemas import Schema
from foveate.service.wire.requests import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from foveate.service.mcp.calls import ToolContext

MAX_DOCUMENTS, USUAL_DOCUMENTS = 100, 20
MAX_CHARACTERS, USUAL_CHARACTERS = 100_000, 20_000
_ID = {"type": "string", "minLength": 1, "maxLength": 4_096}
_TEXT = {"type": "string"}
_ABOUT = dict.fromkeys(("id", "source", "title", "summary"), _TEXT)


def _number(most: int, default: int, about: str, least: int = 1) -> Schema:
    return {
        "type": "integer",
        "minimum": least,
        "maximum": most,
        "default": default,
        "description": about,
    }


def _closed(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


LIST_INPUT = _closed(
    {
        "cursor": {**_ID, "description": "The `next` of the list before; absent for the first."},
        "limit": _number(MAX_DOCUMENTS, USUAL_DOCUMENTS, "How many documents to list."),
    }
)
LIST_OUTPUT = _closed(
    {
        "documents": {"type": "array", "items": _closed(_ABOUT, *_ABOUT)},
        "next": {"type": ["string", "null"]},
    },
    "documents",
    "next",
)
GET_INPUT = _closed(
    {
        "id": {**_ID, "description": "The document's id, as list_documents or a "
               "search gives it."},
        "start": _number(10**9, 0, "The character to begin at.", least=0),
        "length": _number(MAX_CHARACTERS, USUAL_CHARACTERS, "How many characters to show."),
    },
    "id",
)  # fmt: skip
_PART = {"text": _TEXT, "start": {"type": "integer"}, "length": {"type": "integer"}}
GET_OUTPUT = _closed(
    {**_ABOUT, **_PART, "next": {"type": ["integer", "null"]}}, *_ABOUT, *_PART, "next"
)


def list_documents(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """One page of the documents that the caller may read."""
    limit, cursor = arguments.get("limit", USUAL_DOCUMENTS), arguments.get("cursor")
    options = AssembleOptions(principals=context.principals)
    with context.assembler(options, store=True) as assembler:
        found = _listable(assembler.store).listed(
            after=decode_cursor(cursor, str)[0] if cursor is not None else "",
            limit=limit + 1,
            principals=context.principals,
        )
    following = encode_cursor([found[limit - 1].id]) if len(found) > limit else None
    found = found[:limit]
    data = {"documents": [_describe(one) for one in found], "next": following}
    lines = [" · ".join(filter(None, map(clean_line, _unique(one)))) for one in found]
    if following is not None:
        lines.append(f"There are more: list_documents with cursor={following!r}")
    return ToolResult(parts=("\n".join(lines) or "No document that you may read.",), data=data)


def get_document(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """A part of one document; raises `BadInput` if it is not there, or not for the caller."""
    options = AssembleOptions(principals=context.principals)
    with context.assembler(options, store=True) as assembler:
        found = _listable(assembler.store).document(arguments["id"], principals=context.principals)
    if found is None:
        raise BadInput("there is no such document that you may read; see list_documents")
    start = min(arguments.get("start", 0), len(found.text))
    end = min(start + arguments.get("length", USUAL_CHARACTERS), len(found.text))
    more = end if end < len(found.text) else None
    text = clean(found.text[start:end])
    said = f"Characters {start:,} to {end:,} of {len(found.text):,} of {clean_line(found.id)}."
    if more is not None:
        said += f" It goes on: get_document with start={more}"
    data = {
        **_describe(found),
        "text": text,
        "start": start,
        "length": len(found.text),
        "next": more,
    }
    return ToolResult(parts=(text, said), data=data)


def _unique(document: Document) -> tuple[str, ...]:
    return tuple(dict.fromkeys((document.id, document.source, document.title)))


def _describe(document: Document) -> dict[str, Any]:
    return {name: clean_line(getattr(document, name)) for name in _ABOUT}


def _listable(store: object) -> ListableStore:
    if not isinstance(store, ListableStore):
        raise BadInput("this store cannot list its documents; use search")
    return store
