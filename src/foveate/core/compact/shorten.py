"""A shortened tool result: some of its records, lines or sentences, verbatim, and a handle.

Texts are taken apart by the readers of shapes that contexts have, into records, rows, entries and
statements; JSON's strings are read through and shown as they read. A piece is never shown without
the one that it leans on. `piece_order.py` says which comes first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence

from foveate.core.compact.piece_order import Pieces, rank_pieces
from foveate.core.seal import content_hash
from foveate.core.text.blocks import trim_span
from foveate.core.text.escape import Guard, inline_rule
from foveate.core.text.shapes.blob import NAME as BLOB
from foveate.core.text.shapes.gaps import END_MARK, UNCOUNTED, join_spans
from foveate.core.text.shapes.gaps import PATTERN as GAP_MARK
from foveate.core.text.shapes.shape import Counted, Shape
from foveate.core.text.shapes.strings import nested_shapes, plain_strings, read_shapes
from foveate.core.text.units import cut_pieces, units_of
from foveate.core.types import Span

HANDLE_LENGTH = 16
"""Hexadecimal digits of a handle: 64 bits, so that no two texts have one."""
HANDLE = r"[0-9a-f]{16}|[0-9a-f]{8}"
"""Handles of earlier releases had 8 digits."""
LONGEST_ANALYSED = 200_000
"""Characters of a text that are taken apart; of a longer one, the two ends."""
LONGEST_PIECE = 400
"""Characters; a longer unit is shown by its lines where it would take too much of the room."""
LONGEST_BLOCK = 160
"""Characters; longer prose of several lines is shown by its lines."""
PIECE_SHARE = 0.7
"""Of the room that one unit may fill."""
MARK_TOKENS = 6
"""About what the mark of a gap beside a piece takes."""
_LINE = re.compile(r"[^\n]++")
_GUARD = Guard(
    (inline_rule("[", r"(?i:[ \t]*+(?:shortened|ledger|end of ledger|same as|handle)\b)"),)
)

_NOTE = re.compile(
    r"\n?\[(?:(?P<cut>shortened: )|same as a later result)[^\[\]\n]*"
    rf"; expand (?P<handle>{HANDLE})\]\Z"
)
_GAP = re.compile(rf"{GAP_MARK.pattern}|{END_MARK}")


def guard_notes(text: str) -> str:
    """The text with one backslash in whatever imitates a note or a ledger."""
    return _GUARD(text)


def unguard_notes(text: str) -> str:
    """What `guard_notes` was given."""
    return _GUARD.undo(text)


def result_handle(text: str) -> str:
    """The handle of an original: the first digits of its content hash."""
    return content_hash(text)[:HANDLE_LENGTH]


def shorten_result(
    text: str, clues: str, tokens: int, count: Callable[[str], int]
) -> tuple[str, int, int]:
    """The text in at most `tokens`, with the note at its end; pieces shown and pieces in all.

    The note alone where no piece fits.
    """
    handle, size = result_handle(text), max(count(text), 1)
    longest = max(PIECE_SHARE * tokens * len(text) / size, LONGEST_PIECE)
    text = plain_strings(body_of(text))
    spans, leans, shapes = split_result(text, longest)
    lines = Counted(UNCOUNTED, tuple(spans))
    counted = [*(one for shape in shapes if not shape.inner for one in shape.counted), lines]

    def written(kept: Collection[int]) -> str:
        body, _ = join_spans(text, [spans[i] for i in sorted(kept)], counted)
        return f"{guard_notes(body)}\n{shortened_note(len(kept), len(spans), handle)}".lstrip("\n")

    order = rank_pieces(text, Pieces(spans, leans, shapes), clues)
    kept: dict[int, None] = {}
    for _ in range(2):  # again in the room that is left, for most marks are not needed
        used = count(written(kept))
        for i in order if used + MARK_TOKENS < tokens else ():
            added = [n for n in _with_leans(i, leans) if n not in kept]
            cost = sum(count(text[slice(*spans[n])]) + MARK_TOKENS for n in added)
            if added and used + cost <= tokens:
                kept |= dict.fromkeys(added)
                used += cost
    while kept and (over := count(written(kept)) - tokens) > 0:
        while kept and over > 0:  # the last to come, and what leans on it
            last = next(reversed(kept))
            for n in [n for n in kept if last in _with_leans(n, leans)]:
                over -= count(text[slice(*spans[n])])
                del kept[n]
    return written(kept), len(kept), len(spans)


def shortened_note(shown: int, pieces: int, handle: str) -> str:
    """What ends a shortened result."""
    return f"[shortened: {shown} of {pieces} parts; expand {handle}]"


def body_of(text: str) -> str:
    """A text that may have been shortened, without the note that ends it."""
    return text[: note.start()] if (note := _note(text)) else text


def is_shortened(text: str) -> bool:
    """Whether it ends as a shortened text does, of which it may be all that is here."""
    return (note := _note(text)) is not None and note["cut"] is not None


def noted_handle(text: str) -> str:
    """The handle in the note that ends a text; empty: there is none."""
    return note["handle"] if (note := _note(text)) else ""


def _note(text: str) -> re.Match[str] | None:
    """The note at the end of a text, which has no bracket inside."""
    return _NOTE.search(text, text.rfind("[") - 1) if text.endswith("]") and "[" in text else None


def is_part_of(text: str, original: str) -> bool:
    """Whether all that a shortened text shows stands in the original, in that order."""
    at, original = 0, plain_strings(original)
    for piece in map(str.strip, _GAP.split(unguard_notes(body_of(text)))):
        found = original.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def split_result(text: str, longest: float = LONGEST_PIECE) -> Pieces:
    """The pieces of a text; a unit of more than `longest` characters is taken apart by lines."""
    if len(text) > LONGEST_ANALYSED:
        spans = list(_lines(text, 0, len(text)))
        return Pieces(spans, list(range(len(spans))))
    shapes = read_shapes(text)
    units = units_of(text, shapes=shapes)
    blobs = {shape.start for shape in shapes if shape.name == BLOB}
    found: list[Span] = []
    leans: list[int] = []
    heads = [0]  # of each unit, the place of its first piece
    for start, end in units.spans:
        is_prose = "\n" in text[start:end] and not _is_whole(text, start, shapes)
        most = LONGEST_BLOCK if is_prose else longest
        whole = end - start <= most or start in blobs
        found += [(start, end)] if whole else _lines(text, start, end)
        heads.append(len(found))
    for n, lean in enumerate(units.leans):
        leans += [heads[lean], *range(heads[n] + 1, heads[n + 1])]
    return Pieces(found, leans, nested_shapes(shapes))


def _is_whole(text: str, start: int, shapes: Sequence[Shape]) -> bool:
    """Whether the unit that begins there is a record, an entry or a statement, and no prose."""
    n = bisect_right(shapes, start, key=lambda shape: shape.start) - 1
    if n < 0 or start >= shapes[n].end:
        return False
    if not shapes[n].name.startswith("json") or text[start] in '{["':
        return True
    return _is_whole(text, start, shapes[n].inner)


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Lines of a stretch of text; pieces of those that are very long."""
    reach = max(LONGEST_PIECE, len(text) // 2_000)
    for match in _LINE.finditer(text, start, end):
        first, last = trim_span(text, *match.span())
        if first < last:
            yield from cut_pieces(text, first, last, reach)


def _with_leans(i: int, leans: Sequence[int]) -> list[int]:
    """The piece behind all that it is never shown without."""
    found = [i]
    while leans[i] not in found:
        i = leans[i]
        found.append(i)
    return found[::-1]
