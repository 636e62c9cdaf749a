"""Reads simple YAML front matter: texts, lists, folded and literal blocks.

All values are texts or lists of texts (`draft: true` is `"true"`); deeper nesting is kept as text.
If one line has another form, there is no front matter. Linear; no anchors, tags or types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from typing import TypeAlias

from foveate.core.text.blocks import front_matter

Value: TypeAlias = str | list[str]

_KEY = re.compile(
    r"(?:([^\W\d][\w./-]{0,99})|\"([^\"\\]{1,100})\"|'([^']{1,100})')[ \t]*+:(?:[ \t](.*))?\Z"
)
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
_BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#.*)?\Z")
_DOUBLE, _SINGLE = r"\"((?:[^\"\\]|\\.)*+)\"", r"'((?:[^']|'')*+)'"
_PARTS = re.compile(rf"\s*+({_DOUBLE}|{_SINGLE}|[^,\[\]{{}}\"']*+)\s*+(?:,|\Z)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The text before the document: its length, and its values by lower-case key."""

    end: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)


def parse_front_matter(text: str) -> FrontMatter:
    r"""The front matter; empty if there is none of a known form.

    >>> parse_front_matter("---\ntitle: Tea\ntags: [a, 'b c']\n---\nBoil water.")
    FrontMatter(end=35, values={'title': 'Tea', 'tags': ['a', 'b c']})
    """
    end = front_matter(text)
    lines = text[:end].removeprefix("\ufeff").splitlines()[1:-1]
    entries: list[tuple[str, str, list[str]]] = []
    for line in lines:
        key = _KEY.match(line)
        if key is not None:
            name = key[1] or key[2] or key[3]
            entries.append((name.lower(), (key[4] or "").strip(), []))
        elif entries and _is_continuation(line, entries[-1][1]):
            entries[-1][2].append(line)
        elif line.strip() and not line.startswith("#"):
            return FrontMatter()
    values = {name: _parse_value(said, under) for name, said, under in entries}
    return FrontMatter(end=end, values={name: value for name, value in values.items() if value})


def _is_continuation(line: str, said: str) -> bool:
    """Whether the line belongs to the key above: indented, an item, or inside a bracket."""
    if not line.strip() or line[0] in " \t":
        return True
    return (not said and _ITEM.match(line) is not None) or (
        said[:1] in ("[", "{") and line.strip(" \t,") in ("]", "}")
    )


def _parse_value(said: str, under: list[str]) -> Value:
    if _BLOCK.match(said):
        return _parse_block(said, under)
    if said[:1] == "[":
        return _parse_list(" ".join([said, *(line.strip() for line in under)]))
    bare = _COMMENT.sub("", said)
    shown = [line for line in under if line.strip() and not line.lstrip().startswith("#")]
    if bare or not shown:
        return _parse_text(" ".join([said, *(line.strip() for line in shown)]))
    items = [_ITEM.match(line) for line in shown]
    if all(item is not None and not _KEY.match(item[1] or "") for item in items):
        return [text for item in items if item is not None and (text := _parse_text(item[1] or ""))]
    return dedent("\n".join(shown))


def _parse_block(said: str, under: list[str]) -> str:
    """`|` keeps its lines, `>` folds them."""
    text = dedent("\n".join(under)).strip("\n")
    if said[0] == "|":
        return text
    return "\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _parse_list(said: str) -> Value:
    """A list on one line; the text itself if it holds more than texts."""
    inner = _COMMENT.sub("", said).strip()
    if not inner.endswith("]"):
        return said
    found, at, inner = [], 0, inner[1:-1]
    while at < len(inner):
        part = _PARTS.match(inner, at)
        if part is None:
            return said
        found.append(_parse_text(part[1]))
        at = part.end()
    return [text for text in found if text]


def _parse_text(said: str) -> str:
    """The text without quotes and comment."""
    said = said.strip()
    quote = said[:1]
    if quote == '"' and (end := re.match(_DOUBLE, said)):
        return re.sub(r"\\(.)", lambda sign: _ESCAPES.get(sign[1], sign[0]), end[1])
    if quote == "'" and (end := re.match(_SINGLE, said)):
        return end[1].replace("''", "'")
    bare = _COMMENT.sub("", said).strip()
    return "" if bare in ("~", "null") else bare
