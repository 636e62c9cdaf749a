"""Decodes bytes as text, or refuses them.

A byte order mark decides, then UTF-8, then the encoding that the file declares. Nothing is guessed:
charset-normalizer read short French text as Czech, and a wrong guess would be cited unnoticed.
"""

from __future__ import annotations

import codecs

from foveate.core.errors import BadInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, declared: str = "") -> str:
    r"""The text; raises `BadInput` on binary data and on other encodings than the file says.

    >>> decode("café".encode()), decode(b"caf\xe9", "latin-1")
    ('café', 'café')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data, encoding)
    if (at := data.find(b"\0")) >= 0:
        raise BadInput(f"binary, not text: a NUL byte at {at}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if _is_text_encoding(declared):
            return _decode_as(data, declared)
        raise BadInput(
            f"not UTF-8: byte 0x{data[error.start]:02x} at {error.start}; convert the file to UTF-8"
        ) from None


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise BadInput(f"says it is {encoding}, but is not: {error}") from None


def _is_text_encoding(name: str) -> bool:
    try:
        return bool(name) and codecs.lookup(name)._is_text_encoding  # noqa: SLF001
    except (LookupError, ValueError):
        return False
