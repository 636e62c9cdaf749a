"""Page summaries and supplements of a text format.

A page summary is a line `[Page context: …]` before the header of its document's first block.
Supplements come first, each under `[Supplement: title]`, and end with `[End of supplements]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL
from foveate.core.formats.shared.header import one_line, with_summary
from foveate.core.text.escape import Guard, Rule, closing_rule
from foveate.core.text.markers import OPENED, UNCLOSED
from foveate.core.types import Block

_END = "\n\n[End of supplements]\n\n"
_SUMMARY = re.compile(rf"\[{LABEL_TAIL} [^\n]*\]\n")
BETWEEN = Guard((Rule(OPENED, (UNCLOSED,)), closing_rule("]")))
"""For what goes between brackets: it cannot close them, and they close nothing that it opens."""


def block_separator(previous: Block | None, block: Block, gap: str) -> str:
    """The separator: nothing at the start, the end of the supplements after them, else `gap`."""
    if previous is None:
        return ""
    if previous.kind == "chunk":
        return gap
    return "\n\n" if block.kind == "supplement" else _END


def supplement_line(block: Block, guard: Guard) -> str:
    """`[Supplement: title]`."""
    return f"[Supplement: {guard_bracketed(one_line(block.title or block.source), guard)}]"


def supplements_end(text: str) -> int:
    """Where the blocks begin."""
    if not text.startswith("[Supplement: "):
        return 0
    end = text.find(_END)
    return len(text) if end < 0 else end + len(_END)


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
    found = [(m, _block_start(text, m.start())) for m in head.finditer(text, supplements_end(text))]
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
