"""`## source` once for a run of one document, its texts under it, a ruler between documents.

Two empty lines separate the texts of a document, so blank lines that follow one another in a text
get one more leading space each. A heading in a text stands as it is, unless it is a file's name or
an address, as a reader might take it for a source; what `parse` takes for one follows a ruler.
A header is written where the document, its metadata or (with `markers`) the marker changes, and
under a page summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import RULER, Guards, guards
from foveate.core.formats.shared.text_format import TextFormat, is_same_document, one_line
from foveate.core.text.escape import empty_blank_lines, fill_runs_of_blank_lines, line_start_rule
from foveate.core.text.markers import FILES
from foveate.core.types import Block

_GAP = "\n\n---\n\n"
_BETWEEN_TEXTS = "\n\n\n"
_NAME = rf"(?:[^\n\\]*\.(?i:{'|'.join(FILES)})(?=[ \t]*+(?:,|\n|\Z))|https?://)"
_HEADING = line_start_rule(rf"##[ \t]++{_NAME}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(TextFormat):
    """Documents as sections; `markers` numbers them (`## [1] source`)."""

    name = "grouped"
    guards: ClassVar[Guards] = guards(line=RULER, rules=(_HEADING,), heading=True)
    reads: ClassVar[tuple[str, ...]] = ("source",)
    once_a_document: ClassVar[bool] = True
    markers: bool = False

    def separator(self, previous: Block | None, block: Block) -> str:
        """Two empty lines within a document, a ruler between documents."""
        gap = _GAP if self._is_new_section(block, previous) else _BETWEEN_TEXTS
        return self.separate(previous, block, gap)

    def header(self, block: Block, previous: Block | None) -> str:
        """`## source`, `## [i] source`, or nothing within a run."""
        if not self._is_new_section(block, previous):
            return ""
        marker = f"[{block.marker}] " if self.markers else ""
        return f"## {marker}{self.write_line(block, block.source)}\n"

    def body(self, text: str) -> str:
        """Neutralised, headings that name a source and lines of dashes too."""
        return fill_runs_of_blank_lines(self.guards.body(text))

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back; each has its section's source, marker and metadata."""
        found: list[ParsedBlock] = []
        at = 0
        while at < len(text):
            end = text.find(_GAP, at)
            end = len(text) if end < 0 else end
            found += self._parse_section(text, at, end)
            at = end + len(_GAP)
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, its section's source and metadata, and the marker where it is shown."""
        names = ("marker", "source") if self.markers else ("source",)
        return self.shown_fields(block, *names)

    def label(self, block: Block) -> str:
        """`[i]` with markers, else the source."""
        return f"[{block.marker}]" if self.markers else one_line(block.source)

    def _is_new_section(self, block: Block, previous: Block | None) -> bool:
        if previous is None or not is_same_document(block, previous):
            return True
        return self.markers and previous.marker != block.marker

    def _parse_section(self, text: str, at: int, end: int) -> list[ParsedBlock]:
        extra, head = self.split_summary(text, at)
        start = text.index("\n", head) + 1
        known = self._parse_header(text[head : start - 1])
        found = []
        for filled in text[start:end].split(_BETWEEN_TEXTS):
            body = self.guards.body.undo(empty_blank_lines(filled))
            found.append(ParsedBlock(text=body, fields={**known, **extra}, start=start))
            start += len(filled) + len(_BETWEEN_TEXTS)
            extra = {}
        return found

    def _parse_header(self, line: str) -> dict[str, str]:
        line = line.removeprefix("## ")
        if not self.markers:
            return self.parse_line(line)
        marker, _, line = line.partition(" ")
        return {"marker": marker[1:-1], **self.parse_line(line)}
