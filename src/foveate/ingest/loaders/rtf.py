r"""Reads Rich Text files: paragraphs, headings by their outline level, tables as rows.

One linear pass over the words. Left out: pictures, objects, headers and footers, and what is
marked as optional (`\*`) or hidden.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.text import plain_title, sections_from_headings
from foveate.ports import LoadedDocument

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})?[ ]?+"
    rb"|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z\r\n])|\\(?P<line>\r\n?+|\n)"
    rb"|(?P<open>\{)|(?P<close>\})|(?P<blank>[\r\n]++)|(?P<text>[^\\{}\r\n]++)",
)
_DROPPED = re.compile(
    r"(?:font|color|file|rev|xmlns|rsid)tbl|stylesheet|(?:nonshp)?pict|object|generator"
    r"|(?:head|foot)er[lrf]?|list(?:override)?table|themedata|datafield|fldinst"
)
_INFO = {"title": "title", "author": "author"}
_SIGNS = dict(
    zip(
        ("tab", "line", "emdash", "endash", "bullet", "lquote", "rquote", "ldblquote", "rdblquote"),
        "\t\n\u2014\u2013\u2022\u2018\u2019\u201c\u201d",
        strict=True,
    )
)
_ESCAPED = {b"~": "\u00a0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
_BREAKS = frozenset({"par", "sect", "page", "column"})
_MAX_LEVEL = 9
_FIRST = 0x20  # below are controls


def load_rtf(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    r"""The file as one document, titled by its properties, its first heading or its name.

    >>> load_rtf(rb"{\rtf1\ansi The valve\'92s cap.\par Close it.}", Path("a.rtf"))[0].text
    'The valve’s cap.\n\nClose it.'
    """
    if not data.startswith(b"{\\rtf"):
        raise BadInput("no Rich Text file: it does not begin like one")
    body = _Body(Blocks(limits), limits)
    body.read(data)
    text, headings = body.blocks.text(), body.blocks.headings
    first = next((name for _, level, name in headings if level == 1), path.stem)
    author = plain_title("".join(body.info["author"]))
    loaded = LoadedDocument(
        text=text,
        title=plain_title("".join(body.info["title"])) or first,
        sections=sections_from_headings(text, headings),
        metadata={"author": author} if author else {},
        lines=False,
    )
    return (loaded,)


@dataclass(slots=True)
class _Group:
    """What holds up to the next closing brace. `into`: `body`, a property, or empty for nothing."""

    into: str = "body"
    hidden: bool = False
    fallback: int = 1  # characters that stand for one of Unicode in old readers


@dataclass(slots=True)
class _Body:
    blocks: Blocks
    limits: Limits
    info: dict[str, list[str]] = field(default_factory=lambda: {"title": [], "author": []})
    _groups: list[_Group] = field(default_factory=lambda: [_Group()])
    _parts: list[str] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    _encoding: str = "cp1252"
    _high: int = 0  # the first half of a character beyond the first plane
    _skip: int = 0  # characters to pass over
    _level: int = 0
    _in_table: bool = False
    _cells: list[str] = field(default_factory=list)
    _size: int = 0

    def read(self, data: bytes) -> None:
        """All words of the file, in order."""
        at = 0
        while token := _TOKEN.match(data, at):
            at = token.end()
            if token["word"] == b"bin":
                at += max(int(token["number"] or 0), 0)
            else:
                self._handle(token)
        if len(self._groups) > 1:
            raise BadInput("damaged: it ends inside of a group")
        self._end_paragraph()
        self._end_row()

    def _handle(self, token: re.Match[bytes]) -> None:
        kind = token.lastgroup
        if kind == "open":
            self._open_group()
        elif kind == "close":
            self._close_group()
        elif token["word"]:
            self._word(token["word"].decode(), int(token["number"]) if token["number"] else None)
        elif kind == "hex":
            self._put(bytes([int(token["hex"], 16)]))
        elif kind == "text":
            self._put(token["text"])
        elif kind == "line":
            self._end_paragraph()
        elif token["sign"] == b"*":
            self._groups[-1].into = ""
        elif token["sign"] in _ESCAPED:
            self._say(_ESCAPED[token["sign"]])

    def _open_group(self) -> None:
        self._flush()
        self.limits.check_bound("depth", len(self._groups), "groups in one another")
        outer = self._groups[-1]
        self._groups.append(_Group(outer.into, outer.hidden, outer.fallback))
        self._skip = 0

    def _close_group(self) -> None:
        self._flush()
        self._skip = 0
        if len(self._groups) > 1:
            self._groups.pop()

    def _word(self, word: str, number: int | None) -> None:
        group = self._groups[-1]
        if word == "u" and number is not None:
            self._unicode(number % 0x10000)
            self._skip = group.fallback
        elif word == "uc":
            group.fallback = min(max(number or 0, 0), 99)
        elif word == "ansicpg" and number is not None:
            self._encoding = _code_page(number)
        elif _DROPPED.fullmatch(word):
            group.into = ""
        elif word == "info":
            group.into = "info"
        elif word in _INFO and group.into == "info":
            group.into = word
        elif word == "v":
            group.hidden = number != 0
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif group.into == "body":
            self._layout(word, number)

    def _layout(self, word: str, number: int | None) -> None:
        """Paragraphs and tables."""
        if word in _BREAKS:
            self._end_paragraph()
        elif word == "pard":
            self._level, self._in_table = 0, False
        elif word == "outlinelevel" and number is not None and 0 <= number < _MAX_LEVEL:
            self._level = number + 1
        elif word == "intbl":
            self._in_table = True
        elif word in ("cell", "nestcell"):
            self._cells.append(self._take())
        elif word == "row":
            self._end_row()

    def _unicode(self, code: int) -> None:
        self._flush()
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            if self._high:
                self._say(chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00))
            self._high = 0
        else:
            self._say(chr(code) if code >= _FIRST else "")

    def _put(self, data: bytes) -> None:
        """Bytes of the file's code page, the fallback of a Unicode character left out."""
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._bytes += data[skipped:]

    def _flush(self) -> None:
        if self._bytes:
            data, self._bytes = bytes(self._bytes), bytearray()
            self._add(data.decode(self._encoding, "replace"))

    def _say(self, text: str) -> None:
        self._flush()
        self._add(text)

    def _add(self, text: str) -> None:
        group = self._groups[-1]
        if not group.into or group.into == "info" or group.hidden:
            return
        self._size += len(text)
        self.limits.check_bound("text_chars", self._size, "characters of text")
        (self._parts if group.into == "body" else self.info[group.into]).append(text)

    def _take(self) -> str:
        self._flush()
        text, self._parts = "".join(self._parts), []
        return text

    def _end_paragraph(self) -> None:
        if self._in_table:
            self._say(" ")
            return
        text = self._take()
        if self._level:
            self.blocks.add_heading(self._level, text)
        else:
            self.blocks.add_paragraph(text)

    def _end_row(self) -> None:
        if self._cells:
            self.blocks.add_row(self._cells)
            self._cells = []


def _code_page(number: int) -> str:
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return "utf-8" if number == 65_001 else "cp1252"
