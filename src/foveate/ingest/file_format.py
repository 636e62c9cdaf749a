"""Tells the format of a file from its first bytes: of one without a suffix, and to check one."""

from __future__ import annotations

import re
from pathlib import Path

from foveate.core.errors import BadInput

_ZIP = b"PK\x03\x04"
_ZIPPED = ("docx", "epub", "ods", "odt", "pptx", "xlsx")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SIGNS = (
    (b"%PDF-", "a PDF", ("pdf",)),
    (_ZIP, "a zip archive or an Office file", _ZIPPED),
    (b"PK\x05\x06", "an empty zip archive", _ZIPPED),
    (b"\x89PNG\r\n", "a PNG picture", ()),
    (b"\xff\xd8\xff", "a JPEG picture", ()),
    (b"GIF87a", "a GIF picture", ()),
    (b"GIF89a", "a GIF picture", ()),
    (b"\x1f\x8b\x08", "a gzip archive", ()),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive", ()),
    (b"Rar!\x1a\x07", "a RAR archive", ()),
    (b"\x7fELF", "a program", ()),
    (b"{\\rtf", "a Rich Text file", ("text", "markdown", "csv")),
)
_MADE_OF = {"pdf": b"%PDF-", **dict.fromkeys(_ZIPPED, b"PK")}
_HEAD = 1024  # a PDF may begin this much later, says its specification


_ZIP_PARTS = (
    (b"mimetypeapplication/epub+zip", ".epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ".odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"),
    (b"word/", ".docx"),
    (b"ppt/", ".pptx"),
    (b"xl/", ".xlsx"),
)
"""Names of parts, which stand in an archive as they are; the others begin it."""
_PAGE = re.compile(
    rb"\s*+(?:<!doctype html|<html|<\?xml[^>]{0,200}>\s*+<!doctype html)", re.IGNORECASE
)


def suffix_from_content(data: bytes) -> str:
    """The suffix that a file without one should have; raises `BadInput` if it is not read.

    >>> (
    ...     suffix_from_content(b"%PDF-1.7"),
    ...     suffix_from_content(b'{"a": 1}'),
    ...     suffix_from_content(b"a"),
    ... )
    ('.pdf', '.json', '.txt')
    """
    if data.startswith(b"%PDF-"):
        return ".pdf"
    if data.startswith(_ZIP):
        for name, suffix in _ZIP_PARTS:
            if name in data:
                return suffix
    if data.startswith(_OLE):
        raise BadInput("no suffix, and it is an Office file of before 2007 or one with a password")
    for sign, what, _ in _SIGNS:
        if data.startswith(sign):
            raise BadInput(f"no suffix, and it is {what}, which is not read")
    return _text_suffix(data)


def _text_suffix(data: bytes) -> str:
    if _PAGE.match(data):
        return ".html"
    if data.lstrip().startswith(b"<?xml"):
        return ".xml"
    text = data.strip()
    return ".json" if text[:1] in (b"{", b"[") and text[-1:] in (b"}", b"]") else ".txt"


def check_format(data: bytes, path: Path, kind: str) -> None:
    """Raise `BadInput` if the first bytes are of another format than `kind`.

    >>> check_format(b"%PDF-1.7", Path("a.docx"), "docx")
    Traceback (most recent call last):
    foveate.core.errors.BadInput: named .docx, but it is a PDF; give it the right suffix
    """
    named = path.suffix.lower()
    made_of = _MADE_OF.get(kind)
    if made_of and not data:
        raise BadInput("empty: 0 bytes")
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise BadInput("encrypted: save it without a password")
        raise BadInput(f"named {named}, but it is an Office file of before 2007; save it again")
    for sign, what, kinds in _SIGNS:
        if data.startswith(sign) and kind not in kinds:
            raise BadInput(f"named {named}, but it is {what}; give it the right suffix")
    if made_of and made_of not in data[:_HEAD]:
        raise BadInput(f"named {named}, but it does not begin like one")
