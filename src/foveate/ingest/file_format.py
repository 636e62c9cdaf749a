"""Checks by the first bytes of a file that it has the format that its name says."""

from __future__ import annotations

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


def check_format(data: bytes, path: Path, kind: str) -> None:
    """Raise `BadInput` if the first bytes are of another format than `kind`.

    >>> check_format(b"%PDF-1.7", Path("a.docx"), "docx")
    Traceback (most recent call last):
    foveate.core.errors.BadInput: named .docx, but it is a PDF; give it the right suffix
    """
    named = f"named {path.suffix.lower()}, but it is" if path.suffix else "without a suffix:"
    made_of = _MADE_OF.get(kind)
    if made_of and not data:
        raise BadInput("empty: 0 bytes")
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise BadInput("encrypted: save it without a password")
        raise BadInput(f"{named} an Office file of before 2007; save it again")
    for sign, what, kinds in _SIGNS:
        if data.startswith(sign) and kind not in kinds:
            raise BadInput(f"{named} {what}; give it the right suffix")
    if made_of and made_of not in data[:_HEAD]:
        raise BadInput(f"named {path.suffix.lower()}, but it does not begin like one")
