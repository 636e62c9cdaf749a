"""What of a text may be shown on its own: sentences, list items, rows, records, pieces of code.

Rules: units are verbatim spans, in order and apart; every character that is not white space is in
one of them. A unit that cannot be understood without another one *leans* on it, and is never
shown without it: a sentence that starts with a pronoun on the one before, a list item on the
sentence that opens the list, a nested one on the item that it is part of, a row on the head of
its table, that on the caption or lead-in above it, a heading and what ends with a colon on what
follows, and the rest of a sentence that was cut when the text was chunked on the sentence after
it. Up to three words lean on the sentence before them in their paragraph, and at its beginning, as
a heading does, on the one after.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foveate.core.text.blocks import BlockKind, block_spans, trim_span
from foveate.core.text.graphemes import (
    is_inside_run,
    last_grapheme_boundary,
    last_word_boundary,
)
from foveate.core.text.sentences import unit_spans
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.shape import Shape
from foveate.core.types import Span

DEPTH = 8
"""Units that one can lean on by way of others."""
PIECE = 400
"""Characters; lines of code go together from that many on, for a line alone says little."""
LONGEST_PIECE = 4 * PIECE
"""A piece of code ends there even inside of a statement; a longer item of a list is cut. Half a
step misleads."""
BRIEF = 30
"""Characters; up to three words that are no longer than that say nothing."""
_BRIEF = re.compile(r"[^\w\n]*+(?:[a-z0-9\u00c0-\u052f]++[^\w\n]*+){0,3}", re.IGNORECASE)
_CONTINUES = re.compile(r"[)\]}]|(?:else|elif|except|finally|catch|end|fi|done|esac)\b")
NESTED = 2
"""Columns to the right at which an item is part of the one before."""

# English, German, French, Spanish and Dutch, by the first letter: so most are not looked at.
BOUND = re.compile(
    r"[\"'\u201c\u2018(]{0,8}+(?:(?:"
    r"a(?:lso|ber|insi|dem\u00e1s)|but|c(?:onsequently|e|ela|ette|es|ependant)"
    r"|d(?:ies|iese[rsnm]?|a(?:arom|her|mit)|eshalb|ennoch|onc|it|eze)"
    r"|e(?:[rs]|lles?|lla|ll[oa]s|st[oea]|st[oa]s|chter)|furthermore"
    r"|h(?:e|is|er|owever|ence|ij|aar)|i(?:ts?|nstead|hre?|ls?)|jedoch|leurs?|m(?:oreover|ais|aar)"
    r"|otherwise|p(?:ero|or eso)|s(?:he|uch|ie|ein[er]?|on|a|u)"
    r"|th(?:ey|is|at|ese|ose|eir|erefore|us)|z(?:ij|e|ijn)|\u00e9l)\b"
    r"|[\u4ed6\u5979\u5b83\u8fd9\u8be5\u5176\u6b64\u4f46])",
    re.IGNORECASE,
)
_HEADING_TAG = re.compile(r"</h[1-6]>\Z", re.IGNORECASE)
_OPENS = (":", "\uff1a")
_ENDS_OPEN = re.compile(r"[:\uff1a](?:\s*+</\w++>)*+\Z")
_INSIDE = re.compile(r"[a-z\u00df-\u00ff,;)\]]")

# Each begins with a character of its own, so that all other places are passed over at once.
_ATOM = re.compile(
    r'"(?<![\w"]")(?=[^\s"])[^"\n]{1,600}(?<=\S)"(?![\w"])'
    "|\u201c[^\u201c\u201d\n]{1,600}\u201d"
    "|\u201e[^\u201c\u201d\u201e\n]{1,600}[\u201c\u201d]"
    "|\u00ab[^\u00ab\u00bb\n]{1,600}\u00bb"
    r"|\u00bb(?=\S)[^\u00ab\u00bb\n]{1,600}(?<=\S)\u00ab"
    "|\u300c[^\u300c\u300d\n]{1,600}\u300d"
    r"|\n(?: {4}|\t)(?=[^\n]{0,600}[{}()=;<>])[^\n]{1,600}"
)
LONGEST_SENTENCE = 800
"""Characters; a longer sentence is cut."""
REACH = 400
"""Characters of a piece: it ends at the last sensible place from three eighths of these on."""
_SPACE = "[^\\S\u00a0\u202f]"
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*",
        r"[;\u037e\u0964]\s+|[\uff1b\u3002\uff01\uff1f]\s*|\s[\u2013\u2014\u2022|]\s",
        r"[,:\u060c]\s+|[\uff0c\uff1a\u3001](?!\d)\s*",
        rf"(?<=[^\d\s]){_SPACE}+(?=[^\d\s])",  # between words
        rf"(?<=[^\d\s]){_SPACE}+",  # a figure stays with the unit behind it
        rf"{_SPACE}+(?!\d{{3}}(?!\d))",  # and with its thousands
        r"\s+",
    )
)
_IN_RUNS = re.compile(r"[,;:/&](?!\d)")
"""Where a run without spaces that is longer than a piece may be cut."""


class Units(NamedTuple):
    """The spans, and for each unit the place of the one it leans on; its own where it stands.

    `prose`: from where to where each paragraph goes. `headings`: the places of units that are one.
    """

    spans: tuple[Span, ...]
    leans: tuple[int, ...]
    prose: tuple[Span, ...] = ()
    headings: tuple[int, ...] = ()


def units_of(text: str, language: str = "en", shapes: Sequence[Shape] | None = None) -> Units:
    r"""The units of a text; `shapes`: its records, tables and logs, if they are known.

    >>> text = "# Tea\n\nThe pot is hot. It is full.\nYou need:\n- a cup\n- a leaf"
    >>> units = units_of(text)
    >>> for (a, b), lean in zip(units.spans, units.leans):
    ...     print(text[a:b], "->", lean)
    # Tea -> 1
    The pot is hot. -> 1
    It is full. -> 1
    You need: -> 3
    - a cup -> 3
    - a leaf -> 3
    """
    spans: list[Span] = []
    leans: list[int] = []
    prose: list[Span] = []
    headings: list[int] = []
    at = 0
    for shape in find_shapes(text) if shapes is None else shapes:
        before = len(spans)
        _add_prose(text[at : shape.start], at, (spans, leans, prose, headings), language)
        last = len(spans) - 1
        first, caption = len(spans), -1
        is_alone = last >= before and leans[last] == last
        announces = last >= before and _announces(text, spans[last], shape)
        if announces and shape.is_table and leans[last] >= last:
            caption = last
        if is_alone and (announces or last in headings[-1:]):
            rows = shape.is_table and shape.head + 1 < len(shape.spans)
            leans[last] = first + (shape.head + 1) * rows  # names alone say nothing
        for unit, lean in enumerate(shape.leans):
            leans.append(caption if lean == unit and caption >= 0 else first + lean)
        spans += shape.spans
        at = shape.end
    _add_prose(text[at:] if at else text, at, (spans, leans, prose, headings), language)
    if prose and _is_fragment(text, prose[-1], spans[-2:]):
        leans[-1] = len(spans) - 2
    return Units(tuple(spans), tuple(_bounded(leans)), tuple(prose), tuple(headings))


def _announces(text: str, span: Span, shape: Shape) -> bool:
    """Whether the last unit before the shape is about it: it ends with a colon, or titles it."""
    if _opens(text, span) or _HEADING_TAG.search(text, *span):
        return True
    is_right_above = text.count("\n", span[1], shape.start) == 1 and text[span[1] - 1].isalnum()
    return is_right_above and shape.is_table and shape.head >= 0


def _add_prose(
    text: str,
    at: int,
    to: tuple[list[Span], list[int], list[Span], list[int]],
    language: str,
) -> None:
    """The units of a stretch of prose, which begins at `at`, behind those that there are."""
    if not text.strip():
        return
    spans, leans, prose, headings = to
    before = len(spans)
    found = _prose_units(text, language)
    spans += [(a + at, b + at) for a, b in found.spans] if at else found.spans
    leans += [lean + before for lean in found.leans]
    prose += [(a + at, b + at) for a, b in found.prose]
    headings += [place + before for place in found.headings]


def _prose_units(text: str, language: str) -> Units:
    """The units of a text that has no other shape."""
    spans: list[Span] = []
    leans: list[int] = []
    prose: list[Span] = []
    headings: list[int] = []
    listed: set[int] = set()
    opener = -1  # the place of what opened the list that is going on
    items: list[tuple[int, int]] = []  # indent and place of the items that the next may be part of
    for span, kind in block_spans(text):
        first = len(spans)
        spans += _spans_of_block(text, span, kind, language)
        prose += [span] * (kind == "paragraph")
        parent = -1
        if kind == "list":
            if opener < 0 < first and _opens(text, spans[first - 1]):
                opener = first - 1
            parent = _parent(text, span, first, items)
            listed.update(range(first, len(spans)))
        elif items or opener >= 0:
            opener = -1
            items.clear()
        headings += [first] * (kind == "heading")
        leans += _leans(text, spans, first, kind, opener if parent < 0 else parent)
    for i, span in enumerate(spans[:-1]):
        if text[span[1] - 1] in _OPENS and leans[i] == i and i + 1 not in listed:
            leans[i] = i + 1
    if leans and leans[-1] >= len(leans):
        leans[-1] = len(leans) - 1  # a heading with nothing below it
    return Units(tuple(spans), tuple(leans), tuple(prose), tuple(headings))


def _spans_of_block(text: str, span: Span, kind: BlockKind, language: str) -> list[Span]:
    if kind == "list" and span[1] - span[0] <= LONGEST_PIECE:
        return [span]
    lines = unit_spans(text, span, kind, language)
    if kind == "paragraph":
        return join_atoms(text, cut_long(text, lines))
    return list(_pieces(text, lines)) if kind == "code" else lines


def _is_fragment(text: str, block: Span, last: list[Span]) -> bool:
    """Whether the last unit is a word or two of a sentence that goes on where the text was cut."""
    if len(last) < 2 or not block[0] <= last[0][0] <= last[1][1] <= block[1]:
        return False
    start, end = last[1]
    return not text[end:].strip() and text[end - 1].isalnum() and _is_brief(text, start, end)


def _is_brief(text: str, start: int, end: int) -> bool:
    """Whether this is three words or less, of a script that has spaces, and announces nothing."""
    if end - start >= BRIEF or _opens(text, (start, end)):
        return False
    return _BRIEF.fullmatch(text, start, end) is not None


def _opens(text: str, span: Span) -> bool:
    """Whether the unit announces what follows it."""
    return _ENDS_OPEN.search(text, max(span[0], span[1] - BRIEF), span[1]) is not None


def _bounded(leans: list[int]) -> list[int]:
    """No unit at the end of a longer chain than `DEPTH`, forwards or back: there it stands alone.

    A sentence that needs eight others is hardly ever understood with them; and chains as long as
    a text would be walked again and again.
    """
    forth = [i for i, lean in enumerate(leans) if lean > i]
    depth = after = 0
    for i in reversed(forth) if len(forth) > DEPTH else ():
        depth = depth + 1 if after == i + 1 else 1
        after = i
        if depth > DEPTH:
            leans[i], depth = i, 0
    back = [i for i, lean in enumerate(leans) if lean < i]
    depths: dict[int, int] = {}
    for i in back if len(back) > DEPTH else ():
        depths[i] = depths.get(leans[i], 0) + 1
        if depths[i] > DEPTH:
            leans[i], depths[i] = i, 0
    return leans


def _parent(text: str, item: Span, place: int, items: list[tuple[int, int]]) -> int:
    """The place of the item that this one is part of; it is put behind those it is part of."""
    line = text[text.rfind("\n", 0, item[0]) + 1 : item[0]].expandtabs(4)
    while items and len(line) < items[-1][0] + NESTED:
        items.pop()
    parent = items[-1][1] if items else -1
    items.append((len(line), place))
    return parent


def _pieces(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Lines of code, put together to pieces that end where a statement of the first level ends."""
    start = end = depth = -1
    for a, b in lines:
        indent = a - (text.rfind("\n", 0, a) + 1)
        opens = indent <= depth and not _CONTINUES.match(text, a)
        if start >= 0 and (b - start > LONGEST_PIECE or (opens and b - start > PIECE)):
            yield (start, end)
            start = -1
        if start < 0:
            start, depth = a, indent
        depth, end = min(depth, indent), b
    if start >= 0:
        yield (start, end)


def _leans(text: str, spans: list[Span], first: int, kind: BlockKind, opener: int) -> list[int]:
    """For each unit of one block, the unit it cannot stand without."""
    last = len(spans)
    if kind == "heading":
        return list(range(first + 1, last + 1))
    if kind == "table" or (kind == "list" and opener >= 0):
        return [first if kind == "table" else opener] * (last - first)
    leans = list(range(first, last))
    is_prose = kind == "paragraph"
    for i, (start, end) in enumerate(spans[first:], first) if is_prose or kind == "code" else ():
        if end - start < BRIEF and last - first > 1 and _is_brief(text, start, end):
            leans[i - first] = i - 1 if i > first else i + 1
        elif is_prose and i and BOUND.match(text, start):
            leans[i - first] = i - 1
    if not first and last > 1 and _INSIDE.match(text, spans[0][0]):
        leans[0] = 1
    return leans


def join_atoms(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, in order and apart, with those made one between which an atom would be cut.

    Atoms are quotations and lines of code, of which a part says something else (SPEC J3).

    >>> text = 'He said: "Stop. Go back." We went.'
    >>> [text[a:b] for a, b in join_atoms(text, [(0, 15), (16, 25), (26, 34)])]
    ['He said: "Stop. Go back."', 'We went.']
    """
    found = list(spans)
    if len(found) < 2:
        return found
    atoms = [atom.span() for atom in _ATOM.finditer(text, found[0][0], found[-1][1])]
    if not atoms:
        return found
    joined = found[:1]
    for start, stop in found[1:]:
        first, end = joined[-1]
        last = bisect_left(atoms, (end,)) - 1  # the last atom that begins before the end
        if last >= 0 and start < atoms[last][1]:
            joined[-1] = (first, stop)
        else:
            joined.append((start, stop))
    return joined


def cut_long(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, and the pieces of those that are too long, in order and trimmed (SPEC U4).

    Lists, tables and addresses that were taken out of a page have no full stops, and some scripts
    no spaces: there the ends of lines, clauses, words and graphemes are sensible places.
    """
    if not spans or spans[-1][1] - spans[0][0] <= LONGEST_SENTENCE:
        return list(spans)
    return [
        piece
        for a, b in spans
        for piece in (cut_pieces(text, a, b) if b - a > LONGEST_SENTENCE else [(a, b)])
    ]


def cut_pieces(text: str, start: int, end: int, reach: int = REACH) -> Iterator[Span]:
    """The range in pieces of at most `reach` characters, trimmed."""
    while end - start > reach:
        cut = _place(text, start, reach)
        yield trim_span(text, start, cut)
        start = trim_span(text, cut, end)[0]
    if end > start:
        yield (start, end)


def _place(text: str, start: int, reach: int) -> int:
    """The end of the last sensible place in reach; of the first kind of which there is one.

    A run without spaces is cut only if it is longer than the reach.
    """
    least, most = start + reach * 3 // 8, start + reach
    for places in _PLACES:
        found = [match.end() for match in places.finditer(text, least, most)]
        if found:
            return found[-1]
    cut = last_word_boundary(text, least, start)
    if cut > start and is_inside_run(text, least):
        return cut
    found = [match.end() for match in _IN_RUNS.finditer(text, least, most)]
    return found[-1] if found else _between_graphemes(text, start, most)


def _between_graphemes(text: str, start: int, most: int) -> int:
    cut = last_grapheme_boundary(text, most, start)
    return cut if cut > start else most  # marks alone, as no script writes them
