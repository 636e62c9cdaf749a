"""Citation markers in an answer, found while it arrives.

A marker is a bracket that names sources, by the grammar of `markers.py` or by the label, source,
document id or chunk id of what was shown. Any other bracket, and code between backticks, is text.
Only an open bracket or code span of at most `MAX_BRACKET_LENGTH` characters is held back; the marks
do not depend on how the answer was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from foveate.core.text.markers import BEGUN, BRACKET, OPENINGS, numbers_of

MAX_BRACKET_LENGTH = 300
"""Characters; a bracket that is not closed by then is text."""
PIECE_LENGTH = 4_096  # characters

_OPENING = re.compile(f"[{re.escape(OPENINGS)}]|`+")

NameResolver: TypeAlias = Callable[[str], tuple[int, ...] | str | None]
"""What a bracket's words name: markers, words that name something not shown, or None: text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationMark:
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
class PlainText:
    """A stretch of an answer that is no marker."""

    text: str
    start: int


AnswerPiece: TypeAlias = CitationMark | PlainText


def find_brackets(text: str) -> Iterator[str]:
    """The brackets of a text, whatever they name, in order.

    >>> list(find_brackets("a[0], see [2019] and [ this"))
    ['[0]', '[2019]']
    """
    return (found[0] for found in BRACKET.finditer(text))


class MarkerScanner:
    """Pieces of an answer in, markers and text out, as soon as it is sure which is which."""

    def __init__(self, names: NameResolver | None = None) -> None:
        self._names = names
        self._held = ""
        self._at = 0
        self._fence = 0

    def feed(self, piece: str) -> Iterator[AnswerPiece]:
        """What is settled by now."""
        self._held += piece
        yield from self._emit(final=False)

    def finish(self) -> Iterator[AnswerPiece]:
        """What was held back; afterwards nothing more may be fed."""
        yield from self._emit(final=True)

    def _emit(self, *, final: bool) -> Iterator[AnswerPiece]:
        while self._held:
            length, mark = self._next_piece(final=final)
            if not length:
                return
            text, start = self._held[:length], self._at
            self._held, self._at = self._held[length:], start + length
            numbers, unknown = mark or ((), ())
            if numbers or unknown:
                yield CitationMark(text=text, start=start, numbers=numbers, unknown=unknown)
            else:
                yield PlainText(text=text, start=start)

    def _next_piece(
        self, *, final: bool
    ) -> tuple[int, tuple[tuple[int, ...], tuple[str, ...]] | None]:
        """How long the first settled piece is, 0 for none yet, and what it names."""
        held = self._held
        if self._fence:
            return self._scan_fence(final=final), None
        opening = _OPENING.search(held)
        if opening is None:
            return len(held), None
        if opening.start():
            return opening.start(), None
        if opening[0][0] == "`":
            return self._scan_code(opening[0], final=final), None
        closed = BRACKET.match(held)
        if closed is not None and len(closed[0]) <= MAX_BRACKET_LENGTH:
            return len(closed[0]), self._resolve_name(closed[1])
        waiting = BEGUN.match(held) is not None and len(held) < MAX_BRACKET_LENGTH and not final
        return 0 if waiting else 1, None

    def _scan_code(self, ticks: str, *, final: bool) -> int:
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
            if end > MAX_BRACKET_LENGTH:
                return len(ticks)
            if end == len(held) and not final:
                return 0  # the run may go on
            if run[0] == ticks:
                return end
        waiting = line == len(held) < MAX_BRACKET_LENGTH and not final
        return 0 if waiting else len(ticks)

    def _scan_fence(self, *, final: bool) -> int:
        """Up to and with the backticks that close the block; what cannot belong to them at once."""
        for run in re.finditer("`+", self._held):
            if run.end() == len(self._held) and not final:
                return run.start()
            if len(run[0]) >= self._fence:
                self._fence = 0
                return run.end()
        return len(self._held)

    def _resolve_name(self, words: str) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
        numbers = numbers_of(words)
        if numbers or self._names is None:
            return (numbers, ()) if numbers else None
        return _resolve_names(words, self._names)


def _resolve_names(
    words: str, names: NameResolver
) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
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


def scan_markers(answer: str, names: NameResolver | None = None) -> Iterator[AnswerPiece]:
    """A whole answer at once; fed in pieces, for what is long would be copied at every bracket."""
    scanner = MarkerScanner(names)
    for at in range(0, len(answer), PIECE_LENGTH):
        yield from scanner.feed(answer[at : at + PIECE_LENGTH])
    yield from scanner.finish()
