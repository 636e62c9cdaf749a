"""Blobs: base64, hexadecimal digits and PEM, which say nothing to a reader, whole or in part.

Each is one unit that says nothing by itself; where it is left out, its characters are counted.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.shape import CHARACTERS, Counted, Shape

NAME = "blob"
SHORTEST = 200
"""Characters: longer than any hash, key or signature that a text names."""
_DIGITS = r"[A-Za-z0-9+/_-]"
_AS_DIGITS = bytes([b"- "[re.match(_DIGITS, chr(n)) is None] for n in range(256)])
_RUN = b"-" * 48
"""What every blob has and hardly any other text, of which each digit is written `-`."""
_BLOB = re.compile(
    rf"""-----BEGIN\ (?P<pem>[A-Z0-9 ]{{1,40}})-----[^-]{{{SHORTEST},}}+-----END\ (?P=pem)-----
    | (?<!{_DIGITS})(?:data:[\w/+.-]{{1,60}}+;base64,)?
      (?:{_DIGITS}{{{SHORTEST},}}+={{0,2}}
        | (?:{_DIGITS}{{48,128}}+\r?\n){{2,}}+(?:{_DIGITS}{{1,128}}+={{0,2}}(?=\r?$))?)""",
    re.MULTILINE | re.VERBOSE,
)
_HEX = re.compile(r"[0-9a-fA-F\s]++")
_BASE64 = tuple(map(re.compile, ("[0-9]", "[a-z]", "[A-Z]")))
_LOOKED_AT = 1_000
"""Characters of a run by which its kind is told: 200 of base64 hold all three of `_BASE64`."""


def find_blobs(text: str) -> list[Shape]:
    """The blobs of a text, in order.

    >>> code = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo9" * 9
    >>> [(blob.start, blob.counted[0].noun) for blob in find_blobs(f"The key: {code}.")]
    [(9, 'base64 characters')]
    """
    found: list[Shape] = []
    for blob in _BLOB.finditer(text) if _has_run(text) else ():
        start, end = blob.start(), blob.start() + len(blob[0].rstrip())
        kind = "pem" if blob["pem"] else _kind(text[start : min(end, start + _LOOKED_AT)])
        if kind and end - start >= SHORTEST:
            span = (start, end)
            counted = Counted(f"{kind} {CHARACTERS}", (span,))
            found.append(Shape(NAME, *span, (span,), (0,), (counted,)))
    return found


def _has_run(text: str) -> bool:
    return _RUN in text.encode("latin-1", "replace").translate(_AS_DIGITS)


def _kind(run: str) -> str:
    """What the digits are; empty for words, and for sequences of a few letters."""
    if _HEX.fullmatch(run):
        return "" if run.isdigit() or run.isalpha() else "hex"
    return "base64" if all(one.search(run) for one in _BASE64) else ""
