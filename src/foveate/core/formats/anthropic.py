"""Anthropic's blocks with citations on, one a block: `document` (plain text) and `search_result`.

See "Citations" and "Search results" in the Claude API documentation. `json.loads(text)` goes into a
user message's `content`; search results into a tool result, too. A text block is the smallest unit
of a citation.
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
    summary_line,
    with_section,
    with_summary,
)
from foveate.core.text.escape import Guard
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Block

_OPEN = '{"type":"document","context":"'
_DATA = '"source":{"type":"text","media_type":"text/plain","data":"'
_CONTENT = '"content":[{"type":"text","text":"'
_CITED = ',"citations":{"enabled":true}}'
_NOTE = re.compile(rf"\[{LABEL_TAIL} [^\n]*\Z")  # below a supplement's line stands its text
_DOCUMENT_BODY = body_guard()
_RESULT_BODY = body_guard(square=(LABEL_TAIL,))
"""No later text of a supplement can pass for a summary."""
_LINE = line_guard()
_FIELD = field_guard()
_MAX_TITLE_LENGTH = 255
"""Characters of a title, as it is written."""
_MORE = "…"


class _AnthropicFormat(parts.PartsFormat):
    """What both have in common; `end` closes what holds the text."""

    __slots__ = ()
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")
    end: ClassVar[str]

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the block with citations on, its images, and the end of the list."""
        return self.end + _CITED + self.write_images(block.images) + parts.list_end(following)

    def shown(self, block: Block) -> ParsedBlock:
        """The text and its header; the source where there is no title."""
        return ParsedBlock(text=block.text, fields=fields(block, *self.reads))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicDocument(_AnthropicFormat):
    """Plain-text documents that the model cites by itself.

    It reads `title` and `context` and cannot cite them. A title of more than 255 characters is cut,
    with the whole in the context, and an empty one left out: the API refuses both.
    """

    name = "anthropic-document"
    body_guard: ClassVar[Guard] = _DOCUMENT_BODY
    end: ClassVar[str] = '"}'

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

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with title, source, section, page and metadata."""
        return tuple(
            ParsedBlock(
                text=_DOCUMENT_BODY.undo(part["source"]["data"]),
                fields=_parse_document_header(part.get("title", ""), part["context"]),
                start=start,
            )
            for part, start in parts.parse_parts(text, _DATA)
            if part["type"] == "document"
        )

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


def _parse_document_header(title: str, context: str) -> dict[str, str]:
    *summary, line = context.split("\n")
    lead, found = parse_details(line.removeprefix("Source: "), _FIELD)
    source, section = parse_section(lead, _FIELD)
    known = {"title": _LINE.undo(title), "source": source, **found}
    if section:
        known["section"] = section
    if summary:
        known["summary"] = parse_summary(summary[0], _LINE)
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSearchResult(_AnthropicFormat):
    """Search results that the model cites by itself; `sentences`: each is a unit of citation.

    The title carries section, page and metadata, because it comes back with each citation.
    """

    sentences: bool = False
    name = "anthropic-search-result"
    body_guard: ClassVar[Guard] = _RESULT_BODY
    end: ClassVar[str] = '"}]'

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: source, and `title § section, page P, key: value`."""
        source = parts.escape_json(_LINE(one_line(block.source)))
        name = one_line(block.title) or one_line(block.source)
        title = with_section(name, block.section, _FIELD) + format_details(block, _FIELD, page=True)
        lead = f'{{"type":"search_result","source":"{source}","title":"{parts.escape_json(title)}",'
        return lead + _CONTENT

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string, or of several."""
        written = _RESULT_BODY(text)
        if not self.sentences:
            return parts.escape_json(written)
        starts = [start for start, _ in sentence_spans(written)][1:]
        cuts = zip([0, *starts], [*starts, len(written)], strict=True)
        return parts.TEXT_SEPARATOR.join(
            parts.escape_json(written[start:end]) for start, end in cuts
        )

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with title, source, section, page and metadata."""
        found = []
        summary = None
        for part, start in parts.parse_parts(text, _CONTENT):
            if part["type"] == "text":
                line = part["text"]
                summary = parse_summary(line, _LINE) if _NOTE.match(line) else None
                continue
            known = with_summary(_parse_result_header(part["source"], part["title"]), summary)
            body = _RESULT_BODY.undo("".join(inner["text"] for inner in part["content"]))
            found.append(ParsedBlock(text=body, fields=known, start=start))
            summary = None
        return tuple(found)

    def label(self, block: Block) -> str:
        """The source: the provider numbers the blocks itself."""
        return one_line(block.source)


def _parse_result_header(source: str, line: str) -> dict[str, str]:
    lead, found = parse_details(line, _FIELD)
    title, section = parse_section(lead, _FIELD)
    known = {"title": title, "source": _LINE.undo(source), **found}
    return {**known, "section": section} if section else known
