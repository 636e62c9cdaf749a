"""Anthropic's blocks with citations on, one a block: `document` (plain text) and `search_result`.

See "Citations" and "Search results" in the Claude API documentation. `json.loads(text)` goes into a
user message's `content`; search results into a tool result, too. A text block is the smallest unit
of a citation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL, Guards, guards
from foveate.core.formats.shared.parts import TEXT_SEPARATOR, PartsFormat, escape_json
from foveate.core.formats.shared.text_format import one_line
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Block

_OPEN = '{"type":"document","context":"'
_CITED = ',"citations":{"enabled":true}}'
_MAX_TITLE_LENGTH = 255
"""Characters of a title, as it is written."""
_MORE = "…"


class _AnthropicFormat(PartsFormat):
    """What both have in common."""

    __slots__ = ()
    cited_by_provider: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def shown(self, block: Block) -> ParsedBlock:
        """The text and its header; the source where there is no title."""
        return self.shown_fields(block, *self.reads)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicDocument(_AnthropicFormat):
    """Plain-text documents that the model cites by itself.

    It reads `title` and `context` and cannot cite them. A title of more than 255 characters is cut,
    with the whole in the context, and an empty one left out: the API refuses both.
    """

    name = "anthropic-document"
    guards: ClassVar[Guards] = guards(markers=False)
    opening: ClassVar[str] = '"source":{"type":"text","media_type":"text/plain","data":"'
    end: ClassVar[str] = '"}' + _CITED

    def preamble(self, label: str, summary: str) -> str:
        """The first line of the document's context; the header goes on in the same string."""
        return _OPEN + escape_json(self.bracketed(label, summary) + "\n")

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: `Source: S § section, page P, key: value` and the title."""
        origin = self.write_name(block, block.source)
        whole = _block_title(block)
        title = self._truncate_title(whole)
        if title != whole:
            origin += f", title: {self.guards.field(whole)}"
        origin += self.write_details(block)
        lead = "" if block.summary else _OPEN
        named = f'"title":"{escape_json(self.guards.line(title))}",' if title else ""
        return f'{lead}Source: {escape_json(origin)}",{named}{self.opening}'

    def parse_part(self, part: Mapping[str, Any], start: int) -> ParsedBlock | None:
        """The block, with title, source, section, page and metadata."""
        if part["type"] != "document":
            return None
        *summary, line = part["context"].split("\n")
        known = {"title": self.guards.line.undo(part.get("title", ""))}
        known |= self.parse_line(line.removeprefix("Source: "))
        if summary:
            known["summary"] = self.parse_summary(summary[0])
        return ParsedBlock(
            text=self.guards.body.undo(part["source"]["data"]), fields=known, start=start
        )

    def label(self, block: Block) -> str:
        """The title, as the provider names the document in a citation."""
        return self._truncate_title(_block_title(block))

    def _truncate_title(self, title: str) -> str:
        line = self.guards.line
        over = len(line(title)) - _MAX_TITLE_LENGTH
        if over <= 0:
            return title
        kept = title[: _MAX_TITLE_LENGTH - len(_MORE)].rstrip()
        while (over := len(line(kept + _MORE)) - _MAX_TITLE_LENGTH) > 0:
            kept = kept[:-over].rstrip()
        return kept + _MORE


def _block_title(block: Block) -> str:
    return one_line(block.title) or one_line(block.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSearchResult(_AnthropicFormat):
    """Search results that the model cites by itself; `sentences`: each is a unit of citation.

    The title carries section, page and metadata, because it comes back with each citation.
    """

    sentences: bool = False
    name = "anthropic-search-result"
    guards: ClassVar[Guards] = guards(LABEL_TAIL, markers=False)
    """No later text of a supplement can pass for a summary."""
    opening: ClassVar[str] = '"content":[{"type":"text","text":"'
    end: ClassVar[str] = '"}]' + _CITED

    def header(self, block: Block, previous: Block | None) -> str:
        """The block up to its text: source, and `title § section, page P, key: value`."""
        source = escape_json(self.guards.line(one_line(block.source)))
        title = escape_json(self.write_line(block, _block_title(block)))
        lead = f'{{"type":"search_result","source":"{source}","title":"{title}",'
        return lead + self.opening

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string, or of several."""
        written = self.guards.body(text)
        if not self.sentences:
            return escape_json(written)
        starts = [start for start, _ in sentence_spans(written)][1:]
        cuts = zip([0, *starts], [*starts, len(written)], strict=True)
        return TEXT_SEPARATOR.join(escape_json(written[start:end]) for start, end in cuts)

    def parse_part(self, part: Mapping[str, Any], start: int) -> ParsedBlock | None:
        """The block, with title, source, section, page and metadata."""
        if part["type"] != "search_result":
            return None
        known = {"source": self.guards.line.undo(part["source"])}
        known |= self.parse_line(part["title"], "title")
        text = "".join(inner["text"] for inner in part["content"])
        return ParsedBlock(text=self.guards.body.undo(text), fields=known, start=start)

    def label(self, block: Block) -> str:
        """The source: the provider numbers the blocks itself."""
        return one_line(block.source)
