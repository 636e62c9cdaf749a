"""What a file's first bytes say it is, where that is not what its name says. Parses nothing."""

from __future__ import annotations

from pathlib import Path

from foveate.core.errors import BadInput

__all__ = ["check_format"]

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SIGNS = (
    (b"%PDF-", "a PDF", ("pdf",)),
    (b"PK\x03\x04", "a zip archive or an Office file", ("docx", "pptx", "xlsx")),
    (b"PK\x05\x06", "an empty zip archive", ("docx", "pptx", "xlsx")),
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
_MADE_OF = {"pdf": b"%PDF-", "docx": b"PK", "pptx": b"PK", "xlsx": b"PK"}
_HEAD = 1024  # a PDF may begin this much later, says its specification


def check_format(data: bytes, path: Path, kind: str) -> None:
    r"""Raise `BadInput` where the bytes are of another format than `kind`, the name's loader.

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
        raise BadInput(f"named {named}, but it is an Office file of before 2007; save it anew")
    for sign, what, kinds in _SIGNS:
        if data.startswith(sign) and kind not in kinds:
            raise BadInput(f"named {named}, but it is {what}; give it the right suffix")
    if made_of and made_of not in data[:_HEAD]:
        raise BadInput(f"named {named}, but it does not begin like one")
