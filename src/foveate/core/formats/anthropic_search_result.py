"""Anthropic `search_result` blocks with citations on, one a block.

See "Search results" in the Claude API documentation. `json.loads(text)` goes into a user message's
`content` or a tool result. The title carries section, page and metadata, because it comes back with
each citation. A text block is the smallest unit of a citation: with `sentences`, each sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import parts
from foveate.core.formats.shared.guards import LABEL_TAIL, body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    fields,
    format_details,
    one_line,
    parse_details,
    parse_section,
    parse_summary,
    with_section,
    with_summary,
)
from foveate.core.text.escape import Guard
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Block

_CONTENT = '"content":[{"type":"text","text":"'
_END = '"}],"citations":{"enabled":true}}'
_NOTE = re.compile(rf"\[(?!Supplement: ){LABEL_TAIL}")
_BODY = body_guard(square=(LABEL_TAIL,))  # no later text of a supplement can pass for a summary
_LINE = line_guard()
_FIELD = field_guard()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSearchResult(parts.PartsFormat):
    """Search results that the model cites by itself."""

    sentences: bool = False
    name = "anthropic-search-result"
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: source, and `title § section, page P, key: value`."""
        source = parts.escape_json(_LINE(one_line(block.source)))
        name = one_line(block.title) or one_line(block.source)
        title = with_section(name, block.section, _FIELD) + format_details(block, _FIELD, page=True)
        lead = f'{{"type":"search_result","source":"{source}","title":"{parts.escape_json(title)}",'
        return lead + _CONTENT

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string, or of several."""
        written = _BODY(text)
        if not self.sentences:
            return parts.escape_json(written)
        starts = [start for start, _ in sentence_spans(written)][1:]
        cuts = zip([0, *starts], [*starts, len(written)], strict=True)
        return parts.TEXT_SEPARATOR.join(
            parts.escape_json(written[start:end]) for start, end in cuts
        )

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the block with citations on, its images, and the end of the list."""
        return _END + self.write_images(block.images) + parts.list_end(following)

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with title, source, section, page and metadata."""
        found = []
        summary = None
        for part, start in parts.parse_parts(text, _CONTENT):
            if part["type"] == "text":
                line = part["text"]
                summary = parse_summary(line, _LINE) if _NOTE.match(line) else None
                continue
            known = with_summary(_parse_header(part["source"], part["title"]), summary)
            body = _BODY.undo("".join(inner["text"] for inner in part["content"]))
            found.append(ParsedBlock(text=body, fields=known, start=start))
            summary = None
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text and its header; the source where there is no title."""
        known = fields(block, "title", "source", "section", "page")
        return ParsedBlock(text=block.text, fields=known)

    def label(self, block: Block) -> str:
        """The source: the provider numbers the blocks itself."""
        return one_line(block.source)


def _parse_header(source: str, line: str) -> dict[str, str]:
    lead, found = parse_details(line, _FIELD)
    title, section = parse_section(lead, _FIELD)
    known = {"title": title, "source": _LINE.undo(source), **found}
    return {**known, "section": section} if section else known
