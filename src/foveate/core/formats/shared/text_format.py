"""What formats have in common: header lines, page summaries, supplements, and a base class.

A header line is `source[ § section][, page N][, row N][, key: value]…`. A field is one line without
hidden characters, and delimiters inside it are neutralised. Keys of metadata are folded to
`[A-Za-z0-9_.-]` and made distinct from each other and from ours. A page summary is a line
`[Page context: …]` before the header of its document's first block. Supplements come first, each
under `[Supplement: title]`, and end with `[End of supplements]`; the renderer puts a recipe's own
words in the place of these two, and parses what stands behind them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from foveate.core.contracts import SUPPLEMENT_LABEL, SUPPLEMENTS_END, ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL, SECTION_RULE
from foveate.core.text.escape import Guard, Rule, closing_rule
from foveate.core.text.markers import OPENED, UNCLOSED
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block

_BREAK = re.compile(r"[\t\r\n]+")
_NOT_KEY = re.compile(r"[^A-Za-z0-9_.-]+")
_DETAIL = re.compile(r", (?=page -?\d|[A-Za-z0-9_.-]+: )")
_DETAIL_WITH_ROW = re.compile(rf"{_DETAIL.pattern}|, (?=row -?\d)")
_NUMBER = re.compile(r"(page|row) (.*)", re.DOTALL)
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
        "score": f"{block.score:.3f}" if block.score else "",
    }
    shown = {name: values[name] for name in names if values[name] or name in {"source", "title"}}
    shown.update(header_metadata(block))
    if block.summary:
        shown["summary"] = one_line(block.summary)
    return shown


def with_section(name: str, section: str, guard: Guard, *, rule: bool = True) -> str:
    """`name § section`, or the name alone; `rule`: whether one is looked for when it is read."""
    lead = (guard.with_rules(SECTION_RULE) if rule else guard)(one_line(name))
    section = guard(one_line(section))
    return f"{lead}{_SECTION}{section}" if section else lead


def parse_section(lead: str, guard: Guard) -> tuple[str, str]:
    """The name and the section back."""
    name, _, section = lead.partition(_SECTION)
    return guard.with_rules(SECTION_RULE).undo(name), guard.undo(section)


def format_details(block: Block, guard: Guard, *, page: bool, row: bool = False) -> str:
    """`, page 3, row 7, author: X`: what follows in the same line."""
    shown = [f", page {block.page}"] if page and block.page is not None else []
    if row and block.row is not None:
        shown.append(f", row {block.row}")
    if block.metadata:
        shown += [f", {key}: {guard(value)}" for key, value in header_metadata(block)]
    return "".join(shown)


def parse_details(line: str, guard: Guard, *, row: bool = False) -> tuple[str, dict[str, str]]:
    """What stands before the details (still guarded), and the details."""
    lead, *rest = (_DETAIL_WITH_ROW if row else _DETAIL).split(line)
    found = {}
    for part in rest:
        if number := _NUMBER.fullmatch(part):
            found[number[1]] = number[2]
        else:
            key, _, value = part.partition(": ")
            found[key] = guard.undo(value)
    return lead, found


def format_origin(block: Block, guard: Guard, *, page: bool) -> str:
    """`S, page P, key: value`; of rows, `S § section, row N, key: value`."""
    has_row = block.row is not None
    name = with_section(block.source, block.section if has_row else "", guard, rule=has_row)
    return name + format_details(block, guard, page=page, row=True)


def row_fields(block: Block) -> tuple[str, ...]:
    """The fields that `format_origin` shows of a row, beside its source."""
    return () if block.row is None else ("section", "row")


def format_numbered_line(block: Block, guard: Guard, *, page: bool) -> str:
    """`[1] Source: S, page P, key: value`."""
    return f"[{block.marker}] Source: {format_origin(block, guard, page=page)}"


def parse_numbered_line(marker: str, line: str, guard: Guard) -> dict[str, str]:
    """The fields of a numbered line, whose part after `Source: ` is `line`."""
    lead, found = parse_details(line, guard, row=True)
    if "row" not in found:
        return {"marker": marker, "source": guard.undo(lead), **found}
    source, section = parse_section(lead, guard)
    known = {"marker": marker, "source": source, **found}
    return {**known, "section": section} if section else known


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


def with_summary(found: Mapping[str, str], summary: str | None) -> dict[str, str]:
    """The fields, and the page summary where there was one."""
    return dict(found) if summary is None else {**found, "summary": summary}


def block_separator(previous: Block | None, block: Block, gap: str) -> str:
    """The separator: nothing at the start, the end of the supplements after them, else `gap`."""
    if previous is None:
        return ""
    if previous.kind == "chunk":
        return gap
    return "\n\n" if block.kind == "supplement" else _END


def supplement_line(block: Block, guard: Guard) -> str:
    """`[Supplement: title]`."""
    return f"[{SUPPLEMENT_LABEL}: {guard_bracketed(one_line(block.title or block.source), guard)}]"


def summary_line(label: str, summary: str, guard: Guard) -> str:
    """`[label: summary]`."""
    return f"[{label}: {guard_bracketed(one_line(summary), guard)}]"


def parse_summary(line: str, guard: Guard) -> str:
    """The summary in a line without its newline."""
    return unguard_bracketed(line.partition(": ")[2].removesuffix("]"), guard)


def summary_end(text: str, start: int) -> int:
    """The end of a summary line (newline included) at `start`; `start` where there is none."""
    match = _SUMMARY.match(text, start)
    return match.end() if match else start


def guard_bracketed(text: str, guard: Guard) -> str:
    """A line that goes between brackets, and cannot close them."""
    return BETWEEN(guard(text))


def unguard_bracketed(text: str, guard: Guard) -> str:
    """The opposite of `bracketed`."""
    return guard.undo(BETWEEN.undo(text))


def parse_passages(
    text: str, head: re.Pattern[str], gap: str | tuple[str, ...], guard: Guard
) -> Iterator[tuple[re.Match[str], str | None, int, int]]:
    """Header match, summary, start and end of the body, for each block of a format with headers.

    `head` matches whole header lines. A `gap` separates blocks and ends with an empty line, so a
    line just before a header is its summary.
    """
    gaps = (gap,) if isinstance(gap, str) else gap
    found = [(m, _block_start(text, m.start())) for m in head.finditer(text)]
    ends = [
        begin - next((len(g) for g in gaps if text.endswith(g, 0, begin)), 0)
        for _, begin in found[1:]
    ]
    for (match, begin), end in zip(found, [*ends, len(text)], strict=False):
        line = text[begin : match.start()].rstrip("\n")
        yield match, parse_summary(line, guard) if line else None, match.end(), end


def parse_blocks(
    text: str,
    head: re.Pattern[str],
    gap: str | tuple[str, ...],
    guards: tuple[Guard, Guard],
    parse_header: Callable[[re.Match[str]], Mapping[str, str]],
) -> tuple[ParsedBlock, ...]:
    """The blocks of a format with headers; `guards`: those of its bodies and of its lines."""
    body, line = guards
    return tuple(
        ParsedBlock(
            text=body.undo(text[start:end]),
            fields=with_summary(parse_header(match), summary),
            start=start,
        )
        for match, summary, start, end in parse_passages(text, head, gap, line)
    )


def _block_start(text: str, header: int) -> int:
    if header == 0 or text[header - 2] == "\n":
        return header
    return text.rfind("\n", 0, header - 1) + 1


class TextFormat:
    """A format whose blocks have `gap` between them; a subclass overrides what it does otherwise.

    `body_guard` and `line_guard` neutralise texts and one-line fields. A subclass defines `header`
    and `parse`.
    """

    __slots__ = ()
    gap: ClassVar[str] = "\n\n"
    body_guard: ClassVar[Guard]
    line_guard: ClassVar[Guard]
    reads: ClassVar[tuple[str, ...]]

    def separator(self, previous: Block | None, block: Block) -> str:
        """The gap, or the end of the supplements."""
        return block_separator(previous, block, self.gap)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return summary_line(label, summary, self.line_guard) + "\n"

    def body(self, text: str) -> str:
        """The text, neutralised."""
        return self.body_guard(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return supplement_line(block, self.line_guard) + "\n", ""

    def shown(self, block: Block) -> ParsedBlock:
        """The text, the marker, the fields that are read, and metadata."""
        return ParsedBlock(text=block.text, fields=fields(block, "marker", *self.reads))

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"
