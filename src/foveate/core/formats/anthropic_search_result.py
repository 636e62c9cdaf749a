"""Anthropic `search_result` blocks with citations on, one a block.

See "Search results" in the Claude API documentation: type, source, title, content (text blocks) and
citations, which are on for all or for none. `json.loads(text)` goes into a user message's `content`
or a tool result. A page summary is a text part, which cannot be cited. The title carries section,
page and metadata, for it comes back with each citation. A text block is the least that is cited:
with `sentences` each sentence is one, else the whole text is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import Parsed
from foveate.core.layout import aside, parts
from foveate.core.layout.guards import LABELLED, body_guard, field_guard, line_guard
from foveate.core.layout.header import (
    details,
    fields,
    one_line,
    read_details,
    read_section,
    with_section,
    with_summary,
)
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Block

_CONTENT = '"content":[{"type":"text","text":"'
_END = '"}],"citations":{"enabled":true}}'
_NOTE = re.compile(rf"\[(?!Supplement: ){LABELLED}")
_BODY = body_guard(square=(LABELLED,))  # no later text of a supplement can pass for a summary
_LINE = line_guard()
_FIELD = field_guard()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSearchResult:
    """Search results that the model cites by itself."""

    sentences: bool = False
    name: ClassVar[str] = "anthropic-search-result"
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def separator(self, previous: Block | None, block: Block) -> str:
        """The list's opening bracket, or a comma."""
        return parts.between(previous)

    def preamble(self, label: str, summary: str) -> str:
        """A text part of its own."""
        line = aside.summary_line(label, summary, _LINE)
        return parts.TEXT + parts.quoted(line) + parts.CLOSE + ","

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: source, and `title § section, page P, key: value`."""
        source = parts.quoted(_LINE(one_line(block.source)))
        name = one_line(block.title) or one_line(block.source)
        title = with_section(name, block.section, _FIELD) + details(block, _FIELD, page=True)
        lead = f'{{"type":"search_result","source":"{source}","title":"{parts.quoted(title)}",'
        return lead + _CONTENT

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string, or of several."""
        written = _BODY(text)
        if not self.sentences:
            return parts.quoted(written)
        starts = [start for start, _ in sentence_spans(written)][1:]
        cuts = zip([0, *starts], [*starts, len(written)], strict=True)
        return parts.ANOTHER.join(parts.quoted(written[start:end]) for start, end in cuts)

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the block with citations on, and of the list."""
        return _END + parts.after(following)

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """A text part of its own, which cannot be cited."""
        return parts.supplement(block, _LINE, following)

    def parse(self, text: str) -> tuple[Parsed, ...]:
        """The blocks back, with title, source, section, page and metadata."""
        found = []
        summary = None
        for part, start in parts.read(text, _CONTENT):
            if part["type"] == "text":
                line = part["text"]
                summary = aside.read_summary(line, _LINE) if _NOTE.match(line) else None
                continue
            known = with_summary(_header(part["source"], part["title"]), summary)
            body = _BODY.undo("".join(inner["text"] for inner in part["content"]))
            found.append(Parsed(text=body, fields=known, start=start))
            summary = None
        return tuple(found)

    def shown(self, block: Block) -> Parsed:
        """The text and its header; the source where there is no title."""
        known = fields(block, "title", "source", "section", "page")
        return Parsed(text=block.text, fields=known)

    def label(self, block: Block) -> str:
        """The source: the provider numbers the blocks itself."""
        return one_line(block.source)


def _header(source: str, line: str) -> dict[str, str]:
    lead, found = read_details(line, _FIELD)
    title, section = read_section(lead, _FIELD)
    known = {"title": title, "source": _LINE.undo(source), **found}
    return {**known, "section": section} if section else known
