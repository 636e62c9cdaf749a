"""What formats have in common: header lines, page summaries, supplements, and a base class.

A header line is `source[ § section][, page N][, row N][, line N][, key: value]…`. A field is one
line without hidden characters, and delimiters inside it are neutralised. Keys of metadata are
folded to `[A-Za-z0-9_.-]` and made distinct from each other and from ours. A page summary is a line
`[Page context: …]` before the header of its document's first block. Supplements come first, each
under `[Supplement: title]`, and end with `[End of supplements]`; the renderer parses what stands
behind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from foveate.core.contracts import SUPPLEMENT_LABEL, SUPPLEMENTS_END, Format, ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL, SECTION_RULE, Guards
from foveate.core.text.escape import Guard, Rule, closing_rule
from foveate.core.text.markers import OPENED, UNCLOSED
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block

_BREAK = re.compile(r"[\t\r\n]+")
_NOT_KEY = re.compile(r"[^A-Za-z0-9_.-]+")
_DETAIL = re.compile(r", (?=page -?\d|[A-Za-z0-9_.-]+: )")
_DETAIL_WITH_ROW = re.compile(rf"{_DETAIL.pattern}|, (?=row -?\d)")
_DETAIL_WITH_LINE = re.compile(rf"{_DETAIL.pattern}|, (?=(?:row|line) -?\d)")
_NUMBER = re.compile(r"(page|row|line) (-?\d.*)", re.DOTALL)
_SECTION = " § "
_RESERVED_KEYS = (
    *("marker", "source", "title", "section", "page"),
    *("score", "summary", "index"),
)
_END = f"\n\n[{SUPPLEMENTS_END}]\n\n"
_SUMMARY = re.compile(rf"\[{LABEL_TAIL} [^\n]*\]\n")
BETWEEN = Guard((Rule(OPENED, (UNCLOSED,)), closing_rule("]")))
"""For what goes between brackets: it cannot close them, and they close nothing that it opens."""


def one_line(text: str) -> str:
    """The field without hidden characters, line breaks and tabs as spaces, trimmed."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _BREAK.sub(" ", sanitise(text)[0]).strip()


def header_metadata(block: Block) -> list[tuple[str, str]]:
    """The block's metadata under keys that a header can show."""
    taken = {*_RESERVED_KEYS} if block.row is None else {*_RESERVED_KEYS, "row"}
    pairs = []
    for name, value in block.metadata:
        key = _NOT_KEY.sub("_", name) or "_"
        if not (key[0].isalpha() or key[0] == "_"):
            key = f"_{key}"
        while key in taken:
            key += "_"
        taken.add(key)
        pairs.append((key, one_line(value)))
    return pairs


def fields(block: Block, *names: str) -> dict[str, str]:
    """The named header fields as they are shown, then metadata and the page summary."""
    values = {
        "marker": str(block.marker),
        "source": one_line(block.source),
        "title": one_line(block.title) or one_line(block.source),
        "section": one_line(block.section),
        "page": "" if block.page is None else str(block.page),
        "row": "" if block.row is None else str(block.row),
        "line": "" if block.line is None or block.row is not None else str(block.line),
        "score": f"{block.score:.3f}" if block.score and block.scored else "",
    }
    shown = {name: values[name] for name in names if values[name] or name in {"source", "title"}}
    shown.update(header_metadata(block))
    if block.summary:
        shown["summary"] = one_line(block.summary)
    return shown


def is_same_document(block: Block, previous: Block | None) -> bool:
    """Whether a header of `previous` speaks for `block` too."""
    return (
        previous is not None
        and previous.kind == block.kind
        and not block.summary
        and previous.document_id == block.document_id
        and previous.source == block.source
        and previous.metadata == block.metadata
    )


class TextFormat(Format):
    """A format whose blocks have `gap` between them; a subclass overrides what it does otherwise.

    A subclass defines `header` and `parse`, and `reads`: what its header lines show. A `section` is
    shown of every block, or of rows alone if `reads` has `page` and `row`, too. A `line` is shown
    of what is no row.
    """

    __slots__ = ()
    gap: ClassVar[str] = "\n\n"
    guards: ClassVar[Guards]
    reads: ClassVar[tuple[str, ...]]

    def separator(self, previous: Block | None, block: Block) -> str:
        """The gap, or the end of the supplements."""
        return self.separate(previous, block, self.gap)

    def separate(self, previous: Block | None, block: Block, gap: str) -> str:
        """Nothing at the start, the end of the supplements behind the last of them, else `gap`."""
        if previous is None:
            return ""
        if previous.kind == "chunk":
            return gap
        return "\n\n" if block.kind == "supplement" else _END

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return self.bracketed(label, summary) + "\n"

    def body(self, text: str) -> str:
        """The text, neutralised."""
        return self.guards.body(text)

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return self.bracketed(SUPPLEMENT_LABEL, block.title or block.source) + "\n", ""

    def shown(self, block: Block) -> ParsedBlock:
        """The text, the marker, the fields that are read, and metadata."""
        return self.shown_fields(block, "marker", *self.reads)

    def shown_fields(self, block: Block, *names: str) -> ParsedBlock:
        """The text, these fields as they are shown, metadata and the page summary."""
        has_section = self._has_section(of_row=block.row is not None)
        shown = [name for name in names if has_section or name != "section"]
        return ParsedBlock(text=block.text, fields=fields(block, *shown))

    def bracketed(self, label: str, text: str) -> str:
        """`[label: text]`, which the text cannot close."""
        return f"[{label}: {BETWEEN(self.guards.line(one_line(text)))}]"

    def parse_summary(self, line: str) -> str:
        """The summary in a line without its newline."""
        return self.guards.line.undo(BETWEEN.undo(line.partition(": ")[2].removesuffix("]")))

    def split_summary(self, text: str, start: int) -> tuple[dict[str, str], int]:
        """The page summary that stands at `start`, as a field, and where its line ends."""
        match = _SUMMARY.match(text, start)
        if match is None:
            return {}, start
        return {"summary": self.parse_summary(match[0][:-1])}, match.end()

    def write_line(self, block: Block, name: str, *, page: bool = True) -> str:
        """`name § section, page P, row N, key: value`, as far as `reads` has it."""
        return self.write_name(block, name) + self.write_details(block, page=page)

    def write_name(self, block: Block, name: str) -> str:
        """`name § section`, or the name alone."""
        lead = self.guards.lead
        if not self._has_section(of_row=block.row is not None):
            return lead(one_line(name))
        section = lead(one_line(block.section))
        named = lead.with_rules(SECTION_RULE)(one_line(name))
        return f"{named}{_SECTION}{section}" if section else named

    def write_details(self, block: Block, *, page: bool = True) -> str:
        """`, page 3, row 7, author: X`: what follows in the same line."""
        page = page and "page" in self.reads
        shown = [f", page {block.page}"] if page and block.page is not None else []
        if "row" in self.reads and block.row is not None:
            shown.append(f", row {block.row}")
        elif "line" in self.reads and block.line is not None:
            shown.append(f", line {block.line}")
        if block.metadata:
            field = self.guards.field
            shown += [f", {key}: {field(value)}" for key, value in header_metadata(block)]
        return "".join(shown)

    def parse_line(self, line: str, name: str = "source") -> dict[str, str]:
        """The fields of a line; `name`: the field that it begins with."""
        rows = _DETAIL_WITH_LINE if "line" in self.reads else _DETAIL_WITH_ROW
        lead, *rest = (rows if "row" in self.reads else _DETAIL).split(line)
        known = {}
        for part in rest:
            if number := _NUMBER.fullmatch(part):
                known[number[1]] = number[2]
            else:
                key, _, value = part.partition(": ")
                known[key] = self.guards.field.undo(value)
        guard = self.guards.lead
        if not self._has_section(of_row="row" in known):
            return {name: guard.undo(lead), **known}
        lead, _, section = lead.partition(_SECTION)
        known = {name: guard.with_rules(SECTION_RULE).undo(lead), **known}
        return {**known, "section": guard.undo(section)} if section else known

    def parse_blocks(
        self,
        text: str,
        head: re.Pattern[str],
        *gaps: str,
        parse_header: Callable[[re.Match[str]], Mapping[str, str]],
        parse_body: Callable[[str], str] | None = None,
    ) -> tuple[ParsedBlock, ...]:
        """The blocks of a format with headers.

        `head` matches whole header lines. One of the `gaps` separates blocks and ends with an empty
        line, so a line just before a header is its summary. `parse_body`: the opposite of
        `body`, if that does more than to neutralise.
        """
        found = [(m, _block_start(text, m.start())) for m in head.finditer(text)]
        ends = [
            begin - next((len(g) for g in gaps if text.endswith(g, 0, begin)), 0)
            for _, begin in found[1:]
        ]
        blocks = []
        for (match, begin), end in zip(found, [*ends, len(text)], strict=False):
            line = text[begin : match.start()].rstrip("\n")
            summary = {"summary": self.parse_summary(line)} if line else {}
            body = (parse_body or self.guards.body.undo)(text[match.end() : end])
            known = {**parse_header(match), **summary}
            blocks.append(ParsedBlock(text=body, fields=known, start=match.end()))
        return tuple(blocks)

    def _has_section(self, *, of_row: bool) -> bool:
        return "section" in self.reads and (of_row or not {"page", "row"} <= {*self.reads})


def _block_start(text: str, header: int) -> int:
    if header == 0 or text[header - 2] == "\n":
        return header
    return text.rfind("\n", 0, header - 1) + 1
