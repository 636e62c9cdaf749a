"""A context explained to a person: what each stage did and why, the tokens, the citations.

Pure: values in, lines out, none wider than asked. `--explain` prints them, and so does the demo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from foveate.cli.layout import rows, wrapped
from foveate.core.types import Chunk, Citation, Context, Decision, Span, StageTrace
from foveate.ports import Found
from foveate.words import figure, in_words

SNIPPET = 69  # characters of a citation's snippet: with quotes and " ..." a line of 80
USED, RESERVED = "█", "░"


def explained(context: Context, width: int = 80) -> list[str]:
    """Everything: summary, trace, decisions, tokens by zone, citations."""
    parts = (
        summary(context, width),
        trace(context, width),
        decisions(context, width),
        zones(context, width),
        citations(context, width),
    )
    return [line for part in parts if part for line in ("", *part)][1:]


def summary(context: Context, width: int = 80) -> list[str]:
    """What was made, by which recipe, and how much of the budget it took."""
    seal = context.manifest
    blocks, documents = len(context.blocks), len({b.document_id for b in context.blocks})
    said = (
        f"{seal.recipe}: {_many(blocks, 'block')} of {_many(documents, 'document')}, "
        f"{_spent(context)}, counted by {seal.tokenizer}"
    )
    return wrapped(said, width)


def trace(context: Context, width: int = 80) -> list[str]:
    """A line for each stage: `7 → 12 chunks`, and what became of them."""
    column = max((len(stage.stage) for stage in context.trace), default=0)
    digits = max((len(f"{stage.before}") for stage in context.trace), default=1)
    pairs = [
        (
            f"{stage.stage:<{column}}  {stage.before:>{digits}} → {_many(stage.after, 'chunk')}",
            _became(stage),
        )
        for stage in context.trace
    ]
    return ["Trace", *rows(pairs, width, most=width // 2)]


def _became(stage: StageTrace) -> str:
    """How many of each kind of decision, and the stage's own figures."""
    done = Counter(d.action for d in stage.decisions)
    said = [f"{done[action]} {action}" for action in sorted(done)]
    said += [f"{name.replace('_', ' ')} {figure(v)}" for name, v in stage.notes.items() if v]
    return ", ".join(said)


def decisions(context: Context, width: int = 80, *, most: int | None = None) -> list[str]:
    """Every decision with its reason and numbers, stage by stage; at the `most` of one kind."""
    lines = ["Decisions"]
    for stage in context.trace:
        if not stage.decisions:
            continue
        shown = _first_of_each_kind(stage.decisions, most)
        pairs = [(d.chunk_id, f"{d.action}, {d.reason}: {in_words(d)}") for d in shown]
        lines += [f"  {stage.stage}", *rows(pairs, width, indent="    ", most=28)]
        if left := len(stage.decisions) - len(shown):
            lines.append(f"    ... and {left} more")
    return lines if len(lines) > 1 else [*lines, "  none: everything went through as it came"]


def _first_of_each_kind(made: tuple[Decision, ...], most: int | None) -> list[Decision]:
    """Of each action and reason the first `most`; all of them where it is None."""
    seen: Counter[tuple[str, str]] = Counter()
    shown = []
    for decision in made:
        kind = (decision.action, decision.reason)
        seen[kind] += 1
        if most is None or seen[kind] <= most:
            shown.append(decision)
    return shown


def zones(context: Context, width: int = 80) -> list[str]:
    """The token bar: how much of the window each zone has, and what the documents took of theirs.

    Where the window is not known, only the documents' own room is shown.
    """
    budget = context.budget
    lines = []
    if budget.documents is not None and budget.window is None:
        bar = _bar(context.token_count, budget.documents, width - 30)
        lines.append(f"  {'documents':<13}{budget.documents:>9,}  {bar}")
    elif budget.window is not None:
        lines += _waterfall(context, budget.window, width - 30)
    if budget.characters is not None:
        bar = _bar(len(context.text), budget.characters, width - 30)
        lines.append(f"  {'characters':<13}{budget.characters:>9,}  {bar}")
    return ["Tokens by zone", *lines, *wrapped(_spent(context), width, first="  ")]


def _waterfall(context: Context, window: int, cells: int) -> Iterator[str]:
    """Each zone's bar begins where the one above it ends; together they are the window."""
    budget, start = context.budget, 0
    named = ("system", "documents", "conversation", "query", "generation", "buffer")
    sizes = {name: getattr(budget, name) or 0 for name in named}
    sizes["free"] = window - sum(sizes.values())
    for name, size in sizes.items():
        if size == 0:
            continue
        left = start * cells // window
        right = max((start + size) * cells // window, left + 1)
        used = context.token_count if name == "documents" else 0
        full = -(-used * (right - left) // size)
        bar = USED * full + (" " if name == "free" else RESERVED) * (right - left - full)
        yield f"  {name:<13}{size:>9,}  {' ' * left}{bar}".rstrip()
        start += size
    yield f"  {'window':<13}{window:>9,}  {'─' * cells}"


def _bar(part: int, whole: int, cells: int) -> str:
    full = min(-(-part * cells // whole), cells)
    return USED * full + RESERVED * (cells - full)


def _spent(context: Context) -> str:
    """Used of allowed, in the units that the budget has."""
    said = []
    for used, allowed, unit in (
        (context.token_count, context.budget.documents, "tokens"),
        (len(context.text), context.budget.characters, "characters"),
    ):
        if allowed is not None:
            said.append(f"{used:,} of {allowed:,} {unit} ({100 * used // allowed} %)")
    return " and ".join(said)


def citations(context: Context, width: int = 80) -> list[str]:
    """What each marker stands for, where it is in the source, and how it begins."""
    lines = ["Citations"]
    for entry in context.citations:
        first = f"  [{entry.marker}] "
        lines += wrapped(place(entry), width, first=first)
        indent = " " * len(first)
        lines += wrapped(f"“{_beginning(entry.snippet)}”", width, first=indent)
        if entry.corroborating:
            others = sorted({s.source for s in entry.corroborating})
            lines += wrapped(f"also in {', '.join(others)}", width, first=indent)
    return lines if len(lines) > 1 else [*lines, "  none"]


def place(entry: Citation) -> str:
    """Source, title, section, page, row, line, characters: as far as they are known."""
    said = [entry.source]
    nested = entry.section.startswith(entry.title)
    said += [part for part in ("" if nested else entry.title, entry.section) if part]
    said += _numbered(entry)
    said += [_spans(entry.document_spans)] if entry.document_spans else []
    said.append(_chunks(entry.chunk_ids))
    return "; ".join(said)


def _numbered(entry: Citation | Chunk) -> list[str]:
    """Page, row, line, as far as they are known."""
    named = (("page", entry.page), ("row", entry.row), ("line", entry.line))
    return [f"{name} {value}" for name, value in named if value is not None]


def _chunks(ids: tuple[str, ...]) -> str:
    """Their ids; where the next one begins like the first up to `#`, the rest of it alone."""
    stem = ids[0].rpartition("#")[0]
    rest = [i.removeprefix(stem) if stem and i.startswith(f"{stem}#") else i for i in ids[1:]]
    return ("chunks " if rest else "chunk ") + ", ".join((ids[0], *rest))


def _beginning(text: str) -> str:
    """The first words, on one line."""
    flat = " ".join(text.split())
    if len(flat) <= SNIPPET:
        return flat
    return f"{flat[:SNIPPET].rpartition(' ')[0] or flat[:SNIPPET]} ..."


def _spans(spans: tuple[Span, ...]) -> str:
    """From where to where, and in how many pieces."""
    whole = f"characters {spans[0][0]}-{spans[-1][1]}"
    return whole if len(spans) == 1 else f"{whole} in {len(spans)} pieces"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def found_lines(found: Found, width: int) -> list[str]:
    """Rank, score, place and beginning of each."""
    count = len(found.candidates)
    lines = [f"{count} found ({found.badge}, {found.lexical_matches} by their words)"]
    for number, candidate in enumerate(found.candidates, 1):
        chunk = candidate.chunk
        first = f"{number:>3}  {figure(candidate.score):<7} "
        said = [part for part in (chunk.source, chunk.section) if part] + _numbered(chunk)
        lines += wrapped("; ".join([*said, f"chunk {chunk.id}"]), width, first=first)
        start = " ".join(chunk.text.split())
        shown = start if len(start) <= 160 else f"{start[:156]} ..."
        lines += wrapped(shown, width, first=" " * len(first))
    return lines
