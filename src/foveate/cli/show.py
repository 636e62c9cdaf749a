"""A context explained in lines of text: what is shown and left out, or every decision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len

from foveate.cli.layout import clip, format_columns, wrap_words
from foveate.core.types import (
    Candidate,
    Chunk,
    Citation,
    Context,
    Decision,
    Span,
    StageTrace,
    rank,
)
from foveate.pipeline.reason_messages import format_decision, format_number
from foveate.ports import SearchResult

SNIPPET_LENGTH = 69  # characters of a citation's snippet: with quotes and " ..." a line of 80
MOST_SHOWN, MOST_LEFT_OUT = 7, 10  # lines of the short explanation, which fits a screen
_MADE_ID = re.compile(r"[0-9a-f]{16}")
"""The id of a candidate that came without one."""
_SCORE = re.compile(r", score [^;]*")


def explain_lines(context: Context, candidates: Sequence[Candidate], width: int = 80) -> list[str]:
    """What is shown, the best that is left out with the reasons, and counts: at most 30 lines.

    `candidates`: what the context was made of.
    """
    names = candidate_names(candidates)
    return [
        *summary_lines(context, width),
        "",
        *_shown_lines(context, names, width),
        *_left_out_lines(context, candidates, names, width),
        "",
        *wrap_words(_counts(context), width),
        *wrap_words("--explain=all shows every stage and decision, and the citations.", width),
    ]


def explain_all_lines(
    context: Context, candidates: Sequence[Candidate], width: int = 80
) -> list[str]:
    """Everything: summary, trace, decisions, tokens by zone, citations."""
    parts = (
        summary_lines(context, width),
        trace_lines(context, width),
        decision_lines(context, candidate_names(candidates), width),
        zone_lines(context, width),
        citation_lines(context, width),
    )
    return [line for part in parts if part for line in ("", *part)][1:]


def candidate_names(candidates: Sequence[Candidate]) -> dict[str, str]:
    """What those without an id of their own are called: source and place, or their number.

    >>> found = [Candidate(chunk=Chunk(text="Roses.", source="garden.md", page=2))]
    >>> list(candidate_names(found).values())
    ['garden.md, page 2']
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for number, candidate in enumerate(candidates, 1):
        chunk = candidate.chunk
        if not _MADE_ID.fullmatch(chunk.id):
            continue
        place = _position_parts(chunk) or ([f"part {chunk.sequence}"] if chunk.sequence else [])
        name = ", ".join([chunk.source, *place])
        if chunk.source == chunk.id or name in taken:
            name = f"candidate {number}" + ("" if chunk.source == chunk.id else f", {name}")
        taken.add(name)
        names[chunk.id] = name
    return names


def _shown_lines(context: Context, names: Mapping[str, str], width: int) -> list[str]:
    kept = {d.chunk_id: d for s in context.trace for d in s.decisions if d.action == "kept"}
    pairs = []
    for block in context.blocks:
        own = next((i for i in block.chunk_ids if i in kept), "")
        name = names.get(own, own) or block.source
        said = _SCORE.sub("", format_decision(kept[own])) if own else block.rendition
        pairs.append((name, f"[{block.marker}] {said}" if block.marker else said))
    if not pairs:
        return ["Nothing is shown"]
    many = len(pairs)
    if many > MOST_SHOWN:
        pairs = [*pairs[: MOST_SHOWN - 1], (f"and {many - MOST_SHOWN + 1} more", "")]
    return ["Shown", *_short_columns(pairs, width)]


def _left_out_lines(
    context: Context, candidates: Sequence[Candidate], names: Mapping[str, str], width: int
) -> list[str]:
    """The best candidates that are dropped, or merged as copies."""
    place = {c.chunk.id: n for n, c in enumerate(sorted(candidates, key=rank))}
    found = sorted(_left_out(context), key=lambda d: place.get(d.chunk_id, len(place)))
    if not found:
        return []
    pairs = [
        (names.get(d.chunk_id, d.chunk_id), format_decision(_renamed(d, names)))
        for d in found[:MOST_LEFT_OUT]
    ]
    best = f", the best {len(pairs)} of {len(found)}" if len(found) > len(pairs) else ""
    return ["", f"Left out{best}", *_short_columns(pairs, width)]


def _left_out(context: Context) -> list[Decision]:
    made = [d for stage in context.trace for d in stage.decisions if d.reason != "stitched"]
    return [d for d in made if d.action in ("dropped", "merged")]


def _short_columns(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """One line for each pair; of long names the end is shown, of long texts the beginning."""
    column = min(max(cell_len(name) for name, _ in pairs), 3 * width // 10)
    lines = []
    for name, text in pairs:
        first = clip(name, column, left=True)
        line = f"  {first}{' ' * (column - cell_len(first))}  "
        lines.append(f"{line}{clip(text, width - cell_len(line))}".rstrip())
    return lines


def _counts(context: Context) -> str:
    made = [decision for stage in context.trace for decision in stage.decisions]
    added = sum(d.reason == "neighbour" for d in made)
    reasons = Counter(d.reason.replace("_", " ") for d in _left_out(context))
    said = [_count_noun(context.trace[0].before if context.trace else 0, "candidate")]
    said += [f"{_count_noun(added, 'neighbour')} added"] if added else []
    said.append(f"{_count_noun(len(context.blocks), 'block')} shown")
    out = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common(5))
    return ", ".join(said) + (f"; left out: {out}" if out else "")


def _renamed(decision: Decision, names: Mapping[str, str]) -> Decision:
    own, by = decision.chunk_id, decision.by
    return replace(decision, chunk_id=names.get(own, own), by=names.get(by, by))


def summary_lines(context: Context, width: int = 80) -> list[str]:
    """The recipe, the size of the context, and its share of the budget."""
    seal = context.manifest
    blocks, documents = len(context.blocks), len({b.document_id for b in context.blocks})
    said = (
        f"{seal.recipe}: {_count_noun(blocks, 'block')} of {_count_noun(documents, 'document')}, "
        f"{_usage_text(context)}, counted by {seal.tokenizer}"
    )
    return wrap_words(said, width)


def trace_lines(context: Context, width: int = 80) -> list[str]:
    """A line for each stage: `7 → 12 chunks`, and what became of them."""
    column = max((len(stage.stage) for stage in context.trace), default=0)
    digits = max((len(f"{stage.before}") for stage in context.trace), default=1)
    pairs = [
        (
            (
                f"{stage.stage:<{column}}  {stage.before:>{digits}} → "
                f"{_count_noun(stage.after, 'chunk')}"
            ),
            _stage_counts(stage),
        )
        for stage in context.trace
    ]
    return ["Trace", *format_columns(pairs, width, most=width // 2)]


def _stage_counts(stage: StageTrace) -> str:
    done = Counter(d.action for d in stage.decisions)
    said = [f"{done[action]} {action}" for action in sorted(done)]
    said += [f"{name.replace('_', ' ')} {format_number(v)}" for name, v in stage.notes.items() if v]
    return ", ".join(said)


def decision_lines(context: Context, names: Mapping[str, str], width: int = 80) -> list[str]:
    """Every decision with its reason and numbers, stage by stage.

    `names`: of candidates that came without an id.
    """
    lines = ["Decisions"]
    for stage in context.trace:
        if not stage.decisions:
            continue
        made = [_renamed(decision, names) for decision in stage.decisions]
        pairs = [(d.chunk_id, f"{d.action}, {d.reason}: {format_decision(d)}") for d in made]
        lines += [f"  {stage.stage}", *format_columns(pairs, width, indent="    ", most=28)]
    return lines if len(lines) > 1 else [*lines, "  none: everything went through as it came"]


ZONES = ("system", "documents", "conversation", "query", "generation", "buffer", "window")


def zone_lines(context: Context, width: int = 80) -> list[str]:
    """The tokens of each zone and of the window; without a window, of the documents alone."""
    budget = context.budget
    zones = ZONES if budget.window is not None else ("documents",)
    sizes = [(name, size) for name in zones if (size := getattr(budget, name))]
    said = ", ".join(f"{name} {size:,}" for name, size in sizes)
    lines = wrap_words(said, width, first="  ") if said else []
    return ["Tokens by zone", *lines, *wrap_words(_usage_text(context), width, first="  ")]


def _usage_text(context: Context) -> str:
    said = []
    for used, allowed, unit in (
        (context.token_count, context.budget.documents, "tokens"),
        (len(context.text), context.budget.characters, "characters"),
    ):
        if allowed is not None:
            said.append(f"{used:,} of {allowed:,} {unit} ({100 * used // allowed} %)")
    return " and ".join(said)


def citation_lines(context: Context, width: int = 80) -> list[str]:
    """The source of each marker, its place, and the beginning of its text."""
    lines = ["Citations"]
    for entry in context.citations:
        first = f"  [{entry.marker}] "
        lines += wrap_words(format_location(entry), width, first=first)
        indent = " " * len(first)
        lines += wrap_words(f"“{_snippet(entry.snippet)}”", width, first=indent)
        if entry.corroborating:
            others = sorted({s.source for s in entry.corroborating})
            lines += wrap_words(f"also in {', '.join(others)}", width, first=indent)
    return lines if len(lines) > 1 else [*lines, "  none"]


def format_location(entry: Citation) -> str:
    """Source, title, section, page, row, line, characters: as far as they are known."""
    said = [entry.source]
    nested = entry.section.startswith(entry.title)
    said += [part for part in ("" if nested else entry.title, entry.section) if part]
    said += _position_parts(entry)
    said += [_format_spans(entry.document_spans)] if entry.document_spans else []
    own = [i for i in entry.chunk_ids if not _MADE_ID.fullmatch(i)]
    said += [_format_chunk_ids(own)] if own else []
    return "; ".join(said)


def _position_parts(entry: Citation | Chunk) -> list[str]:
    named = (("page", entry.page), ("row", entry.row), ("line", entry.line))
    return [f"{name} {value}" for name, value in named if value is not None]


def _format_chunk_ids(ids: Sequence[str]) -> str:
    """The ids, of which those that share the first one's `NAME#` are shortened."""
    stem = ids[0].rpartition("#")[0]
    rest = [i.removeprefix(stem) if stem and i.startswith(f"{stem}#") else i for i in ids[1:]]
    return ("chunks " if rest else "chunk ") + ", ".join((ids[0], *rest))


def _snippet(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= SNIPPET_LENGTH:
        return flat
    return f"{flat[:SNIPPET_LENGTH].rpartition(' ')[0] or flat[:SNIPPET_LENGTH]} ..."


def _format_spans(spans: tuple[Span, ...]) -> str:
    whole = f"characters {spans[0][0]}-{spans[-1][1]}"
    return whole if len(spans) == 1 else f"{whole} in {len(spans)} pieces"


def _count_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def search_lines(found: SearchResult, width: int) -> list[str]:
    """Rank, score, place and beginning of each."""
    count = len(found.candidates)
    lines = [f"{count} found ({found.badge}, {found.lexical_matches} by their words)"]
    for number, candidate in enumerate(found.candidates, 1):
        chunk = candidate.chunk
        first = f"{number:>3}  {format_number(candidate.score):<7} "
        said = [part for part in (chunk.source, chunk.section) if part] + _position_parts(chunk)
        lines += wrap_words("; ".join([*said, f"chunk {chunk.id}"]), width, first=first)
        start = " ".join(chunk.text.split())
        shown = start if len(start) <= 160 else f"{start[:156]} ..."
        lines += wrap_words(shown, width, first=" " * len(first))
    return lines
