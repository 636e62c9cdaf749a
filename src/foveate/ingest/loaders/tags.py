"""Reads HTML as a stream of tags and texts, in linear time for any input.

There is no tree: tree builders are quadratic in nesting (lexbor took 252 s for 1.2 MB of open
`div`s), and `html.parser` is quadratic in unclosed tags. The tokens are those of the HTML standard
as far as a reader's text needs them. Patterns are possessive; nothing raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal


def element_names(text: str) -> frozenset[str]:
    """The names of elements in `text`, parted by spaces."""
    return frozenset(text.split())


_MARKUP = re.compile(
    r"""
      <!--
    | <(?P<slash>/?)(?P<name>[a-zA-Z][^\s/>]*+)
      (?P<attributes>(?:[^>"'=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[="'])*+)(?:>|\Z)
    | <[!?/][^>]*+(?:>|\Z)
    """,
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?+""")
_RAW = element_names("script style textarea title xmp iframe noembed noframes")
_RAW_END = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in sorted(_RAW)}
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|text-decoration(?:-line)?\s*:[^;]*line-through",
    re.IGNORECASE,
)
_MAY_HIDE = re.compile(r"hidden|none|line-through", re.IGNORECASE)
# `html.unescape` cannot read a number of more than 4,300 digits.
_ENDLESS = re.compile(r"&#(?:[xX][0-9a-fA-F]{8,}+|[0-9]{8,}+);?")


@dataclass(frozen=True, slots=True)
class Tag:
    """A start, an end, or a text between two tags; `raw` is the attributes, or the text itself."""

    kind: Literal["open", "close", "text"]
    name: str
    raw: str


def parse_tags(text: str) -> Iterator[Tag]:
    """The tags and texts in order; comments and declarations are left out.

    >>> [tag.raw or tag.name for tag in parse_tags("<p>Fish &amp; chips<!-- no --></p>")]
    ['p', 'Fish & chips', 'p']
    """
    position = 0
    while (match := _MARKUP.search(text, position)) is not None:
        if match.start() > position:
            yield Tag("text", "", _unescape(text[position : match.start()]))
        position = match.end()
        name = (match["name"] or "").lower()
        if match[0] == "<!--":
            end = text.find("-->", position)
            position = end + 3 if end >= 0 else len(text)
        elif name and match["slash"]:
            yield Tag("close", name, "")
        elif name:
            yield Tag("open", name, match["attributes"])
            if name in _RAW:
                closing = _RAW_END[name].search(text, position)
                end = closing.start() if closing is not None else len(text)
                yield Tag("text", "", _unescape(text[position:end]))
                position = end
    if position < len(text):
        yield Tag("text", "", _unescape(text[position:]))


def parse_attributes(raw: str) -> dict[str, str]:
    """The attributes by lower-case name; the first of a name counts.

    >>> parse_attributes(' HREF="/a" hidden class=b')
    {'href': '/a', 'hidden': '', 'class': 'b'}
    """
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(raw):
        value = match[2] or match[3] or match[4] or ""
        found.setdefault(match[1].lower(), _unescape(value))
    return found


def is_hidden(raw: str) -> bool:
    """Whether these attributes hide their element.

    >>> is_hidden(' style="display: none"'), is_hidden(' class="hidden"')
    (True, False)
    """
    if not raw or _MAY_HIDE.search(raw) is None:
        return False
    found = parse_attributes(raw)
    if "aria-hidden" in found and "katex-html" in found.get("class", ""):
        return True  # a formula that stands beside it as MathML
    return "hidden" in found or _HIDDEN.search(found.get("style", "")) is not None


def _unescape(text: str) -> str:
    return unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text
