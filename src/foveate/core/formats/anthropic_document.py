"""Anthropic `document` blocks (plain text) with citations on, one a block.

See "Citations" in the Claude API documentation. `json.loads(text)` goes into a user message's
`content`. The model reads `title` and `context` and cannot cite them. A title of more than 255
characters is cut, with the whole in the context, and an empty one left out: the API refuses both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import parts
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    fields,
    format_details,
    one_line,
    parse_details,
    parse_section,
    parse_summary,
    summary_line,
    with_section,
)
from foveate.core.text.escape import Guard
from foveate.core.types import Block

_OPEN = '{"type":"document","context":"'
_DATA = '"source":{"type":"text","media_type":"text/plain","data":"'
_END = '"},"citations":{"enabled":true}}'
_BODY = body_guard()
_LINE = line_guard()
_FIELD = field_guard()
_MAX_TITLE_LENGTH = 255
"""Characters of a title, as it is written."""
_MORE = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicDocument(parts.PartsFormat):
    """Plain-text documents that the model cites by itself."""

    name = "anthropic-document"
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def preamble(self, label: str, summary: str) -> str:
        """The first line of the document's context; the header goes on in the same string."""
        return _OPEN + parts.escape_json(summary_line(label, summary, _LINE) + "\n")

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: `Source: S § section, page P, key: value` and the title."""
        origin = with_section(block.source, block.section, _FIELD)
        whole = _block_title(block)
        title = _truncate_title(whole)
        if title != whole:
            origin += f", title: {_FIELD(whole)}"
        origin += format_details(block, _FIELD, page=True)
        lead = "" if block.summary else _OPEN
        named = f'"title":"{parts.escape_json(_LINE(title))}",' if title else ""
        return f'{lead}Source: {parts.escape_json(origin)}",{named}{_DATA}'

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the block with citations on, its images, and the end of the list."""
        return _END + self.write_images(block.images) + parts.list_end(following)

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with title, source, section, page and metadata."""
        return tuple(
            ParsedBlock(
                text=_BODY.undo(part["source"]["data"]),
                fields=_parse_header(part.get("title", ""), part["context"]),
                start=start,
            )
            for part, start in parts.parse_parts(text, _DATA)
            if part["type"] == "document"
        )

    def shown(self, block: Block) -> ParsedBlock:
        """The text and its header; the source where there is no title."""
        known = fields(block, "title", "source", "section", "page")
        return ParsedBlock(text=block.text, fields=known)

    def label(self, block: Block) -> str:
        """The title, as the provider names the document in a citation."""
        return _truncate_title(_block_title(block))


def _block_title(block: Block) -> str:
    return one_line(block.title) or one_line(block.source)


def _truncate_title(title: str) -> str:
    over = len(_LINE(title)) - _MAX_TITLE_LENGTH
    if over <= 0:
        return title
    kept = title[: _MAX_TITLE_LENGTH - len(_MORE)].rstrip()
    while (over := len(_LINE(kept + _MORE)) - _MAX_TITLE_LENGTH) > 0:
        kept = kept[:-over].rstrip()
    return kept + _MORE


def _parse_header(title: str, context: str) -> dict[str, str]:
    *summary, line = context.split("\n")
    lead, found = parse_details(line.removeprefix("Source: "), _FIELD)
    source, section = parse_section(lead, _FIELD)
    known = {"title": _LINE.undo(title), "source": source, **found}
    if section:
        known["section"] = section
    if summary:
        known["summary"] = parse_summary(summary[0], _LINE)
    return known
