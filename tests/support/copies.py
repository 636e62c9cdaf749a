"""What is kept of a copy that was dropped."""

from __future__ import annotations

from foveate.core.types import Candidate, Source


def as_source(one: Candidate) -> Source:
    """Where a candidate comes from, as the copy that stays names it."""
    c = one.chunk
    return Source(
        chunk_id=c.id, document_id=c.document_id, source=c.source, title=c.title, page=c.page
    )
