"""Documents of a tenant: written through our own loaders and chunker, listed, read, deleted.

Rules: whoever may write may replace and delete what it may not read, and is told the same in
every case; nothing is written where the content is what is there already; a document that came
over HTTP has no file, so that no folder's index ever deletes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from blake3 import blake3

from foveate.core.errors import BadInput
from foveate.core.types import Chunk
from foveate.ingest import Enrich
from foveate.ingest.document_task import PreparedDocument, embed_texts
from foveate.ingest.enrich import enrich_document
from foveate.ingest.load import load_in_process
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.prepare import Settings as Cutting
from foveate.ingest.prepare import build_chunks, content_digest
from foveate.pipeline import text_analysis
from foveate.plugins import tokenizer
from foveate.ports import Document, Embedder, ListableStore, LoadedDocument
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.cancellation import shield
from foveate.service.problems import ProblemError
from foveate.service.settings import Settings
from foveate.service.tenant_stores import TenantStore
from foveate.service.wire import cursor
from foveate.service.wire.document import DocumentRequest, ListRequest

TOKENIZER = "cl100k_base"
_SUFFIXES = {"text/plain": ".txt", "text/markdown": ".md", "text/html": ".html"}
_NO_FILE_NAME = "\0"
"""As a file's name, which loaders take for a title where the text has none; no text holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWrite:
    """A document that can be written; `kept`: it is there already, as it is."""

    prepared: PreparedDocument
    is_unchanged: bool


def prepare_document(
    held: AppState, caller: Caller, name: str, asked: DocumentRequest
) -> DocumentWrite:
    """All that is worked out before the write, and may be stopped; raises `BadInput`."""
    with shield():
        counter = tokenizer(TOKENIZER)
    limits = Limits(chunks=held.settings.chunks)
    with held.stores.borrow(caller.tenant) as shelf:
        how = _chunk_settings(held.settings, counter.fingerprint, shelf)
        loaded, document = _load_document(name, asked, how, limits)
        with shield():
            there = _listing_store(shelf).document(name, principals=caller.principals)
        kept = there is not None and there.content_hash == document.content_hash
        pieces, counts = build_chunks(loaded, document, how, counter, limits)
        described, chunks = enrich_document(document, pieces, how.enrich, counter, how.language)
        embedder = None if kept or shelf.embedder is None else _Whole(shelf.embedder)
        return DocumentWrite(
            is_unchanged=kept,
            prepared=PreparedDocument(
                document=described,
                chunks=chunks,
                counts=tuple(counts),
                vectors=embed_texts(embedder, [chunk.text for chunk in pieces]),
                readings={} if kept else text_analysis.analyse_chunks(chunks),
            ),
        )


def write_document(held: AppState, caller: Caller, ready: DocumentWrite) -> dict[str, Any]:
    """Write it, in one transaction; what is told of it is the same whatever was there."""
    made = ready.prepared
    fingerprint = tokenizer(TOKENIZER).fingerprint
    with held.stores.borrow(caller.tenant) as shelf:
        if not ready.is_unchanged:
            writer = shelf.writer()
            for chunks in (made.chunks, _with_unique_ids(made)):
                try:
                    writer.put(
                        made.document, chunks, made.vectors, made.counts, fingerprint=fingerprint
                    )
                    break
                except BadInput as error:
                    if error.field != "id" or chunks is not made.chunks:
                        raise
            text_analysis.save_to_store(writer, made.readings)
        return {
            "id": made.document.id,
            "content_hash": made.document.content_hash,
            "chunks": len(made.chunks),
            "state_root": shelf.store.state_root(principals=caller.principals),
        }


def delete_document(held: AppState, caller: Caller, name: str) -> None:
    """Delete it, if it is there."""
    with held.stores.borrow(caller.tenant) as shelf:
        shelf.writer().delete(name)


def list_documents(held: AppState, caller: Caller, asked: ListRequest) -> dict[str, Any]:
    """One page of what the caller may read."""
    after = cursor.decode_cursor(asked.cursor, str)[0] if asked.cursor is not None else ""
    with held.stores.borrow(caller.tenant) as shelf:
        found = _listing_store(shelf).listed(
            after=after, limit=asked.limit + 1, principals=caller.principals
        )
    more, found = len(found) > asked.limit, found[: asked.limit]
    return {
        "documents": [_document_to_json(document) for document in found],
        "next": cursor.encode_cursor([found[-1].id]) if more else None,
    }


def read_document(held: AppState, caller: Caller, name: str) -> dict[str, Any]:
    """One document with its text; a 404 problem where it is not there, or not to be read."""
    with held.stores.borrow(caller.tenant) as shelf:
        found = _listing_store(shelf).document(name, principals=caller.principals)
    if found is None:
        raise ProblemError(404, "not-found", "there is no such document")
    return {**_document_to_json(found), "text": found.text}


def _document_to_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "summary": document.summary,
        "modified_at": document.modified_at.isoformat() if document.modified_at else None,
        "principals": list(document.principals),
        "metadata": dict(document.metadata),
        "content_hash": content_digest(document.content_hash),
    }


def _listing_store(shelf: TenantStore) -> ListableStore:
    """The store as what shows its documents; raises a 501 problem for one that cannot."""
    if not isinstance(shelf.store, ListableStore):
        raise ProblemError(501, "not-implemented", "this service's store cannot show documents")
    return shelf.store


class _Whole:
    """An embedder that others use too: a batch goes on to its end, and behind it all may stop."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimensions = embedder.name, embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Any:
        """The embedder's vectors."""
        with shield():
            return self._embedder.embed(texts)


def _load_document(
    name: str, asked: DocumentRequest, how: Cutting, limits: Limits
) -> tuple[LoadedDocument, Document]:
    path = Path(f"{_NO_FILE_NAME}{_SUFFIXES[asked.media_type]}")
    (loaded,) = load_in_process(asked.text.encode(), path, limits)
    if isinstance(loaded, BadInput):
        raise loaded
    if not loaded.text.strip():
        raise BadInput("holds nothing to read", field="text")
    own = loaded.title if loaded.title != _NO_FILE_NAME else name
    document = Document(
        id=name,
        source=asked.source or name,
        text=loaded.text,
        title=asked.title if asked.title is not None else own,
        summary=asked.summary if asked.summary is not None else loaded.summary,
        modified_at=_parse_time(asked.modified_at) or loaded.modified_at,
        principals=tuple(sorted(set(asked.principals))),
        metadata={**loaded.metadata, **asked.metadata},
    )
    return loaded, replace(document, content_hash=_content_hash(document, loaded, how))


def _content_hash(document: Document, loaded: LoadedDocument, how: Cutting) -> str:
    """Of all that is kept, and how it is cut."""
    values = [getattr(document, field) for field in Document.__dataclass_fields__]
    sections = [(each.start, each.end, each.path) for each in loaded.sections]
    line = json.dumps([how.key(), values, sections], sort_keys=True, default=str)
    return blake3(f"put\n{line}".encode()).hexdigest(16)


def _parse_time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput("must be an ISO 8601 date and time", field="modified_at") from None


def _chunk_settings(settings: Settings, fingerprint: str, shelf: TenantStore) -> Cutting:
    """As `foveate index` cuts and enriches what it reads of files."""
    return Cutting(
        size=settings.size,
        overlap=settings.overlap,
        language="en",
        fingerprint=fingerprint,
        embedder=shelf.embedder.name if shelf.embedder is not None else "",
        principals=(),
        enrich=Enrich(summaries=settings.summaries, questions=settings.questions),
    )


def _with_unique_ids(made: PreparedDocument) -> tuple[Chunk, ...]:
    """The chunks under ids that nobody else has, where another document has taken the usual."""
    mark = blake3(made.document.id.encode()).hexdigest(8)
    return tuple(replace(chunk, id=f"{chunk.id}#{mark}") for chunk in made.chunks)
