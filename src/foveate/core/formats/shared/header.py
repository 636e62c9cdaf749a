"""Header lines: `source[ § section][, page N][, row N][, key: value]…`, written and read back.

A field is one line without hidden characters. Delimiters inside a field are neutralised. Keys of
metadata are folded to `[A-Za-z0-9_.-]` and made distinct from each other and from ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foveate.core.formats.shared.guards import SECTION_RULE
from foveate.core.text.escape import Guard
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
