"""Bytes of images in content parts, in place of their hashes.

A context names an image by its address, or by `blake3:` and the hash of its bytes. The bytes are
put in when the messages are made; they are in no context, manifest or bundle.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.images import HASH_SCHEME, image_hash, read_image_header

ImageSource: TypeAlias = str | PathLike[str] | Callable[[str], bytes | None]
"""A directory with a file for each hash, or what gives the bytes of a hash; None leaves it out."""


def add_image_bytes(
    parts: Sequence[Mapping[str, Any]], images: ImageSource | None
) -> list[dict[str, Any]]:
    """The parts with bytes where they name a hash.

    Raises `BadOption` without a source for them, `BadInput` for other bytes than the hash's,
    `ExternalError` for a file that cannot be read.
    """
    return [shown for part in parts if (shown := _with_bytes(dict(part), images)) is not None]


def _with_bytes(part: dict[str, Any], images: ImageSource | None) -> dict[str, Any] | None:
    if part.get("type") == "image" and part["source"].get("type") == "url":
        url = part["source"]["url"]
    elif part.get("type") == "image_url":
        url = part["image_url"]["url"]
    else:
        return part
    if not url.startswith(HASH_SCHEME):
        return part
    found = _read(url.removeprefix(HASH_SCHEME), images)
    if found is None:
        return None
    media_type, data = found
    if part["type"] == "image":
        part["source"] = {"type": "base64", "media_type": media_type, "data": data}
    else:
        part["image_url"] = {"url": f"data:{media_type};base64,{data}"}
    return part


def _read(wanted: str, images: ImageSource | None) -> tuple[str, str] | None:
    """Media type and base64 data; None where the image is to be left out."""
    if images is None:
        raise BadOption(
            f"the context has an image by its hash, {wanted}; say where its bytes are: "
            "messages(context, images=DIRECTORY), or a function of the hash"
        )
    data = images(wanted) if callable(images) else read_image_file(Path(images), wanted)
    if data is None:
        return None
    return check_image(data, wanted), b64encode(data).decode()


def check_image(data: bytes, wanted: str) -> str:
    """The media type of an image; raises `BadInput` for other bytes than the hash's."""
    header = read_image_header(data)
    if header is None or image_hash(data) != wanted:
        raise BadInput(f"image {wanted}: its bytes are others than were hashed", field="images")
    return header.media_type


def read_image_file(folder: Path, name: str) -> bytes:
    """The file of that name in the folder; raises `ExternalError`."""
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise ExternalError(f"image {name}: no file in {str(folder)!r}: {error.strerror}") from None
