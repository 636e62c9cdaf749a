"""A shortened tool result: some of its records, lines or sentences, verbatim, and a handle.

JSON with a list is taken apart into the elements of its longest list, other texts into the units of
`compress`. What matches the question and the call's arguments comes first, then errors, then the
head and the end. A unit is never shown without the one that it leans on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from foveate.core.seal import content_hash
from foveate.core.stages.compress.units import cut_pieces, units_of
from foveate.core.text.blocks import trim_span
from foveate.core.text.escape import Guard, inline_rule
from foveate.core.text.salience import inverse_document_frequency, weigh_sentences
from foveate.core.text.shapes.gaps import ELISION, END_MARK, join_spans
from foveate.core.text.words import split_words
from foveate.core.types import Span

HANDLE_LENGTH = 8
"""Hexadecimal digits of a handle: enough for a store of some thousand originals."""
LONGEST_ANALYSED = 200_000
"""Characters of a text that are taken apart; of a longer one, the two ends."""
LONGEST_PIECE, LONGEST_BLOCK = 400, 160
"""Characters; a longer unit of one line, or of several, is shown by its lines."""
_LINE = re.compile(r"[^\n]++")
_ERROR = re.compile(r"(?i)\b(?:error|exception|traceback|failed|failure|fatal|denied|refused)\b")
_ENDS_WEIGHT = 0.3  # what the first and the last unit have, where the average unit has 1 / units
_ERROR_WEIGHT = 0.5
_CLUES = 40  # words of the question and the arguments by which units are weighed
_GUARD = Guard(
    (inline_rule("[", r"(?i:[ \t]*+(?:shortened|ledger|end of ledger|same as|handle)\b)"),)
)

_NOTE = re.compile(
    r"\n?\[(?:(?P<cut>shortened: )|same as a later result)[^\[\]\n]*"
    r"; expand (?P<handle>[0-9a-f]{8})\]\Z"
)
_GAP = re.compile(rf"{re.escape(ELISION.strip())}|{END_MARK}")


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
    text: str,
    clues: str,
    tokens: int,
    count: Callable[[str], int],
    *,
    cites: Sequence[int] = (),
    language: str = "en",
) -> tuple[str, int, int]:
    """The text in at most `tokens`, with the note at its end; pieces shown and pieces in all.

    `language`: that of its sentences. Pieces with one of the places `cites` come first. The
    note alone where no piece fits.
    """
    handle, text = result_handle(text), body_of(text)
    spans, leans = split_result(text, language)
    weights = _weigh(text, spans, clues)

    def written(kept: Sequence[int]) -> str:
        body, _ = join_spans(text, [spans[i] for i in kept])
        return f"{guard_notes(body)}\n{shortened_note(len(kept), len(spans), handle)}".lstrip("\n")

    order = sorted(range(len(spans)), key=lambda i: (-weights[i] / max(_length(spans[i]), 1), i))
    order.sort(key=lambda i: not any(spans[i][0] <= at < spans[i][1] for at in cites))
    kept: set[int] = set()
    used = count(written(()))
    for i in order:
        added = _with_leans(i, leans) - kept
        cost = sum(count(text[a:b]) + 4 for a, b in (spans[n] for n in added))
        if added and used + cost <= tokens:
            kept |= added
            used += cost
    chosen = sorted(kept)
    while chosen and count(written(chosen)) > tokens:
        chosen.pop()
    return written(chosen), len(chosen), len(spans)


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
    at = 0
    for piece in map(str.strip, _GAP.split(unguard_notes(body_of(text)))):
        found = original.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def split_result(text: str, language: str = "en") -> tuple[list[Span], list[int]]:
    """The pieces of a text that may be shown apart, and which piece each leans on."""
    if text.lstrip()[:1] in ("[", "{") and (spans := _record_spans(text)):
        return spans, list(range(len(spans)))
    if len(text) > LONGEST_ANALYSED:
        spans = list(_lines(text, 0, len(text)))
        return spans, list(range(len(spans)))
    units = units_of(text, language)
    return _split_long(text, units.spans, units.leans)


def _split_long(
    text: str, spans: Sequence[Span], leans: Sequence[int]
) -> tuple[list[Span], list[int]]:
    """The units, the long ones among them as lines that stand alone."""
    found: list[Span] = []
    heads: list[int] = []  # of each unit, the place of its first piece
    for start, end in spans:
        heads.append(len(found))
        most = LONGEST_BLOCK if "\n" in text[start:end] else LONGEST_PIECE
        found += [(start, end)] if end - start <= most else _lines(text, start, end)
    places = list(range(len(found)))
    for n, lean in enumerate(leans):
        alone = n + 1 == len(heads) or heads[n + 1] == heads[n] + 1
        if alone and heads[lean] != heads[n]:
            places[heads[n]] = heads[lean]
    return found, places


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Lines of a stretch of text; pieces of those that are very long."""
    reach = max(LONGEST_PIECE, len(text) // 2_000)
    for match in _LINE.finditer(text, start, end):
        first, last = match.span()
        yield from cut_pieces(text, *trim_span(text, first, last), reach)


def _record_spans(text: str) -> list[Span]:
    """The members of a JSON object and the elements of its lists; empty where it is no JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return []
    return list(_members(text, 0, 0))


def _members(text: str, start: int, depth: int) -> Iterator[Span]:
    """Spans of the members of the object or the elements of the list that opens at `start`."""
    start = _skip(text, start)
    decoder = json.JSONDecoder()
    listed = text[start] == "["
    at = _skip(text, start + 1)
    while at < len(text) and text[at] not in "]}":
        first = at
        if not listed:
            _, at = decoder.raw_decode(text, at)
            at = _skip(text, at)
        value = at
        _, at = decoder.raw_decode(text, value)
        if text[value] in "[{" and at - value > 240 and depth < 3 and not (listed and depth):
            yield from _nested(text, first, value, depth)
        else:
            yield (first, at)
        at = _skip(text, at)


def _nested(text: str, first: int, value: int, depth: int) -> Iterator[Span]:
    inner = list(_members(text, value, depth + 1))
    if inner:
        yield (first, inner[0][1])
        yield from inner[1:]


def _skip(text: str, at: int) -> int:
    """The place of the next character that is neither white space nor a comma or colon."""
    while at < len(text) and text[at] in " \t\r\n,:":
        at += 1
    return at


def _weigh(text: str, spans: Sequence[Span], clues: str) -> list[float]:
    if not spans:
        return []
    words = " ".join(dict.fromkeys(split_words(clues)).keys())
    asked = " ".join(words.split()[:_CLUES])
    rare = inverse_document_frequency(asked, [split_words(text[a:b]) for a, b in spans])
    weights = weigh_sentences(text, spans, rare)
    for i, (a, b) in enumerate(spans):
        if _ERROR.search(text, a, b):
            weights[i] += _ERROR_WEIGHT
    weights[0] += _ENDS_WEIGHT
    weights[-1] += _ENDS_WEIGHT / 2
    return weights


def _with_leans(i: int, leans: Sequence[int]) -> set[int]:
    found = {i}
    while leans[i] not in found:
        i = leans[i]
        found.add(i)
    return found


def _length(span: Span) -> int:
    return span[1] - span[0]
