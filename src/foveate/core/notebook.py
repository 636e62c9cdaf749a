"""A context, a stage and a table as HTML for a notebook: what one looks at first.

Rules: nothing of a document is markup. Everything shown is escaped, characters that would turn or
hide others are shown as such, and `$…$` is kept from being set as a formula. No script, no style
sheet, nothing fetched; colours are the page's own, so it reads on light and on dark. It is small:
long texts and long lists are cut, and say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foveate.core.types import Block, Citation, Context, Decision, StageTrace

ROWS = 40
"""Of a table; the rest is counted."""
FEW = 12
"""Of a stage's decisions where all stages are shown."""
LONGEST = 600
"""Characters of a text; ids and names have a quarter of it."""

_OUTER = '<div class="foveate tex2jax_ignore mathjax_ignore" style="line-height:1.4">'
_TABLE = '<table style="border-collapse:collapse;text-align:left">'
_EDGE = "border-bottom:1px solid rgba(128,128,128,.4)"
_CELL = f'style="text-align:left;vertical-align:top;padding:.2em .7em .2em 0;{_EDGE}"'
_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;max-width:42em"
_FAINT = '<span style="opacity:.7">'

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_TURNING = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (
    *(0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2028, 0x2029),
    *range(0x2060, 0x2066),
    *range(0x206A, 0x2070),
    *(0x3164, 0xFEFF, 0xFFA0),
    *range(0xFFF0, 0xFFFC),
    *range(0xE0000, 0xE0100),
)
_SHOWN = dict.fromkeys((*_CONTROLS, *_TURNING, *_HIDDEN), "\ufffd")
del _SHOWN[9], _SHOWN[10]


def context_html(context: Context) -> str:
    """What is shown of which source, and what became of the rest, folded."""
    budget = context.budget.documents
    tokens = f"{context.token_count:,}" + (f" of {budget:,}" if budget is not None else "")
    facts = [
        f"{tokens} tokens",
        _counted(len(context.blocks), "block"),
        f"recipe {_name(context.manifest.recipe)}",
        _name(context.manifest.tokenizer),
    ]
    labels = {entry.marker: entry for entry in context.citations}
    head = f"<p><b>{_name(context.query)}</b><br>{_FAINT}{' · '.join(facts)}</span></p>"
    rows = [_block(block, labels.get(block.marker)) for block in context.blocks[:ROWS]]
    shown = _table(("", "source", "score", "text"), rows, len(context.blocks))
    return f"{_OUTER}{head}{shown}{_trace(context.trace)}</div>"


def stage_html(stage: StageTrace) -> str:
    """One step: how many came and went, and each decision with its numbers."""
    head = f"<p><b>{_name(stage.stage)}</b> {stage.before:,} → {stage.after:,}"
    notes = f"<br>{_FAINT}{_pairs(stage.notes)}</span>" if stage.notes else ""
    return f"{_OUTER}{head}{notes}</p>{_decisions(stage, ROWS)}</div>"


def trace_html(trace: Sequence[StageTrace]) -> str:
    """All steps, and the first decisions of each, folded."""
    table = _table(*_stages(trace))
    folded = (
        f"<details><summary>{_name(stage.stage)}</summary>{_decisions(stage, FEW)}</details>"
        for stage in trace[:ROWS]
        if stage.decisions
    )
    return f"{_OUTER}{table}{''.join(folded)}</div>"


def table_html(name: str, columns: Mapping[str, Sequence[Any]]) -> str:
    """The first rows of a table, and how many there are."""
    size = len(next(iter(columns.values()), ()))
    rows = [
        [_value(cells[place]) for cells in columns.values()] for place in range(min(size, ROWS))
    ]
    head = f"<p><b>{_name(name)}</b> {_FAINT}{_counted(size, 'row')}</span></p>"
    return f"{_OUTER}{head}{_table(tuple(columns), rows, size)}</div>"


def _trace(trace: Sequence[StageTrace]) -> str:
    decisions = sum(len(stage.decisions) for stage in trace)
    table = _table(*_stages(trace))
    head = f"Trace: {_counted(len(trace), 'stage')}, {_counted(decisions, 'decision')}"
    return f"<details><summary>{head}</summary>{table}</details>"


def _stages(trace: Sequence[StageTrace]) -> tuple[Sequence[str], list[list[str]], int]:
    """Names, rows and how many there are."""
    names = ("stage", "before", "after", "decisions")
    return names, [_stage(stage) for stage in trace[:ROWS]], len(trace)


def _decisions(stage: StageTrace, most: int) -> str:
    rows = [_decision(one) for one in stage.decisions[:most]]
    names = ("chunk", "action", "reason", "by", "numbers")
    return _table(names, rows, len(stage.decisions)) if rows else ""


def _stage(stage: StageTrace) -> list[str]:
    kinds = Counter(f"{one.action} {one.reason}" for one in stage.decisions)
    said = ", ".join(f"{count:,} × {_name(kind)}" for kind, count in sorted(kinds.items()))
    return [_name(stage.stage), f"{stage.before:,}", f"{stage.after:,}", said]


def _block(block: Block, entry: Citation | None) -> list[str]:
    label = _name(entry.label) if entry is not None else _name(block.kind)
    place = [block.source, block.section and f"§ {block.section}"]
    place += [f"page {block.page}"] if block.page is not None else []
    where = "<br>".join(_name(part) for part in place if part)
    text = f'<div style="{_TEXT}">{_text(block.text)}</div>'
    kind = "" if block.rendition == "verbatim" else f"<br>{_FAINT}{_name(block.rendition)}</span>"
    return [label, where, f"{block.score:.3f}{kind}", text]


def _decision(one: Decision) -> list[str]:
    parts = [_name(part) for part in (one.chunk_id, one.action, one.reason, one.by)]
    return [*parts, _pairs(one.numbers)]


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{_name(name)} {_value(value)}" for name, value in values.items())


def _table(names: Iterable[str], rows: Sequence[Sequence[str]], total: int) -> str:
    """Cells are HTML; names are not."""
    head = "".join(f"<th {_CELL}>{_name(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in row)}</tr>" for row in rows
    )
    more = f"<p>{_FAINT}… and {total - len(rows):,} more</span></p>" if total > len(rows) else ""
    return f"{_TABLE}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return _text(value if isinstance(value, str) else str(value), LONGEST // 4)


def _name(text: str) -> str:
    return _text(text, LONGEST // 4)


def _text(text: str, longest: int = LONGEST) -> str:
    """Escaped, on its own in whichever direction it is written, and cut where it is long."""
    cut = text if len(text) <= longest else text[:longest].rstrip() + " […]"
    return f"<bdi>{escape(cut.translate(_SHOWN))}</bdi>"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
