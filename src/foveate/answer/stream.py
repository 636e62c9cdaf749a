"""Citations resolved while an answer arrives, wherever a marker is cut in two."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from foveate.answer.bracket_names import PlainBracketFilter, names_from_context
from foveate.answer.reasoning import ReasoningFilter
from foveate.core.text.citation_markers import AnswerPiece, CitationMark, MarkerScanner, PlainText
from foveate.core.types import Citation, Context


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationEvent:
    """A marker in an arriving answer: its citations, and its unknown names."""

    text: str
    start: int
    citations: tuple[Citation, ...]
    dangling: tuple[str, ...] = ()


StreamEvent: TypeAlias = PlainText | CitationEvent


class Resolver:
    """Feed it pieces of an answer; it gives text to show and citations, in order.

    Reasoning before the answer is left out.
    """

    def __init__(self, context: Context) -> None:
        self._reasoning = ReasoningFilter()
        self._scanner = MarkerScanner(names_from_context(context))
        self._filter = PlainBracketFilter(context)
        self._citations = {one.marker: one for one in context.citations}

    def feed(self, piece: str) -> Iterator[StreamEvent]:
        """The complete pieces; an open marker is held back."""
        return self._events(self._scanner.feed(self._reasoning.feed(piece)))

    def finish(self) -> Iterator[StreamEvent]:
        """The held back piece."""
        yield from self._events(self._scanner.feed(self._reasoning.finish()))
        yield from self._events(self._scanner.finish())

    def _events(self, pieces: Iterable[AnswerPiece]) -> Iterator[StreamEvent]:
        return map(self._event, self._filter(pieces))

    def _event(self, piece: AnswerPiece) -> StreamEvent:
        if not isinstance(piece, CitationMark):
            return piece
        known = tuple(self._citations[n] for n in piece.numbers if n in self._citations)
        missing = tuple(str(n) for n in piece.numbers if n not in self._citations)
        return CitationEvent(
            text=piece.text,
            start=piece.start,
            citations=known,
            dangling=(*missing, *piece.unknown),
        )


def resolve_stream(pieces: Iterable[str], context: Context) -> Iterator[StreamEvent]:
    """The events of an answer that arrives in pieces."""
    resolver = Resolver(context)
    for piece in pieces:
        yield from resolver.feed(piece)
    yield from resolver.finish()


async def aresolve_stream(
    pieces: AsyncIterable[str], context: Context
) -> AsyncIterator[StreamEvent]:
    """`resolve_stream` for pieces that arrive asynchronously."""
    resolver = Resolver(context)
    async for piece in pieces:
        for event in resolver.feed(piece):
            yield event
    for event in resolver.finish():
        yield event
