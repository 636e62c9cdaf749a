"""Checks of what a caller passes: the store, chat messages, candidates.

Documents of LangChain, LlamaIndex and Haystack are told apart by their class's package, so no
framework is imported. What the score of a list is, `core/scores.py` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias

from foveate.core.candidates import candidates_from_items
from foveate.core.errors import BadInput, BadOption
from foveate.core.fields import StandardRecord, parse_metadata
from foveate.core.scores import ScoredList
from foveate.core.types import Candidate, Context
from foveate.pipeline import tables
from foveate.pipeline.vector_results import records_from_result

Channel: TypeAlias = Literal["text", "voice"]


def check_context(context: Context) -> None:
    """Raise `BadInput` for anything but a `Context`, its text for one."""
    if not isinstance(context, Context):
        found = type(context).__name__
        raise BadInput(f"give the Context that assemble returned, not {found}", field="context")


def check_store(store: object) -> None:
    """Raise `BadOption` for a path, or anything else that is no open store."""
    if isinstance(store, str | PathLike):
        path = str(store)  # an address with an "@" or a query may hold a password
        shown = "…" if any(sign in path for sign in "@?") else repr(path)
        raise BadOption(f"store is the path {shown}; open it first: foveate.open_store({shown})")
    if "assembler" in getattr(store, "__dict__", {}):
        raise BadOption("store assembles by itself; call its assemble(), or pass its .store")


def parse_messages(
    messages: Iterable[Mapping[str, Any] | tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """Chat messages as (role, content); raises `BadInput` naming the message.

    A message is a mapping in OpenAI's or Anthropic's form, or a pair of strings.
    """
    given = [_as_mapping(message, number) for number, message in enumerate(messages, 1)]
    if any(map(_has_parts, given)):
        return role_and_text_pairs(given)
    return tuple((message["role"], message["content"]) for message in given)


def _as_mapping(message: Any, number: int) -> Mapping[str, Any]:
    """The message; raises `BadInput` unless it has a role and a content, in text or in parts."""
    if isinstance(message, tuple) and len(message) == 2:
        message = dict(zip(("role", "content"), message, strict=True))
    if isinstance(message, Mapping):
        plain = isinstance(message.get("role"), str) and isinstance(message.get("content"), str)
        if plain or _has_parts(message):
            return message
    raise BadInput(
        f"message {number} must have a role and a content, both strings", field="messages"
    )


def _has_parts(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = isinstance(content, Sequence) and not isinstance(content, str)
    return parts or any(message.get(name) for name in ("tool_calls", "tool_call_id"))


def role_and_text_pairs(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Messages as they are counted, (role, text); raises `BadInput` naming the wrong message."""
    from foveate.core.chat.turns import Turn, check_pairs, read_turns, role_and_text

    said = read_turns(list(map(Turn, messages)))
    check_pairs(said)
    if media := [message.entry.index + 1 for message in said if message.media]:
        what = f"message {media[0]} holds an image or a file; give it to converse, or take it out"
        raise BadInput(what, field="messages")
    return tuple(map(role_and_text, said))


def candidates_of(items: Any) -> tuple[Candidate, ...]:
    """Candidates, mappings, a framework's documents, hits, or a table's rows, in their order.

    Hits: the result of a Chroma or Qdrant query.
    A table: a pandas or polars DataFrame, an Arrow table, batch or reader, or anything that hands
    out Arrow's C stream.
    Raises `BadInput` naming the position (counted from 1, as `line`) and the field.
    """
    items = records_from_result(items)
    rows = tables.rows_from_table(items)
    if rows is not None:
        return candidates_from_items(rows, "row")
    return candidates_from_items(records_from_items(items))


def records_from_items(items: Any) -> Any:
    """The items, those of a framework as mappings with at least `text`; what is decided as it is.

    Raises `BadInput` naming the position where a framework's value has no text.
    """
    is_list = isinstance(items, list | tuple) and not isinstance(items, ScoredList)
    if not is_list and not hasattr(items, "__next__"):
        return items
    found = list(items)
    kinds = {type(item) for item in found}
    if not any(kind is tuple or _find_framework(kind) for kind in kinds):
        return found
    read: dict[int, StandardRecord] = {}
    for place, item in enumerate(found):
        if (record := _record_from_item(item, place + 1)) is not None:
            read[place] = StandardRecord(record)
    number_chunks(read.values())
    _unify_metadata(read.values())
    return [read.get(place, item) for place, item in enumerate(found)]


def _find_framework(kind: type) -> str:
    """The package of a class, or of one that it inherits from, whose values are read here."""
    packages = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((package for package in packages if package in ATTRIBUTES), "")


def _record_from_item(item: Any, number: int) -> dict[str, Any] | None:
    """The item's record, or None where it is no framework's; a pair is a document and its score."""
    score = None
    if isinstance(item, tuple) and len(item) == 2 and _find_framework(type(item[0])):
        item, score = item
    if not (package := _find_framework(type(item))):
        return None
    record = _read_document(item, package)
    if record.get("text") is None:
        message = f"give Documents or nodes with a text, not {type(item).__name__}"
        raise BadInput(f"{message}; filter others out before", line=number, place="item")
    return record if score is None else {**record, "score": score}


def _unify_metadata(found: Iterable[dict[str, Any]]) -> None:
    """Give a value that several searches found the metadata of the first, which may hold scores."""
    first: dict[tuple[Any, str], dict[str, Any]] = {}
    for record in found:
        if record.get("id") is not None:
            metadata = record["metadata"]
            record["metadata"] = first.setdefault((record["id"], record["text"]), metadata)


def number_chunks(records: Iterable[dict[str, Any]]) -> None:
    """Number chunks without a sequence by their offsets, so that neighbours are recognised.

    Chunks of one document that touch or overlap are consecutive; a gap skips a number.
    """
    documents: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        name = record.get("document_id") or record.get("source")
        if name and record.get("start") is not None and record.get("sequence") is None:
            documents.setdefault(str(name), []).append(record)
    for chunks in documents.values():
        chunks.sort(key=lambda chunk: (chunk["start"], -len(chunk["text"])))
        number, end = -1, 0
        for chunk in chunks:
            number += 1 if chunk["start"] <= end else 2
            chunk["sequence"] = number
            end = max(end, chunk["start"] + len(chunk["text"]))


ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "langchain_core": {"text": "page_content", "metadata": "metadata", "id": "id"},
    "llama_index": {
        "text": "get_content",
        "metadata": "metadata",
        "id": "node_id",
        "document_id": "ref_doc_id",
        "start": "start_char_idx",
        "end": "end_char_idx",
        "embedding": "embedding",
    },
    "haystack": {
        "text": "content",
        "metadata": "meta",
        "id": "id",
        "score": "score",
        "embedding": "embedding",
    },
}
"""The package of a framework → field → attribute of its documents or nodes."""


def _read_document(item: Any, package: str) -> dict[str, Any]:
    """What a document or node says; its text may be missing."""
    inner = getattr(item, "node", item)
    given = {field: getattr(inner, name, None) for field, name in ATTRIBUTES[package].items()}
    given = {field: one() if callable(one) else one for field, one in given.items()}
    if (score := getattr(item, "score", None)) is not None:
        given["score"] = score
    metadata = dict(given.pop("metadata", None) or {})
    start, end = given.get("start"), given.pop("end", None)
    if start is not None and end is not None and end - start == len(given["text"] or ""):
        given["end"] = end
    paged = any(metadata.get(key) is not None for key in ("page", "page_label"))
    # The `start_index` of a page is an offset in the page, not the document.
    found = parse_metadata(metadata, *(("start",) if paged and package == "langchain_core" else ()))
    for field, value in given.items():
        if value is not None and not (field == "document_id" and not value):
            found[field] = value
    return {**found, "metadata": metadata}
