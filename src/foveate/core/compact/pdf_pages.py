"""How many pages a PDF has, found without reading it: each page is an object that says so."""

from __future__ import annotations

import re
import zlib
from itertools import islice

PDF = b"%PDF-"
"""How such a file begins."""
_PAGE = re.compile(rb"/Type\s*+/Page\b")
_OBJECTS = re.compile(rb"/ObjStm\b")
_STREAM = re.compile(rb"\bstream\r?\n")
LONGEST_HEAD = 400
"""Bytes between the type of an object stream and its data."""
MOST_STREAMS, MOST_BYTES = 500, 200_000
"""Object streams that are looked into, and bytes of each, for they may be made to grow."""


def count_pages(data: bytes) -> int:
    """Pages of a PDF, at least one.

    >>> count_pages(b"%PDF-1.4 1 0 obj << /Type /Pages >> 2 0 obj << /Type /Page >>")
    1
    """
    pages = len(_PAGE.findall(data))
    for head in islice(_OBJECTS.finditer(data), MOST_STREAMS):
        stream = _STREAM.search(data, head.end(), head.end() + LONGEST_HEAD)
        if stream is None:
            continue
        try:
            packed = data[stream.end() : stream.end() + MOST_BYTES]
            inner = zlib.decompressobj().decompress(packed, MOST_BYTES)
        except zlib.error:
            continue
        pages += len(_PAGE.findall(inner))
    return max(pages, 1)
