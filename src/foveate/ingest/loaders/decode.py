"""Decodes bytes as text, or refuses them.

A byte order mark decides, then UTF-8, then the encoding that the file declares, then the one that
the caller names. What is left is read as Windows-1252 if it looks like a western language; the
document's metadata and the report name the encoding. No other is guessed: charset-normalizer read
short French text as Czech.
"""

from __future__ import annotations

import codecs
import re
from encodings.aliases import aliases

from foveate.core.errors import BadInput, UnknownName

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = "windows-1252"
_NO_FILES = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-16", "utf-32"}
)
"""Codecs of names and of source code; some take the square of a text's length. The last two are
known by a mark alone, for without one they do not say the order of their bytes."""
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_HEAD_BYTES = 1024
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LETTERS = bytes(n for n in range(0x100) if bytes([n]).decode("cp1252", "replace").isalpha())
_ACCENTED = bytes(range(0x80, 0x100))


def check_encoding(name: str) -> str:
    """The encoding's name; empty stays empty. Raises `UnknownName`.

    >>> check_encoding("Latin-1")
    'iso8859-1'
    """
    if not name:
        return ""
    if not _is_text_encoding(name):
        known = {each.replace("_", "-") for each in {*aliases, *aliases.values()}}
        raise UnknownName(
            "encoding",
            name,
            [each for each in known if each[0].isalpha() and _is_text_encoding(each)],
        )
    return codecs.lookup(name).name


def declared_encoding(data: bytes) -> str:
    """The encoding that an HTML or XML file declares in its first bytes, or empty."""
    found = _DECLARED.search(data[:_HEAD_BYTES])
    return (found[1] or found[2]).decode() if found else ""


def to_utf8(data: bytes, declared: str = "", named: str = "") -> tuple[bytes, str]:
    r"""The text in UTF-8 and the encoding it was in; the encoding is empty if it is no assumption.

    That is so for UTF-8 and after a byte order mark. `declared`: by the file. `named`: by the
    caller. Raises `BadInput` on binary data and on other encodings.

    >>> to_utf8(b"caf\xe9 noir")[1], to_utf8("café".encode())[1]
    ('windows-1252', '')
    """
    if any(data.startswith(mark) for mark, _ in _MARKS):
        return data, ""
    if _is_utf8(data) and not (named and data.isascii()):
        return data, ""
    encoding = declared if _is_text_encoding(declared) else named
    if encoding:
        text = _decode_as(data, encoding).encode()
        return text, codecs.lookup(encoding).name if text != data else ""
    if _looks_western(data):
        return data.decode(_WESTERN).encode(), _WESTERN
    return decode(data).encode(), ""


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
            f"not UTF-8: byte 0x{data[error.start]:02x} at {error.start}; name its encoding "
            f"(--encoding), or convert the file to UTF-8"
        ) from None


def decode_part(data: bytes, charset: str) -> str:
    """The same for a part of a mail, whose header has the charset: `utf-16le` and its like count.

    A file that declares one of these in readable bytes is not in it; a mail's header is apart from
    the bytes.
    """
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = ""
    if not name.startswith(("utf-16", "utf-32")) or any(data.startswith(m) for m, _ in _MARKS):
        return decode(data, charset)
    if name in _NO_FILES:
        raise BadInput(f"{name} without a byte order mark, which says the order of its bytes")
    return _decode_as(data, name)


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise BadInput(
            f"not {encoding}, which its mark, its declaration or --encoding says: {error}"
        ) from None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _looks_western(data: bytes) -> bool:
    """Whether at most a third of the letters are accented, and no character is a control."""
    letters = len(data) - len(data.translate(None, _LETTERS))
    accented = len(data) - len(data.translate(None, _ACCENTED))
    if 3 * accented > letters:
        return False
    try:
        return not _CONTROL.search(data.decode(_WESTERN))
    except UnicodeError:
        return False


def _is_text_encoding(name: str) -> bool:
    try:
        found = codecs.lookup(name)
        return found._is_text_encoding and found.name not in _NO_FILES  # noqa: SLF001
    except (LookupError, ValueError):
        return False
