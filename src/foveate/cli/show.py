"""A context explained in lines of text: the stages, decisions, tokens and citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from foveate.cli.failures import escape_unprintable
from foveate.core.types import Chunk, Citation, Context, Decision, Span, StageTrace
from foveate.pipeline.reason_messages import format_decision, format_number
from foveate.ports import SearchResult


def wrap_words(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """The words in lines of at most `width` columns, the first after `first`, others after `rest`.

    >>> wrap_words("one two three", 9, first="- ")
    ['- one two', '  three']
    """
    indent = " " * cell_len(first) if rest is None else rest
    lines, line, fresh = [], first, True
    for word in _split_words(text, width - cell_len(indent)):
        added = word if fresh else f" {word}"
        if not fresh and cell_len(line) + cell_len(added) > width:
            lines.append(line)
            line, added = indent, word
        line, fresh = line + added, False
    return [*lines, line.rstrip()]


def _split_words(text: str, room: int) -> Iterator[str]:
    """The words; one that is longer than a line is split."""
    for word in escape_unprintable(text).split():
        if cell_len(word) <= room:
            yield word
        else:
            yield from chop_cells(word, max(room, 2))


def format_columns(
    pairs: Sequence[tuple[str, str]], width: int, *, indent: str = "  ", most: int = 24
) -> list[str]:
    """Names and texts in two columns; a name over `most` columns has a line of its own.

    >>> format_columns([("a", "one two"), ("bcd", "three")], 40)
    ['  a    one two', '  bcd  three']
    """
    sizes = [cell_len(escape_unprintable(name)) for name, _ in pairs]
    column = max((size for size in sizes if size <= most), default=2)
    lines = []
    for (name, text), size in zip(pairs, sizes, strict=True):
        shown = escape_unprintable(name)
        if size > column:
            lines += wrap_words(shown, width, first=indent)
            shown, size = "", 0  # noqa: PLW2901
        lines += wrap_words(text, width, first=f"{indent}{shown}{' ' * (column - size)}  ")
    return lines


SNIPPET_LENGTH = 69  # characters of a citation's snippet: with quotes and " ..." a line of 80
FOLDED_REASONS = {"weighed": "weighed: each sentence has a worth now"}
"""Reasons that say what a stage did with every chunk, and decide nothing: one line for all."""
MOST_ALIKE = 3
"""Texts dropped for one reason whose decisions have lines of their own."""
USED, RESERVED = "█", "░"


def explain_lines(context: Context, width: int = 80) -> list[str]:
    """Everything: summary, trace, decisions, tokens by zone, citations."""
    parts = (
        summary_lines(context, width),
        trace_lines(context, width),
        decision_lines(context, width),
        zone_lines(context, width),
        citation_lines(context, width),
    )
    return [line for part in parts if part for line in ("", *part)][1:]


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


def decision_lines(context: Context, width: int = 80) -> list[str]:
    """The decisions with their reasons and numbers, stage by stage.

    Of texts dropped for one reason, the first are explained, with those that would fit next, and
    the others named. Neighbours that are not shown are counted: no search found them.
    """
    lines = ["Decisions"]
    unused = _unused_neighbours(context)
    for stage in context.trace:
        if not stage.decisions:
            continue
        folded = [d for d in stage.decisions if d.reason in FOLDED_REASONS]
        rest = [d for d in stage.decisions if d.reason not in FOLDED_REASONS]
        told = [d for d in rest if d.chunk_id not in unused]
        shown, named = _first_of_each_reason(told)
        pairs = [(d.chunk_id, f"{d.action}, {d.reason}: {format_decision(d)}") for d in shown]
        lines += [f"  {stage.stage}", *format_columns(pairs, width, indent="    ", most=28)]
        neighbours = [d for d in rest if d.chunk_id in unused]
        for said in (*_named_texts(named), *_folded_texts(folded), *_neighbours_texts(neighbours)):
            lines += wrap_words(said, width, first="    ")
    return lines if len(lines) > 1 else [*lines, "  none: everything went through as it came"]


def _folded_texts(made: Sequence[Decision]) -> Iterator[str]:
    for reason, count in Counter(d.reason for d in made).items():
        yield f"{_count_noun(count, 'chunk')} {FOLDED_REASONS[reason]}"


def _neighbours_texts(made: Sequence[Decision]) -> Iterator[str]:
    """How many were not needed, and for which reasons they left."""
    if not made:
        return
    reasons = Counter(d.reason for d in made if d.action != "entered")
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    yield f"{_count_noun(len(made), 'neighbour')} not needed{f': {why}' if why else ''}"


def _unused_neighbours(context: Context) -> set[str]:
    """The neighbours that are not shown, except those whose passage holds a hit."""
    made = [decision for stage in context.trace for decision in stage.decisions]
    entered = {d.chunk_id for d in made if d.reason == "neighbour"}
    shown = {chunk_id for block in context.blocks for chunk_id in block.chunk_ids}
    chosen = {d.chunk_id for d in made if d.action == "kept"}
    carriers = {d.by for d in made if d.action == "merged" and d.chunk_id not in entered}
    return entered - shown - chosen - carriers


def _first_of_each_reason(made: Sequence[Decision]) -> tuple[list[Decision], list[Decision]]:
    """Those to explain, the first `MOST_ALIKE` that were dropped for a reason; those to name."""
    seen: Counter[str] = Counter()
    shown: list[Decision] = []
    named: list[Decision] = []
    for decision in made:
        seen[decision.reason] += decision.action == "dropped"
        is_alike = decision.action == "dropped" and seen[decision.reason] > MOST_ALIKE
        (named if is_alike and "short_by" not in decision.numbers else shown).append(decision)
    return shown, named


def _named_texts(made: Sequence[Decision]) -> Iterator[str]:
    for reason in dict.fromkeys(d.reason for d in made):
        ids = [d.chunk_id for d in made if d.reason == reason]
        yield f"{len(ids)} more dropped, {reason}: {', '.join(ids)}"


ZONES = ("system", "documents", "conversation", "query", "generation", "buffer", "window")


def zone_lines(context: Context, width: int = 80) -> list[str]:
    """The tokens of each zone and of the window, and a bar of what the documents took of theirs.

    Where the window is not known, only the documents' own room is shown.
    """
    budget = context.budget
    lines = []
    for name in ZONES if budget.window is not None else ("documents",):
        if size := getattr(budget, name):
            bar = _bar(context.token_count, size, width - 30) if name == "documents" else ""
            lines.append(f"  {name:<13}{size:>9,}  {bar}".rstrip())
    if budget.characters is not None:
        bar = _bar(len(context.text), budget.characters, width - 30)
        lines.append(f"  {'characters':<13}{budget.characters:>9,}  {bar}")
    return ["Tokens by zone", *lines, *wrap_words(_usage_text(context), width, first="  ")]


def _bar(part: int, whole: int, cells: int) -> str:
    full = min(-(-part * cells // whole), cells)
    return USED * full + RESERVED * (cells - full)


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
    said.append(_format_chunk_ids(entry.chunk_ids))
    return "; ".join(said)


def _position_parts(entry: Citation | Chunk) -> list[str]:
    named = (("page", entry.page), ("row", entry.row), ("line", entry.line))
    return [f"{name} {value}" for name, value in named if value is not None]


def _format_chunk_ids(ids: tuple[str, ...]) -> str:
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
