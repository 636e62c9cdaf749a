"""Citations resolved while an answer arrives, wherever a marker is cut in two."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from foveate.answer.named import Meant, names_of
from foveate.core.text.marks import Mark, Piece, Plain, Scanner
from foveate.core.types import Citation, Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A marker in an arriving answer: what it stands for, and what it names that is not there."""

    text: str
    start: int
    citations: tuple[Citation, ...]
    dangling: tuple[str, ...] = ()


Event: TypeAlias = Plain | Cited


class Resolver:
    """Feed it pieces of an answer; it gives text to show and citations, in order."""

    def __init__(self, context: Context) -> None:
        self._scanner = Scanner(names_of(context))
        self._meant = Meant(context)
        self._citations = {one.marker: one for one in context.citations}

    def feed(self, piece: str) -> Iterator[Event]:
        """What is settled by now; a marker that is not closed yet is held back."""
        return map(self._event, self._meant(self._scanner.feed(piece)))

    def finish(self) -> Iterator[Event]:
        """What was held back."""
        return map(self._event, self._meant(self._scanner.finish()))

    def _event(self, piece: Piece) -> Event:
        if not isinstance(piece, Mark):
            return piece
        known = tuple(self._citations[n] for n in piece.numbers if n in self._citations)
        missing = tuple(str(n) for n in piece.numbers if n not in self._citations)
        return Cited(
            text=piece.text,
            start=piece.start,
            citations=known,
            dangling=(*missing, *piece.unknown),
        )


def resolved(pieces: Iterable[str], context: Context) -> Iterator[Event]:
    """The events of an answer that arrives in pieces."""
    resolver = Resolver(context)
    for piece in pieces:
        yield from resolver.feed(piece)
    yield from resolver.finish()


async def aresolved(pieces: AsyncIterable[str], context: Context) -> AsyncIterator[Event]:
    """The same, where they arrive asynchronously."""
    resolver = Resolver(context)
    async for piece in pieces:
        for event in resolver.feed(piece):
            yield event
    for event in resolver.finish():
        yield event
