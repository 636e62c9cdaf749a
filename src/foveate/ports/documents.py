"""What comes in: a file's bytes through a loader, and a document as stores keep it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from foveate.core.errors import BadInput

QUESTIONS = "canonical_questions"
"""The key in a chunk's metadata under which the questions stand that it answers, as a list.

Stores index a chunk under the terms of its questions too (`stores.rows.indexed_terms`). In a
document's metadata they are those of all its chunks.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source as the store keeps it. `text` is what the chunks' offsets refer to."""

    id: str
    source: str
    text: str
    title: str = ""
    summary: str = ""
    modified_at: datetime | None = None
    principals: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    content_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading's reach in a loaded text: `text[start:end]` lies under `path`."""

    start: int
    end: int
    path: str
    page: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """What a loader made of a file: one text, and where its sections, pages and rows stand.

    `sections` are in order and apart. `id` is empty where the document is the whole file, the
    document's own with `own_id`, and without it what is put behind the file's name for this part
    of it. `lines`: whether the text's lines are the file's. `principals` empty: whatever the
    caller says of all documents. `front`: so many characters at the beginning are no text of the
    document's; they are counted in every offset, and are in no chunk.
    """

    text: str
    title: str = ""
    sections: Sequence[Section] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    own_id: bool = True
    source: str = ""
    summary: str = ""
    modified_at: datetime | None = None
    principals: tuple[str, ...] = ()
    lines: bool = True
    front: int = 0


class Loader(Protocol):
    """Turns a file's bytes into documents: texts with positions."""

    def __call__(self, data: bytes, path: Path) -> Iterable[LoadedDocument | BadInput]:
        """Raise `BadInput` where the bytes are not what the name says, at the latest when read.

        Where a part of the file alone is not usable, its `BadInput` stands in its place.
        """
