"""Documents and chunks as rows, and back. The state root covers the fields of a row."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from foveate.core.checks import check_principals
from foveate.core.errors import BadInput
from foveate.core.seal import content_hash
from foveate.core.state import encode_member
from foveate.core.text.terms import document_terms
from foveate.core.types import Chunk
from foveate.ports import INDEXED_SUMMARY, QUESTIONS, Document
from foveate.stores.checksums import checksum, damage
from foveate.stores.int8 import unit_vectors

Rows: TypeAlias = list[dict[str, Any]]

DOCUMENT_FIELDS = (
    *("document_id", "source", "title", "summary", "modified_at", "principals", "metadata"),
    *("content_hash", "text_hash"),
)
DOCUMENT_COLUMNS = ("id", *DOCUMENT_FIELDS, "audience", "places")
"""What is read of a document without its text."""
_PLACE_FIELDS = (*("sequence", "start", "end", "byte_offset", "page", "section", "row", "line"),)
CHUNK_FIELDS = ("chunk_id", *_PLACE_FIELDS, "principals", "metadata", "content_hash", "text")
SHARED = ("source", "title", "summary", "modified_at")
"""Fields that every chunk takes from its document."""
HANDED_OUT = (*CHUNK_FIELDS, "document_id", *SHARED)

CHUNK_COLUMNS = ", ".join(
    ["c.id", *(f'c."{name}"' for name in CHUNK_FIELDS), "d.document_id"]
    + [f"d.{name}" for name in SHARED]
)
"""What `chunks_from_rows` reads, of chunks AS c and documents AS d: `id` and `HANDED_OUT`.

The vector's int8 bytes follow.
"""


def document_row(document: Document) -> dict[str, Any]:
    """The document's stored fields, its text as a hash."""
    text_hash = content_hash(document.text)
    return {
        "document_id": document.id,
        "source": document.source or document.id,
        "title": document.title,
        "summary": document.summary,
        "modified_at": _format_instant(document.modified_at),
        "principals": _format_principals(document.principals),
        "metadata": _format_metadata(document.metadata),
        "content_hash": document.content_hash or text_hash,
        "text_hash": text_hash,
    }


def chunk_row(document: Document, row: Mapping[str, Any], chunk: Chunk) -> dict[str, Any]:
    """The chunk's stored fields; raises `BadInput` where it does not belong to the document.

    `row`: the document's, from which the chunk takes what it does not say itself.
    """
    _check_chunk(document, chunk)
    own = chunk.metadata and _format_metadata({**document.metadata, **chunk.metadata})
    return {
        "chunk_id": chunk.id,
        **{field: getattr(chunk, field) for field in _PLACE_FIELDS},
        "principals": _format_principals(chunk.principals)
        if chunk.principals
        else row["principals"],
        "metadata": own or row["metadata"],
        "content_hash": chunk.content_hash,
        "text": chunk.text,
    }


def terms_to_index(row: Mapping[str, Any]) -> list[str]:
    """What a chunk is found by: terms of its text, of its questions, of a summary to be indexed.

    `row`: at least `text` and `metadata` (JSON, or what it says). The same in every store.

    >>> terms_to_index(
    ...     {"text": "At 4 bar.", "metadata": '{"canonical_questions": ["Opens when?"]}'}
    ... )
    ['at', '4', 'bar', 'open', 'when']
    """
    metadata = row["metadata"]
    if isinstance(metadata, str):
        if QUESTIONS not in metadata and INDEXED_SUMMARY not in metadata:
            return document_terms(row["text"])
        metadata = json.loads(metadata)
    asked = metadata.get(QUESTIONS)
    questions = asked if isinstance(asked, list) else []
    terms = document_terms(row["text"])
    for question in questions:
        terms += document_terms(str(question))
    summary = metadata.get(INDEXED_SUMMARY)
    return terms + document_terms(summary) if isinstance(summary, str) else terms


def _check_chunk(document: Document, chunk: Chunk) -> None:
    if chunk.document_id != document.id:
        raise BadInput(
            f"chunk {chunk.id!r} is of document {chunk.document_id!r}, not of {document.id!r}",
            field="document_id",
        )
    if document.principals and not set(chunk.principals) <= set(document.principals):
        raise BadInput(
            f"chunk {chunk.id!r} may be read by more than its document {document.id!r}",
            field="principals",
        )
    known = document.text and chunk.start is not None and chunk.end is not None
    if known and document.text[chunk.start : chunk.end] != chunk.text:
        raise BadInput(
            f"chunk {chunk.id!r}: the document's text from {chunk.start} to {chunk.end} "
            f"is not the chunk's; give the offsets in characters of the stored text",
            field="start",
        )


def document_member(row: dict[str, Any]) -> tuple[Any, bytes]:
    """(audience, encoded fields) of a document: what the state root covers.

    `content_hash` is the caller's bookkeeping and stays outside.
    """
    covered = {key: row[key] for key in DOCUMENT_FIELDS if key != "content_hash"}
    return row["audience"], encode_member("document", covered)


def chunk_members(
    row: dict[str, Any], chunk_rows: Iterable[dict[str, Any]]
) -> list[tuple[Any, bytes]]:
    """Those of chunks of the document."""
    name = {"document_id": row["document_id"]}
    return [
        (
            chunk["audience"],
            encode_member("chunk", {key: chunk[key] for key in CHUNK_FIELDS} | name),
        )
        for chunk in chunk_rows
    ]


def chunk_checksum(
    number: int, document: Mapping[str, Any], chunk: Mapping[str, Any], *scanned: Any
) -> int:
    """The checksum of a chunk as it is read: row id, `CHUNK_COLUMNS`, and what is scanned.

    `scanned`: vector, audience, and the number of terms.
    """
    row = {**{field: document[field] for field in ("document_id", *SHARED)}, **chunk}
    return checksum((number, *(row[field] for field in HANDED_OUT), *scanned))


def document_checksum(row: Mapping[str, Any]) -> int:
    """The checksum of a document's row; its text has a hash in it."""
    return checksum([row[field] for field in DOCUMENT_COLUMNS])


def parse_principals(principals: str) -> list[str]:
    """The principals of an audience, from their sorted JSON."""
    return list(json.loads(principals))


def chunks_from_rows(rows: Iterable[Sequence[Any]]) -> dict[int, Chunk]:
    """Rows of `CHUNK_COLUMNS` and a vector as row id → chunk, with unit embeddings.

    Raises for a text that is not that of its hash: a chunk makes its own.
    """
    found = list(rows)
    vectors = unit_vectors([row[1 + len(HANDED_OUT)] for row in found])
    made: dict[int, Chunk] = {}
    for (number, *values), vector in zip(found, vectors, strict=True):
        row = dict(zip(HANDED_OUT, values, strict=False))
        made[number] = chunk = Chunk(
            id=row["chunk_id"],
            document_id=row["document_id"],
            source=row["source"],
            title=row["title"],
            summary=row["summary"],
            modified_at=datetime.fromisoformat(row["modified_at"]) if row["modified_at"] else None,
            principals=() if row["principals"] == "[]" else tuple(json.loads(row["principals"])),
            metadata={} if row["metadata"] == "{}" else json.loads(row["metadata"]),
            text=row["text"],
            embedding=vector,
            **{field: row[field] for field in _PLACE_FIELDS},
        )
        if chunk.content_hash != row["content_hash"]:
            raise damage("a chunk is not as it was written")
    return made


def pack_text(text: str) -> bytes:
    """A document's text as it is stored; quickly, as the disk is not what is scarce."""
    return zlib.compress(text.encode(), 1)


def document_from_row(row: Mapping[str, Any], text: str = "") -> Document:
    """A stored document; its text is empty where it was not asked for."""
    return Document(
        id=row["document_id"],
        source=row["source"],
        text=text,
        title=row["title"],
        summary=row["summary"],
        modified_at=datetime.fromisoformat(row["modified_at"]) if row["modified_at"] else None,
        principals=tuple(json.loads(row["principals"])),
        metadata=json.loads(row["metadata"]),
        content_hash=row["content_hash"],
    )


def with_text(row: Mapping[str, Any], packed: bytes) -> Document:
    """A stored document with its packed text; raises where that is not the one of its hash."""
    try:
        text = zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError):
        text = None
    if text is None or content_hash(text) != row["text_hash"]:
        raise damage("a document is not as it was written")
    return document_from_row(row, text)


def quote_columns(names: Iterable[str]) -> str:
    """Column names, quoted (`end` and `row` are words of SQL)."""
    return ", ".join(f'"{name}"' for name in names)


def _format_instant(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat()


def _format_principals(principals: Iterable[str]) -> str:
    return json.dumps(sorted(set(check_principals(principals))))


def _format_metadata(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(metadata), sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"cannot be written as JSON: {error}", field="metadata") from None


def chunk_rows(document: Document, row: Mapping[str, Any], chunks: Iterable[Chunk]) -> Rows:
    """Rows of a document's chunks; raises `BadInput` where one is not its, or is there twice.

    `row`: the document's own.
    """
    rows = [chunk_row(document, row, chunk) for chunk in chunks]
    seen: set[str] = set()
    for each in rows:
        if each["chunk_id"] in seen:
            raise duplicate_id_error("this document", each["chunk_id"])
        seen.add(each["chunk_id"])
    return rows


def duplicate_id_error(whose: str, name: str) -> BadInput:
    """The error for a chunk id that is taken."""
    return BadInput(f"{whose} has a chunk {name!r} already; ids are unique", field="id")
