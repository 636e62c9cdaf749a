"""Documents of a tenant: written through our own loaders and chunker, listed, read, deleted.

Rules: whoever may write may replace and delete what it may not read, and is told the same in
every case; nothing is written where the content is what is there already; a document that came
over HTTP has no file, so that no folder's index ever deletes it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from blake3 import blake3

from foveate import readings
from foveate.adapters.loaders.limits import Limits
from foveate.core.errors import BadInput
from foveate.core.types import Chunk
from foveate.ingest import Enrich
from foveate.ingest.enrich import enriched
from foveate.ingest.load import read_here
from foveate.ingest.one import Prepared, vectors_of
from foveate.ingest.prepare import Settings as Cutting
from foveate.ingest.prepare import chunked, digest_of
from foveate.plugins import tokenizer
from foveate.ports import Document, Lists, Loaded
from foveate.service.auth.caller import Caller
from foveate.service.held import Held
from foveate.service.problems import ProblemError
from foveate.service.settings import Settings
from foveate.service.shelves import Shelf
from foveate.service.wire import cursor
from foveate.service.wire.document import DocumentAsked, ListAsked

COUNTER = "cl100k_base"
_SUFFIXES = {"text/plain": ".txt", "text/markdown": ".md", "text/html": ".html"}
_NAMELESS = "\0"
"""As a file's name, which loaders take for a title where the text has none; no text holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A document that can be written; `kept`: it is there already, as it is."""

    prepared: Prepared
    kept: bool


def prepared(held: Held, caller: Caller, name: str, asked: DocumentAsked) -> Ready:
    """Everything that is to be worked out before the write; raises `BadInput`."""
    counter = tokenizer(COUNTER)
    with held.shelves.of(caller.tenant) as shelf:
        how = _cutting(held.settings, counter.fingerprint, shelf)
        loaded, document = _document(name, asked, how)
        there = _lists(shelf).document(name, principals=caller.principals)
        kept = there is not None and there.content_hash == document.content_hash
        pieces, counts = chunked(loaded, document, how, counter)
        described, chunks = enriched(document, pieces, how.enrich, counter, how.language)
        embedder = None if kept else shelf.embedder
        return Ready(
            kept=kept,
            prepared=Prepared(
                document=described,
                chunks=chunks,
                counts=tuple(counts),
                vectors=vectors_of(embedder, [chunk.text for chunk in pieces]),
                readings={} if kept else readings.made(chunks),
            ),
        )


def written(held: Held, caller: Caller, ready: Ready) -> dict[str, Any]:
    """Write it, in one transaction; what is told of it is the same whatever was there."""
    made = ready.prepared
    fingerprint = tokenizer(COUNTER).fingerprint
    with held.shelves.of(caller.tenant) as shelf:
        if not ready.kept:
            writer = shelf.writer()
            for chunks in (made.chunks, _renamed(made)):
                try:
                    writer.put(
                        made.document, chunks, made.vectors, made.counts, fingerprint=fingerprint
                    )
                    break
                except BadInput as error:
                    if error.field != "id" or chunks is not made.chunks:
                        raise
            readings.keep(writer, made.readings)
        return {
            "id": made.document.id,
            "content_hash": made.document.content_hash,
            "chunks": len(made.chunks),
            "state_root": shelf.store.state_root(principals=caller.principals),
        }


def deleted(held: Held, caller: Caller, name: str) -> None:
    """Delete it, if it is there."""
    with held.shelves.of(caller.tenant) as shelf:
        shelf.writer().delete(name)


def listed(held: Held, caller: Caller, asked: ListAsked) -> dict[str, Any]:
    """One page of what the caller may read."""
    after = cursor.read(asked.cursor, str)[0] if asked.cursor is not None else ""
    with held.shelves.of(caller.tenant) as shelf:
        found = _lists(shelf).listed(
            after=after, limit=asked.limit + 1, principals=caller.principals
        )
    more, found = len(found) > asked.limit, found[: asked.limit]
    return {
        "documents": [_as_json(document) for document in found],
        "next": cursor.written([found[-1].id]) if more else None,
    }


def read(held: Held, caller: Caller, name: str) -> dict[str, Any]:
    """One document with its text; a 404 problem where it is not there, or not to be read."""
    with held.shelves.of(caller.tenant) as shelf:
        found = _lists(shelf).document(name, principals=caller.principals)
    if found is None:
        raise ProblemError(404, "not-found", "there is no such document")
    return {**_as_json(found), "text": found.text}


def _as_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "summary": document.summary,
        "modified_at": document.modified_at.isoformat() if document.modified_at else None,
        "principals": list(document.principals),
        "metadata": dict(document.metadata),
        "content_hash": digest_of(document.content_hash),
    }


def _lists(shelf: Shelf) -> Lists:
    """The store as what shows its documents; raises a 501 problem for one that cannot."""
    if not hasattr(shelf.store, "listed"):
        raise ProblemError(501, "not-implemented", "this service's store cannot show documents")
    return cast("Lists", shelf.store)


def _document(name: str, asked: DocumentAsked, how: Cutting) -> tuple[Loaded, Document]:
    path = Path(f"{_NAMELESS}{_SUFFIXES[asked.media_type]}")
    (loaded,) = read_here(asked.text.encode(), path, Limits())
    if isinstance(loaded, BadInput):
        raise loaded
    if not loaded.text.strip():
        raise BadInput("holds nothing to read", field="text")
    own = loaded.title if loaded.title != _NAMELESS else name
    document = Document(
        id=name,
        source=asked.source or name,
        text=loaded.text,
        title=asked.title if asked.title is not None else own,
        summary=asked.summary if asked.summary is not None else loaded.summary,
        modified_at=_instant(asked.modified_at) or loaded.modified_at,
        principals=tuple(sorted(set(asked.principals))),
        metadata={**loaded.metadata, **asked.metadata},
    )
    return loaded, replace(document, content_hash=_hash(document, loaded, how))


def _hash(document: Document, loaded: Loaded, how: Cutting) -> str:
    """Of all that is kept, and how it is cut."""
    values = [getattr(document, field) for field in Document.__dataclass_fields__]
    sections = [(each.start, each.end, each.path) for each in loaded.sections]
    line = json.dumps([how.key(), values, sections], sort_keys=True, default=str)
    return blake3(f"put\n{line}".encode()).hexdigest(16)


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput("must be an ISO 8601 date and time", field="modified_at") from None


def _cutting(settings: Settings, fingerprint: str, shelf: Shelf) -> Cutting:
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


def _renamed(made: Prepared) -> tuple[Chunk, ...]:
    """The chunks under ids that nobody else has, where another document has taken the usual."""
    mark = blake3(made.document.id.encode()).hexdigest(8)
    return tuple(replace(chunk, id=f"{chunk.id}#{mark}") for chunk in made.chunks)
