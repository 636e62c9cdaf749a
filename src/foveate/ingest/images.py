"""Images of a document: their bytes in a folder by hash, their records with the chunks.

Each chunk that shows a part of an image's text has the image's record in its metadata.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from foveate.core.errors import ExternalError
from foveate.core.images import IMAGES, MAX_IMAGES, image_from_bytes, image_hash
from foveate.core.types import Chunk
from foveate.ports import LoadedImage
from foveate.stores.atomic_write import atomic_write


def make_image_folder(folder: str) -> None:
    """Make the folder; raises `ExternalError` if that is not possible."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExternalError(f"image folder {folder!r}: {error.strerror}") from None


def keep_image(data: bytes, folder: str) -> None:
    """Write an image's bytes under their hash; raises `ExternalError` if that is not possible."""
    path = Path(folder) / image_hash(data)
    try:
        if not path.exists():
            with atomic_write(path) as file:
                file.write(data)
    except OSError as error:
        raise ExternalError(f"image folder {folder!r}: {error.strerror}") from None


def attach_images(chunks: list[Chunk], images: Sequence[LoadedImage]) -> list[Chunk]:
    """The chunks with the records of their images; one between two chunks belongs to the first."""
    starts = [chunk.start or 0 for chunk in chunks]
    records: dict[int, list[dict[str, object]]] = {}
    for image in images:
        record = image_from_bytes(image.data, caption=image.caption, page=image.page).to_json()
        for place in _places(chunks, starts, image):
            own = records.setdefault(place, [])
            if len(own) < MAX_IMAGES:
                own.append(record)
    found = list(chunks)
    for place, own in records.items():
        chunk = chunks[place]
        found[place] = replace(chunk, metadata={**chunk.metadata, IMAGES: own})
    return found


def _places(chunks: Sequence[Chunk], starts: Sequence[int], image: LoadedImage) -> list[int]:
    """The chunks that show a part of the image's text, else the last that begins before it."""
    last = bisect_right(starts, max(image.end - 1, image.start)) - 1
    first = max(last, 0)
    while first > 0 and (chunks[first - 1].end or 0) > image.start:
        first -= 1
    return list(range(first, max(last, 0) + 1)) if chunks else []
