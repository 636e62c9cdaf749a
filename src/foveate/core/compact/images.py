"""Tokens of images by the providers' published formulas, and names of what is no text.

Sizes are read from the first bytes of inline PNG, JPEG, GIF and WebP data. An image without a
known size counts as the largest.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

from foveate.core.image_files import read_image_header

LARGEST = 1_600
"""Tokens: the most that a provider takes for one image (Anthropic; OpenAI's most is 1,105)."""
LOW_DETAIL = 85
"""Tokens of an image with `detail: low` (OpenAI)."""
_HEADER = 64_000  # base64 characters in which the size is looked for
_DATA_KEYS = ("data", "file_data", "image_url", "url")
MEDIA = ("image", "image_url", "input_image", "document", "file", "input_file", "audio")
"""Kinds of blocks whose bytes are no text."""


def media_tokens(block: Mapping[str, Any]) -> int:
    """Tokens of an image, a document or another block of bytes, rounded up."""
    if "low" in (block.get("detail"), _mapping(block.get("image_url")).get("detail")):
        return LOW_DETAIL
    size = image_size(inline_data(block))
    if size is None:
        return LARGEST
    return min(LARGEST, max(LOW_DETAIL, math.ceil(size[0] * size[1] / 750)))


def inline_data(block: Any) -> str:
    """The base64 data somewhere in a block; empty where it refers to a file elsewhere."""
    if not isinstance(block, Mapping):
        return ""
    for key, value in block.items():
        if key in _DATA_KEYS and isinstance(value, str):
            head, comma, data = value.partition(";base64,")
            if comma:
                return data
            if not head.startswith(("http://", "https://")) and key in ("data", "file_data"):
                return value
        elif isinstance(value, Mapping) and (found := inline_data(value)):
            return found
    return ""


def image_size(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of base64 image data; None where they are not known."""
    try:
        header = read_image_header(base64.b64decode(data[:_HEADER], validate=False))
    except binascii.Error:
        return None
    return header and (header.width, header.height)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
