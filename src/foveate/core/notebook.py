"""A context and its trace as HTML for a notebook.

Everything is escaped, hidden and bidirectional characters are replaced, and `$…$` is not set as a
formula. There are no scripts and no style sheets. Long texts and lists are cut, with a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, TypeAlias

# The values of `types`, which show themselves by calling this module.
Block: TypeAlias = Any
Citation: TypeAlias = Any
Context: TypeAlias = Any
Decision: TypeAlias = Any
StageTrace: TypeAlias = Any

MAX_ROWS = 40
"""Of a table; the rest is counted."""
MAX_DECISIONS = 12
"""Of a stage's decisions where all stages are shown."""
MAX_TEXT_LENGTH = 600
"""Characters of a text; ids and names have a quarter of it."""

_OUTER = '<div class="foveate tex2jax_ignore mathjax_ignore" style="line-height:1.4">'
_TABLE = '<table style="border-collapse:collapse;text-align:left">'
_EDGE = "border-bottom:1px solid rgba(128,128,128,.4)"
_CELL = f'style="text-align:left;vertical-align:top;padding:.2em .7em .2em 0;{_EDGE}"'
_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;max-width:42em"
_FAINT = '<span style="opacity:.7">'

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_BIDI = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (
    *(0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2028, 0x2029),
    *range(0x2060, 0x2066),
    *range(0x206A, 0x2070),
    *(0x3164, 0xFEFF, 0xFFA0),
    *range(0xFFF0, 0xFFFC),
    *range(0xE0000, 0xE0100),
)
_REPLACEMENTS = dict.fromkeys((*_CONTROLS, *_BIDI, *_HIDDEN), "\ufffd")
del _REPLACEMENTS[9], _REPLACEMENTS[10]


class NotebookTrace(tuple[StageTrace, ...]):
    """A trace that shows itself in a notebook; otherwise the same tuple."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return trace_html(self)


def context_line(context: Any) -> str:
    """How much is shown, of which budget, by which recipe."""
    budget = context.budget.documents
    tokens = f"{context.token_count:,}" + (f" of {budget:,}" if budget is not None else "")
    blocks = _format_count(len(context.blocks), "block")
    return f"<Context: {blocks}, {tokens} tokens, recipe {context.manifest.recipe!r}>"


def context_html(context: Context) -> str:
    """What is shown of which source, and what became of the rest, folded."""
    budget = context.budget.documents
    tokens = f"{context.token_count:,}" + (f" of {budget:,}" if budget is not None else "")
    facts = [
        f"{tokens} tokens",
        _format_count(len(context.blocks), "block"),
        f"recipe {_format_name(context.manifest.recipe)}",
        _format_name(context.manifest.tokenizer),
    ]
    labels = {entry.marker: entry for entry in context.citations}
    head = f"<p><b>{_format_name(context.query)}</b><br>{_FAINT}{' · '.join(facts)}</span></p>"
    rows = [_block_row(block, labels.get(block.marker)) for block in context.blocks[:MAX_ROWS]]
    shown = _render_table(("", "source", "score", "text"), rows, len(context.blocks))
    return f"{_OUTER}{head}{shown}{_trace_summary(context.trace)}</div>"


def stage_html(stage: StageTrace) -> str:
    """One step: how many came and went, and each decision with its numbers."""
    head = f"<p><b>{_format_name(stage.stage)}</b> {stage.before:,} → {stage.after:,}"
    notes = f"<br>{_FAINT}{_format_pairs(stage.notes)}</span>" if stage.notes else ""
    return f"{_OUTER}{head}{notes}</p>{_decision_table(stage, MAX_ROWS)}</div>"


def trace_html(trace: Sequence[StageTrace]) -> str:
    """All steps, and the first decisions of each, folded."""
    table = _render_table(*_stage_table(trace))
    folded = (
        f"<details><summary>{_format_name(stage.stage)}</summary>"
        f"{_decision_table(stage, MAX_DECISIONS)}</details>"
        for stage in trace[:MAX_ROWS]
        if stage.decisions
    )
    return f"{_OUTER}{table}{''.join(folded)}</div>"


def _trace_summary(trace: Sequence[StageTrace]) -> str:
    decisions = sum(len(stage.decisions) for stage in trace)
    table = _render_table(*_stage_table(trace))
    head = f"Trace: {_format_count(len(trace), 'stage')}, {_format_count(decisions, 'decision')}"
    return f"<details><summary>{head}</summary>{table}</details>"


def _stage_table(trace: Sequence[StageTrace]) -> tuple[Sequence[str], list[list[str]], int]:
    names = ("stage", "before", "after", "decisions")
    return names, [_stage_row(stage) for stage in trace[:MAX_ROWS]], len(trace)


def _decision_table(stage: StageTrace, most: int) -> str:
    rows = [_decision_row(one) for one in stage.decisions[:most]]
    names = ("chunk", "action", "reason", "by", "numbers")
    return _render_table(names, rows, len(stage.decisions)) if rows else ""


def _stage_row(stage: StageTrace) -> list[str]:
    kinds = Counter(f"{one.action} {one.reason}" for one in stage.decisions)
    said = ", ".join(f"{count:,} × {_format_name(kind)}" for kind, count in sorted(kinds.items()))
    return [_format_name(stage.stage), f"{stage.before:,}", f"{stage.after:,}", said]


def _block_row(block: Block, entry: Citation | None) -> list[str]:
    label = _format_name(entry.label) if entry is not None else _format_name(block.kind)
    place = [block.source, block.section and f"§ {block.section}"]
    place += [f"page {block.page}"] if block.page is not None else []
    where = "<br>".join(_format_name(part) for part in place if part)
    text = f'<div style="{_TEXT}">{_format_text(block.text)}</div>'
    kind = (
        ""
        if block.rendition == "verbatim"
        else f"<br>{_FAINT}{_format_name(block.rendition)}</span>"
    )
    score = f"{block.score:.3f}" if block.scored else ""
    return [label, where, f"{score}{kind}", text]


def _decision_row(one: Decision) -> list[str]:
    parts = [_format_name(part) for part in (one.chunk_id, one.action, one.reason, one.by)]
    return [*parts, _format_pairs(one.numbers)]


def _format_pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{_format_name(name)} {_format_value(value)}" for name, value in values.items()
    )


def _render_table(names: Iterable[str], rows: Sequence[Sequence[str]], total: int) -> str:
    head = "".join(f"<th {_CELL}>{_format_name(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in row)}</tr>" for row in rows
    )
    more = f"<p>{_FAINT}… and {total - len(rows):,} more</span></p>" if total > len(rows) else ""
    return f"{_TABLE}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return _format_text(value if isinstance(value, str) else str(value), MAX_TEXT_LENGTH // 4)


def _format_name(text: str) -> str:
    return _format_text(text, MAX_TEXT_LENGTH // 4)


def _format_text(text: str, longest: int = MAX_TEXT_LENGTH) -> str:
    cut = text if len(text) <= longest else text[:longest].rstrip() + " […]"
    return f"<bdi>{escape(cut.translate(_REPLACEMENTS))}</bdi>"


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
