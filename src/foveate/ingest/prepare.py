"""Turns a loaded file into a document, its chunks and their counts. Embeds nothing.

The content hash decides whether a document must be written again and names its file
(`<hash>@<file>@<root>`); `root` is a digest that tells folders of one name apart. It covers the
content and how it is cut, counted and embedded, but not when the file was written, so the same
content is the same state on every machine.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blake3 import blake3

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput
from foveate.core.seal import content_hash
from foveate.core.types import CODE_HEADS, SECTION_PLACES, Chunk
from foveate.ingest.chunk import Piece, each_chunk
from foveate.ingest.enrich import Enrich
from foveate.ingest.images import attach_images
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.walk import File
from foveate.ports import Document, LoadedDocument

_FORMAT = "foveate ingest 16"
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What decides how a text becomes chunks: with the same settings, the same chunks."""

    size: int
    overlap: int
    language: str
    fingerprint: str
    embedder: str
    principals: tuple[str, ...]
    enrich: Enrich = field(default_factory=Enrich)
    model: str = ""
    encoding: str = ""
    images: bool = False

    def key(self) -> str:
        """All of it as one line."""
        return repr((_FORMAT, self))


def file_hash(data: bytes, file: File, settings: Settings) -> str:
    """The content hash of a document that is a whole file, known before the file is parsed."""
    digest = blake3(f"file\n{settings.key()}\n".encode()).update(data)
    return f"{digest.hexdigest(_DIGEST_BYTES)}@{file.name}@{file.root}"


def content_digest(stored_hash: str) -> str:
    """The hash of the content without its place: the same for a file that was moved.

    >>> content_digest("0123@docs/a.md@89ab")
    '0123'
    """
    return stored_hash.partition("@")[0]


def origin_from_hash(stored_hash: str) -> str:
    """The file that a stored document came from; empty if there is none.

    >>> origin_from_hash("0123@docs/a.md@89ab"), origin_from_hash("0123")
    ('docs/a.md', '')
    """
    place = stored_hash.partition("@")[2]
    return place.rpartition("@")[0] or place


def root_from_hash(stored_hash: str) -> str:
    """The root of the walk that found it; empty if unknown."""
    file, _, root = stored_hash.partition("@")[2].rpartition("@")
    return root if file else ""


def build_document(loaded: LoadedDocument, file: File, whole: str, settings: Settings) -> Document:
    """The document; `whole` is its hash if it is the whole file. Raises `BadInput`."""
    content_hash(loaded.text)
    own = bool(loaded.id) and loaded.own_id
    identity = loaded.id if own else f"{file.name}{loaded.id}"
    return Document(
        id=identity,
        source=loaded.source or (identity if own else file.name),
        text=loaded.text,
        title=loaded.title,
        summary=loaded.summary,
        modified_at=loaded.modified_at,
        principals=loaded.principals or settings.principals,
        metadata=document_metadata(loaded),
        content_hash=_part_hash(loaded, file, settings) if loaded.id else whole,
    )


def document_metadata(loaded: LoadedDocument) -> Mapping[str, Any]:
    """The document's metadata, with the encoding of its file if that is not UTF-8."""
    metadata = {"encoding": loaded.encoding} if loaded.encoding else {}
    return {**loaded.metadata, **metadata}


def build_chunks(
    loaded: LoadedDocument,
    document: Document,
    settings: Settings,
    tokenizer: Tokenizer,
    limits: Limits,
) -> tuple[list[Chunk], list[int]]:
    """The document's chunks and the tokens of each; ids are `<document id>#<sequence>`.

    Raises `BadInput` as soon as the limit is exceeded.
    """

    def count(texts: Sequence[str]) -> list[int]:
        return [tokenizer.count(text) for text in texts]

    pieces: list[Piece] = []
    for piece in each_chunk(
        loaded.text,
        loaded.sections,
        count,
        size=settings.size,
        overlap=settings.overlap,
        language=settings.language,
        front=loaded.front,
    ):
        if len(pieces) == limits.chunks:
            raise BadInput(
                f"more than {limits.chunks} chunks: so many reach to character {piece.start} of "
                f"{len(loaded.text)} (limit `chunks`); divide the document, or raise the limit"
            )
        pieces.append(piece)
    starts = [piece.start for piece in pieces]
    chunks = [_build_chunk(piece, document, starts, lines=loaded.lines) for piece in pieces]
    counts = [piece.tokens for piece in pieces]
    return attach_images(chunks, loaded.images) if loaded.images else chunks, counts


def _piece_metadata(piece: Piece, starts: Sequence[int]) -> dict[str, Any]:
    """What a chunk's own metadata say; `starts`: of all chunks.

    Which chunks have what it is never shown without, and its sections.
    """
    metadata: dict[str, Any] = {}
    for key, at in piece.heads:
        sequence = max(bisect_right(starts, at) - 1, 0)
        if key == CODE_HEADS:
            metadata[key] = sorted({*metadata.get(key, ()), sequence})
        else:
            metadata[key] = sequence
    if piece.places:
        metadata[SECTION_PLACES] = [list(place) for place in piece.places]
    return metadata


def _part_hash(loaded: LoadedDocument, file: File, settings: Settings) -> str:
    fields = (
        loaded.id,
        loaded.source,
        loaded.title,
        loaded.summary,
        str(loaded.modified_at),
        loaded.principals,
        loaded.metadata,
        loaded.text,
    )
    line = json.dumps(fields, sort_keys=True, default=str)
    digest = blake3(f"part\n{settings.key()}\n{line}".encode())
    for each in loaded.sections:  # one by one: they may be a million
        place = (each.start, each.end, each.path, each.page, each.row)
        digest.update(repr(place).encode())
    return f"{digest.hexdigest(_DIGEST_BYTES)}@{file.name}@{file.root}"


def _build_chunk(piece: Piece, document: Document, starts: Sequence[int], *, lines: bool) -> Chunk:
    return Chunk(
        id=f"{document.id}#{piece.sequence}",
        document_id=document.id,
        source=document.source,
        title=document.title,
        summary=document.summary,
        text=piece.text,
        sequence=piece.sequence,
        start=piece.start,
        end=piece.end,
        byte_offset=piece.byte_offset,
        page=piece.page,
        section=piece.section,
        row=piece.row,
        line=piece.line if lines else None,
        modified_at=document.modified_at,
        principals=document.principals,
        metadata={**document.metadata, **_piece_metadata(piece, starts)},
    )
