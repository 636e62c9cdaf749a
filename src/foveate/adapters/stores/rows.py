"""Documents and chunks ⇄ rows. A row's fields are also what the state root covers.

Rules: what belongs to the document (source, title, summary, time) is stored with the document
alone and joined on reading; metadata and principals are stored with the chunk as they hold for
it: the document's metadata with the chunk's over it, the chunk's principals or else the document's.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from foveate.adapters.stores.int8 import units
from foveate.core.errors import BadInput
from foveate.core.made import maker
from foveate.core.state import member
from foveate.core.text.terms import document_terms
from foveate.core.types import Chunk, content_hash
from foveate.ports import QUESTIONS, Document

_NO_TEXT = zlib.compress(b"")
DOCUMENT_FIELDS = (
    "document_id",
    "source",
    "title",
    "summary",
    "modified_at",
    "principals",
    "metadata",
    "content_hash",
    "text_hash",
)
CHUNK_FIELDS = (
    "chunk_id",
    "sequence",
    "start",
    "end",
    "byte_offset",
    "page",
    "section",
    "row",
    "line",
    "principals",
    "metadata",
    "content_hash",
    "text",
)

CHUNK_COLUMNS = """c.id, c.chunk_id, d.document_id, d.source, d.title, c.sequence, c.start, c."end",
       c.byte_offset, c.page, c.section, c."row", c.line, d.summary, d.modified_at, c.principals,
       c.metadata, c.content_hash, c.text"""
"""What `chunks_of` reads, of chunks AS c and documents AS d; the vector's int8 bytes follow."""

SELECT_CHUNK = f"""
SELECT {CHUNK_COLUMNS}, s.vector
FROM chunks AS c JOIN documents AS d ON d.id = c.document JOIN scan AS s ON s.chunk = c.id
"""


_chunk = maker(Chunk)


def document_row(document: Document) -> dict[str, Any]:
    """The document's stored fields, its text as a hash."""
    text_hash = content_hash(document.text)
    return {
        "document_id": document.id,
        "source": document.source or document.id,
        "title": document.title,
        "summary": document.summary,
        "modified_at": _instant(document.modified_at),
        "principals": _principals(document.principals),
        "metadata": _json(document.metadata),
        "content_hash": document.content_hash or text_hash,
        "text_hash": text_hash,
    }


def chunk_row(document: Document, chunk: Chunk) -> dict[str, Any]:
    """The chunk's stored fields; raises `BadInput` where it does not belong to the document."""
    _refuse_stranger(document, chunk)
    return {
        "chunk_id": chunk.id,
        "sequence": chunk.sequence,
        "start": chunk.start,
        "end": chunk.end,
        "byte_offset": chunk.byte_offset,
        "page": chunk.page,
        "section": chunk.section,
        "row": chunk.row,
        "line": chunk.line,
        "principals": _principals(chunk.principals or document.principals),
        "metadata": _json({**document.metadata, **chunk.metadata}),
        "content_hash": chunk.content_hash,
        "text": chunk.text,
    }


def indexed_terms(row: Mapping[str, Any]) -> list[str]:
    """What a chunk is found by: the terms of its text, then of the questions that it answers.

    `row`: at least `text` and `metadata` (JSON, or what it says). The same in every store.

    >>> indexed_terms({"text": "At 4 bar.", "metadata": '{"canonical_questions": ["Opens when?"]}'})
    ['at', '4', 'bar', 'open', 'when']
    """
    metadata = row["metadata"]
    if isinstance(metadata, str):
        if QUESTIONS not in metadata:
            return document_terms(row["text"])
        metadata = json.loads(metadata)
    asked = metadata.get(QUESTIONS)
    questions = asked if isinstance(asked, list) else []
    terms = document_terms(row["text"])
    for question in questions:
        terms += document_terms(str(question))
    return terms


def _refuse_stranger(document: Document, chunk: Chunk) -> None:
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


def members(row: dict[str, Any], chunk_rows: Iterable[dict[str, Any]]) -> list[tuple[int, bytes]]:
    """(audience, encoded fields) of the document and of each chunk: what the state root covers.

    The document's `content_hash` is the caller's bookkeeping and stays outside.
    """
    name = row["document_id"]
    covered = {key: row[key] for key in DOCUMENT_FIELDS if key != "content_hash"}
    found = [(row["audience"], member("document", covered))]
    for chunk in chunk_rows:
        fields = {key: chunk[key] for key in CHUNK_FIELDS}
        found.append((chunk["audience"], member("chunk", {**fields, "document_id": name})))
    return found


def names_of(principals: str) -> list[str]:
    """The principals of an audience, from their sorted JSON."""
    return list(json.loads(principals))


def chunks_of(rows: Iterable[Sequence[Any]]) -> dict[int, Chunk]:
    """Rows of `CHUNK_COLUMNS` and a vector as row id → chunk; the embedding has length 1.

    They were checked when they were put, so they are made without.
    """
    found = list(rows)
    vectors = units([row[19] for row in found])
    return {
        row[0]: _chunk(
            id=row[1],
            document_id=row[2],
            source=row[3],
            title=row[4],
            sequence=row[5],
            start=row[6],
            end=row[7],
            byte_offset=row[8],
            page=row[9],
            section=row[10],
            row=row[11],
            line=row[12],
            summary=row[13],
            modified_at=datetime.fromisoformat(row[14]) if row[14] else None,
            principals=() if row[15] == "[]" else tuple(json.loads(row[15])),
            metadata={} if row[16] == "{}" else json.loads(row[16]),
            content_hash=row[17],
            text=row[18],
            embedding=vector,
        )
        for row, vector in zip(found, vectors, strict=True)
    }


def document_of(row: Mapping[str, Any]) -> Document:
    """A stored document, its text unpacked."""
    return Document(
        id=row["document_id"],
        source=row["source"],
        text=zlib.decompress(row["text"]).decode(),
        title=row["title"],
        summary=row["summary"],
        modified_at=datetime.fromisoformat(row["modified_at"]) if row["modified_at"] else None,
        principals=tuple(json.loads(row["principals"])),
        metadata=json.loads(row["metadata"]),
        content_hash=row["content_hash"],
    )


def without_text(row: Mapping[str, Any]) -> Document:
    """A stored document whose text was not asked for; it is empty here."""
    return document_of({**row, "text": _NO_TEXT})


def columns(names: Iterable[str]) -> str:
    """Column names, quoted (`end` and `row` are words of SQL)."""
    return ", ".join(f'"{name}"' for name in names)


def _instant(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat()


def _principals(principals: Iterable[str]) -> str:
    return json.dumps(sorted(set(principals)))


def _json(metadata: Mapping[str, Any]) -> str:
    if _holds_nul(metadata):
        raise BadInput("holds a zero character (NUL), which filters cannot see", field="metadata")
    try:
        return json.dumps(dict(metadata), sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"cannot be written as JSON: {error}", field="metadata") from None


def _holds_nul(value: Any) -> bool:
    """Whether a text somewhere inside does: SQLite's JSON functions end a text there."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(_holds_nul(part) for pair in value.items() for part in pair)
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))
