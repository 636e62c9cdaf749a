"""What an address or the name of a file stands for in a context: entries, by their markers.

Rules: a whole source or a document's id says which it is, and so does that of a dropped copy. The
bare name of a file does where all that are called so are one source; two folders may each hold a
`readme.md`, and which is meant cannot be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foveate.core.types import Citation


def find_markers_by_name(entries: Iterable[Citation], names: set[str]) -> tuple[int, ...] | None:
    """The markers of what is called by one of the names; None where it could be several things."""
    known = list(entries)
    whole = tuple(
        one.marker for one in known if any(names & set(two) for two in _entry_sources(one))
    )
    if whole:
        return whole
    found: dict[int, set[str]] = {}
    for one in known:
        for source, _ in _entry_sources(one):
            if _file_name(source) in names:
                found.setdefault(one.marker, set()).add(source)
    if len(found) > 1 and len(set().union(*found.values())) > 1:
        return None
    return tuple(found)


def _entry_sources(entry: Citation) -> Iterator[tuple[str, str]]:
    """Source and document's id, of the entry itself and of each copy that was dropped for it."""
    yield entry.source, entry.document_id
    for copy in entry.corroborating:
        yield copy.source, copy.document_id


def _file_name(source: str) -> str:
    """The last part of a path or an address; a name of nothing where it ends with a slash."""
    return source.replace("\\", "/").rpartition("/")[2] or source
