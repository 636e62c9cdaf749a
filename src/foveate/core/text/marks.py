"""Citation markers in an answer, found as it arrives: a whole answer is a stream of one piece.

A marker is a bracket that names sources: `[1]`, `[1, 3]`, `[2-4]`, `[^1]`, `[SOURCE 2]`, `【1】`,
`[DOC: a.md]`, or the label, source, document id or chunk id of what was shown. Any other bracket
is text. Code is text too: between backticks, until the same number of them, or in a fenced block.

Rules: nothing is held back but a bracket or a code span that is not closed yet, `HELD` characters
at the most; the same text gives the same marks however it was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

HELD = 300
"""Characters; a bracket that is not closed by then is text."""
MOST = 200
"""Sources that one marker may name: `[1-100000]` is no marker."""
PIECE = 4_096  # characters

_OPENING = re.compile(r"[\[【]|`+")
_CLOSED = re.compile(r"[\[【]([^\[\]【】\n]*)[\]】]")
_OPEN = re.compile(r"[\[【][^\[\]【】\n]*\Z")
_WORD = r"(?:source|sources|doc|document|chunk|passage|ref|reference|citation|bron|quelle|fuente)"
_ONE = rf"(?:{_WORD}[ #:.]*)?\^?(\d{{1,6}})(?:[ ]?[-–—][ ]?\^?(\d{{1,6}}))?"
_NUMBERS = re.compile(
    rf"\s*{_ONE}(?:\s*(?:[,;&+]|and|en|und|et)\s*{_ONE})*\s*(?:†[^\]】]*)?", re.IGNORECASE
)
_EACH = re.compile(_ONE, re.IGNORECASE)

Names: TypeAlias = Callable[[str], tuple[int, ...] | str | None]
"""What a bracket's words name: markers, words that name something not shown, or None: text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A marker in an answer. `numbers` in the order given; `unknown`: names of nothing shown."""

    text: str
    start: int
    numbers: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Where it ends in the answer, in characters."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A stretch of an answer that is no marker."""

    text: str
    start: int


Piece: TypeAlias = Mark | Plain


def numbers_of(words: str) -> tuple[int, ...]:
    """The numbers that a bracket's words list; empty where they are no list of numbers.

    >>> numbers_of("1, 3-5"), numbers_of("SOURCE 2; SOURCE 4"), numbers_of("see 1")
    ((1, 3, 4, 5), (2, 4), ())
    """
    if not _NUMBERS.fullmatch(words):
        return ()
    found: dict[int, None] = {}
    for first, last in _EACH.findall(words.partition("†")[0]):
        low, high = int(first), int(last or first)
        if not low <= high < low + MOST:
            return ()
        found.update(dict.fromkeys(range(low, high + 1)))
    return tuple(found) if len(found) <= MOST else ()


def brackets_in(text: str) -> Iterator[str]:
    """The brackets of a text, whatever they name, in order.

    >>> list(brackets_in("a[0], see [2019] and [ this"))
    ['[0]', '[2019]']
    """
    return (found[0] for found in _CLOSED.finditer(text))


class Scanner:
    """Pieces of an answer in, markers and text out, as soon as it is sure which is which."""

    def __init__(self, names: Names | None = None) -> None:
        self._names = names
        self._held = ""
        self._at = 0
        self._fence = 0

    def feed(self, piece: str) -> Iterator[Piece]:
        """What is settled by now."""
        self._held += piece
        yield from self._settled(final=False)

    def finish(self) -> Iterator[Piece]:
        """What was held back; afterwards nothing more may be fed."""
        yield from self._settled(final=True)

    def _settled(self, *, final: bool) -> Iterator[Piece]:
        while self._held:
            length, mark = self._first(final=final)
            if not length:
                return
            text, start = self._held[:length], self._at
            self._held, self._at = self._held[length:], start + length
            numbers, unknown = mark or ((), ())
            if numbers or unknown:
                yield Mark(text=text, start=start, numbers=numbers, unknown=unknown)
            else:
                yield Plain(text=text, start=start)

    def _first(self, *, final: bool) -> tuple[int, tuple[tuple[int, ...], tuple[str, ...]] | None]:
        """How long the first settled piece is, 0 for none yet, and what it names."""
        held = self._held
        if self._fence:
            return self._in_fence(final=final), None
        opening = _OPENING.search(held)
        if opening is None:
            return len(held), None
        if opening.start():
            return opening.start(), None
        if opening[0][0] == "`":
            return self._code(opening[0], final=final), None
        closed = _CLOSED.match(held)
        if closed is not None and len(closed[0]) <= HELD:
            return len(closed[0]), self._named(closed[1])
        waiting = _OPEN.match(held) is not None and len(held) < HELD and not final
        return 0 if waiting else 1, None

    def _code(self, ticks: str, *, final: bool) -> int:
        """A code span up to its closing backticks; a fence where there are three or more."""
        held = self._held
        if len(ticks) == len(held) and not final:
            return 0  # there may be more of them
        if len(ticks) >= 3:
            self._fence = len(ticks)
            return len(ticks)
        line = held.find("\n")
        line = len(held) if line < 0 else line
        for run in re.finditer("`+", held[len(ticks) : line]):
            end = len(ticks) + run.end()
            if end > HELD:
                return len(ticks)
            if end == len(held) and not final:
                return 0  # the run may go on
            if run[0] == ticks:
                return end
        waiting = line == len(held) < HELD and not final
        return 0 if waiting else len(ticks)

    def _in_fence(self, *, final: bool) -> int:
        """Up to and with the backticks that close the block; what cannot belong to them at once."""
        for run in re.finditer("`+", self._held):
            if run.end() == len(self._held) and not final:
                return run.start()
            if len(run[0]) >= self._fence:
                self._fence = 0
                return run.end()
        return len(self._held)

    def _named(self, words: str) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
        numbers = numbers_of(words)
        if numbers or self._names is None:
            return (numbers, ()) if numbers else None
        return _by_name(words, self._names)


def _by_name(words: str, names: Names) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """The sources that the words name, as a whole or one by one; None where one is no name."""
    numbers: dict[int, None] = {}
    unknown: list[str] = []
    whole = names(words.strip())
    for found in [whole] if whole is not None else [names(w.strip()) for w in words.split(";")]:
        if found is None:
            return None
        if isinstance(found, str):
            unknown.append(found)
        else:
            numbers.update(dict.fromkeys(found))
    return tuple(numbers), tuple(unknown)


def scanned(answer: str, names: Names | None = None) -> Iterator[Piece]:
    """A whole answer at once; fed in pieces, for what is long would be copied at every bracket."""
    scanner = Scanner(names)
    for at in range(0, len(answer), PIECE):
        yield from scanner.feed(answer[at : at + PIECE])
    yield from scanner.finish()
