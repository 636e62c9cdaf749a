"""`<chunk index="1" source="…" page="…" score="0.900">`, the text, `</chunk>`.

Attributes are XML-escaped. In the text only tags of chunks and supplements are neutralised, because
entities would cost tokens and spoil code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import Guards, guards
from foveate.core.formats.shared.text_format import TextFormat, one_line
from foveate.core.types import Block

_OPEN = re.compile(r"^<chunk ([^\n]*)>\n", re.MULTILINE)
_CLOSE = "\n</chunk>"
_ATTRIBUTE = re.compile(r'(?<![\w.-])([\w.-]++)="([^"]*)"')
_TAG = r"(?i:[ \t]*+/?+[ \t]*+(?:chunk|supplement)(?![\w.:-]))"
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"))
_GUARDS = guards(angle=(_TAG,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Xml(TextFormat):
    """One element a block."""

    name = "xml"
    guards: ClassVar[Guards] = _GUARDS
    reads: ClassVar[tuple[str, ...]] = ("source", "page", "score")

    def separator(self, previous: Block | None, block: Block) -> str:
        """A line break: the elements separate themselves."""
        return "" if previous is None else "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """The opening tag; what is not known is left out."""
        shown = dict(self.shown(block).fields)
        shown.pop("summary", None)
        pairs = [("index", shown.pop("marker")), *shown.items()]
        return f"<chunk {' '.join(_format_attribute(key, value) for key, value in pairs)}>\n"

    def footer(self, block: Block, following: Block | None) -> str:
        """The closing tag."""
        return _CLOSE

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """An element of its own."""
        title = _format_attribute("title", one_line(block.title or block.source))
        return f"<supplement {title}>\n", "\n</supplement>"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with their attributes."""
        found = []
        for head in _OPEN.finditer(text):
            before = text[text.rfind("\n", 0, max(0, head.start() - 1)) + 1 : head.start()]
            summary = before.rstrip("\n") if before.startswith("[") else None
            values = _parse_attributes(head[1])
            if summary is not None:
                values["summary"] = self.parse_summary(summary)
            body = self.guards.body.undo(text[head.end() : text.index(_CLOSE, head.end())])
            found.append(ParsedBlock(text=body, fields=values, start=head.end()))
        return tuple(found)

    def label(self, block: Block) -> str:
        """`chunk i`."""
        return f"chunk {block.marker}"


def _format_attribute(key: str, value: str) -> str:
    value = _GUARDS.line(value)
    for raw, entity in _ENTITIES:
        value = value.replace(raw, entity)
    return f'{key}="{value}"'


def _parse_attributes(tag: str) -> dict[str, str]:
    found = {}
    for match in _ATTRIBUTE.finditer(tag):
        key, value = match.groups()
        for raw, entity in reversed(_ENTITIES):
            value = value.replace(entity, raw)
        found["marker" if key == "index" else key] = _GUARDS.line.undo(value)
    return found
