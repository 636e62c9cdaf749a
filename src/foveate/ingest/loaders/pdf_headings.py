"""Headings of a PDF without bookmarks, and what its pages repeat at their tops and bottoms.

A heading is a short line, or two or three, that does not end as a sentence does: set larger than
the text, or bold with space above it. A line that is at the same place of page after page is no
heading: its first one stays, as text, and the others are left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from statistics import median

from foveate.ingest.loaders.pdf_layout import LONG, Piece, Title, rows_from_top

_LARGE = 1.15  # of the height of the text
_SAME = 0.04  # by which heights of one heading differ
_APART = 1.25  # of the usual distance of lines, above a heading that is bold alone
_TOGETHER = 1.3  # of its height, between the lines of one heading
_INDENT = 4  # of its height, of its second line behind a number
_LONGEST, _MOST_LINES = 160, 3
_MOST_TITLES = 0.3  # of all characters; with more, the sizes of a scan or a poster say nothing
_MOST_PIECES = 500  # of a page
_FULL = 10  # lines: a page with as many has a common height of its own
_LEVELS = 6
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]{2}")
_NO_TITLE = re.compile(
    r"[^\w\s\"'(\[\u00ab\u00bf\u201c\u201e\u00a7].*"
    r"|.*[.;:,!\u3002\uff0c\uff1a\uff1b]|.*(?:\. ?){3}.*"
    r"|(?:fig(?:ure|ura|\.)?|tab(?:le|elle|leau|la|\.)?|abb(?:ildung|\.)?) ?\d.*",
    re.IGNORECASE | re.DOTALL,
)
"""The mark of an item, the end of a sentence, leaders of a table of contents, a caption."""

_ZONE = 3  # rows at the top and at the bottom of a page
_GAP = 0.8  # of a line's height, between these and the text
_LEAST_PAGES = 3
_NUMBER = re.compile(
    r"((?:^|[|\u2022\u00b7]|\b(?:page|seite|pagina|p\u00e1gina|sida|side|strona|p|pg|pag|s)\b)"
    r"\W{0,3})(\d{1,5})(?=\W*$|\s*[|\u2022\u00b7]|\W+(?:\w{1,3}\W+)?\d{1,5}\W*$)",
    re.IGNORECASE,
)
"""The number of a page: alone, behind a word for it or a bar, or before that of all pages."""


def drop_running_lines(pages: list[list[Piece]]) -> int:
    """Take the lines that pages repeat out of all pages but the first; how many these are."""
    body = _common_height(piece for page in pages for piece in page)
    found: dict[tuple[str, int], list[tuple[int, Piece]]] = defaultdict(list)
    for number, page in enumerate(pages):
        for piece in _edges(page):
            text = " ".join(piece.text.split())
            for key in {text, _without_number(text, number)}:
                found[key, round(piece.bottom)].append((number, piece))
    gone: dict[int, set[int]] = defaultdict(set)
    for (key, _), places in found.items():
        running = _running(places)
        is_large = any(piece.height >= _LARGE * body for _, piece in running)
        if is_large and 2 * len(running) < len(pages):
            continue  # the title of a chapter or of some slides
        for _, piece in running:
            piece.is_running = True
        is_number = "\0" in key and not any(map(str.isalpha, key))
        for number, piece in running if is_number else running[1:]:
            gone[number].add(id(piece))
    for number, pieces in gone.items():
        pages[number] = [piece for piece in pages[number] if id(piece) not in pieces]
    return sum(map(len, gone.values()))


def _without_number(text: str, page: int) -> str:
    """The line with how far the number in it is from that of the page, in its place."""
    return _NUMBER.sub(lambda part: f"{part[1]}\0{int(part[2]) - page}", text)


def _edges(page: Sequence[Piece]) -> Iterator[Piece]:
    """What is above the first and below the last wide gap near the edges of a page."""
    rows = rows_from_top(piece for piece in page if not piece.is_upright)
    gaps = [one.bottom - other.top >= _GAP * one.height for one, other in pairwise(rows)]
    for part, apart in ((rows, gaps), (rows[::-1], gaps[::-1])):
        reach = max((at for at, is_wide in enumerate(apart[:_ZONE], 1) if is_wide), default=0)
        for row in part[: reach if reach < len(rows) else 0]:
            yield from row.pieces


def _running(places: Sequence[tuple[int, Piece]]) -> list[tuple[int, Piece]]:
    """Those of pages that follow one another, or every second one."""
    runs: list[list[tuple[int, Piece]]] = []
    for place in places:
        if not runs or place[0] - runs[-1][-1][0] > 2:
            runs.append([])
        runs[-1].append(place)
    return [each for run in runs if len({at for at, _ in run}) >= _LEAST_PAGES for each in run]


def mark_titles(pages: Sequence[Sequence[Piece]]) -> None:
    """Give the lines of each heading its `title`."""
    body = _common_height(piece for page in pages for piece in page)
    marked = [block for page in pages for block in _page_titles(page, body)]
    size = sum(len(piece.text) for block in marked for piece in block)
    if size > _MOST_TITLES * sum(len(piece.text) for page in pages for piece in page):
        return
    for block in marked:
        height = block[0].height
        title = Title(size=height if height >= _LARGE * body else 0)
        for piece in block:
            piece.title = title


def _page_titles(page: Sequence[Piece], body: float) -> Iterator[list[Piece]]:
    lines = [piece for piece in page if not piece.is_upright]
    if len(lines) > _MOST_PIECES:
        return
    body = max(body, _common_height(lines) if len(lines) >= _FULL else 0)
    steps = [step for one, other in pairwise(lines) if (step := one.bottom - other.bottom) > 0]
    usual = median(steps) if steps else 1.2 * body
    lines.sort(key=lambda piece: -piece.top)
    taken: set[int] = set()
    for piece in lines:
        if id(piece) in taken or not (piece.is_bold or piece.height >= _LARGE * body):
            continue
        block = _block(piece, lines)
        taken.update(map(id, block))
        text = "\n".join(each.text.strip() for each in block)
        if len(text) > _LONGEST or _NO_TITLE.fullmatch(text) or not _WORD.search(text):
            continue
        if len(block) > _MOST_LINES or any(each.is_running for each in block):
            continue
        is_large = piece.height >= _LARGE * body
        if not _heads_table(block, lines) and _is_apart(block, lines, 0 if is_large else usual):
            yield block


def _block(first: Piece, lines: Sequence[Piece]) -> list[Piece]:
    """The line and those that go on below it in the same letters."""
    block = [first]
    while len(block) <= _MOST_LINES and (below := _nearest(block[-1], lines, below=True)):
        is_alike = abs(below.height - first.height) <= _SAME * first.height
        is_near = block[-1].bottom - below.bottom < _TOGETHER * first.height
        if not (
            is_alike and is_near and below.is_bold == first.is_bold and _lines_up(first, below)
        ):
            break
        block.append(below)
    return block


def _lines_up(first: Piece, below: Piece) -> bool:
    """Whether a line begins where the first one does, behind its number, or has its middle."""
    indent = (below.left - first.left) / first.height
    middle = (below.left + below.right - first.left - first.right) / 2
    return -0.5 < indent < _INDENT or abs(middle) < first.height / 2


def _heads_table(block: Sequence[Piece], lines: Sequence[Piece]) -> bool:
    """Whether there are cells right below, of which one at least is short."""
    last = block[-1]
    below = _nearest(last, lines, below=True)
    if below is None or last.bottom - below.top > last.height:
        return False
    row = [o for o in _beside(last, lines) if o.bottom < below.top and below.bottom < o.top]
    return len(row) > 1 and any(o.right - o.left < LONG * o.height for o in row)


def _is_apart(block: Sequence[Piece], lines: Sequence[Piece], usual: float) -> bool:
    """Whether there is space above and text below; a large line may be alone on its page."""
    above, below = _nearest(block[0], lines, below=False), _nearest(block[-1], lines, below=True)
    if below is None or below.is_running:
        return not usual and (above is None or above.is_running)
    return above is None or above.bottom - block[0].bottom >= _APART * usual


def _beside(piece: Piece, lines: Iterable[Piece]) -> Iterator[Piece]:
    """The lines that are over or under a part of this one."""
    return (each for each in lines if each.left < piece.right and piece.left < each.right)


def _nearest(piece: Piece, lines: Iterable[Piece], *, below: bool) -> Piece | None:
    """The line next below or above, over or under a part of this one."""
    beside = _beside(piece, lines)
    if below:
        return max((o for o in beside if o.bottom < piece.bottom), key=_top, default=None)
    return min((o for o in beside if o.bottom > piece.bottom), key=_bottom, default=None)


_top, _bottom = attrgetter("top"), attrgetter("bottom")


def _common_height(pieces: Iterable[Piece]) -> float:
    """The height that most characters have."""
    sizes = Counter[float]()
    for piece in pieces:
        if not piece.is_upright:
            sizes[round(piece.height, 1)] += len(piece.text)
    return max(sizes, key=lambda size: (sizes[size], size), default=0)


def title_levels(titles: Iterable[Title]) -> dict[float, int]:
    """The level of a heading by its size: 1 for the largest; those that are bold alone are last."""
    levels: dict[float, int] = {}
    top, level = 0.0, 0
    for size in sorted({title.size for title in titles}, reverse=True):
        if not size or size < (1 - _SAME) * top or not top:
            top, level = size, level + 1
        levels[size] = min(level, _LEVELS)
    return levels
