"""Resolves the words in brackets to markers: of shown sources, or of chunks that were left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from foveate.core.formats.shared.parts import bodies_of
from foveate.core.text.citation_markers import (
    AnswerPiece,
    CitationMark,
    NameResolver,
    PlainText,
    find_brackets,
)
from foveate.core.text.markers import BRACKET, LEAD, is_index
from foveate.core.types import Context

KEPT = 24
"""Characters before a bracket that are looked at."""
_WORD = re.compile(r"[^\s.!?。！？:;]{0,20}\s?\Z")


def names_from_context(context: Context) -> NameResolver:
    """Labels, sources, titles, document ids and chunk ids → markers; shared names have several.

    Corroborating sources count as shown. A chunk that is not shown keeps its name, so that citing
    it is noticed.
    """
    shown: dict[str, set[int]] = {}
    for one in context.citations:
        label = one.label.removeprefix("[").removesuffix("]")
        copies = [n for c in one.corroborating for n in (c.source, c.document_id, c.chunk_id)]
        for name in (label, one.source, one.title, one.document_id, *one.chunk_ids, *copies):
            if name:
                shown.setdefault(name.casefold(), set()).add(one.marker)
    gone = left_out_reasons(context)

    def named(words: str) -> tuple[int, ...] | str | None:
        for name in (words.casefold(), LEAD.sub("", words, count=1).casefold()):
            if name in shown:
                return tuple(sorted(shown[name]))
            if name in gone:
                return words
        return words if LEAD.match(words) else None

    return named


def left_out_reasons(context: Context) -> dict[str, str]:
    """Lower-case ids of candidates that are not shown → stage and reason."""
    shown = {name for block in context.blocks for name in block.chunk_ids}
    return {
        decision.chunk_id.casefold(): f"{stage.stage}: {decision.reason}"
        for stage in context.trace
        for decision in stage.decisions
        if decision.action in ("dropped", "merged") and decision.chunk_id not in shown
    }


class PlainBracketFilter:
    """Turns brackets that are no citations into text: an index, or a copy from a source.

    Examples: `a[0]`; `[2019]` in a source that names nothing shown; and brackets read as such in
    the context itself, with the word before them. Pieces arrive in order, cut anywhere.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._shown = {one.marker for one in context.citations}
        self._before = ""

    @cached_property
    def _source_brackets(self) -> frozenset[str]:
        texts = (block.text for block in self._context.blocks)
        return frozenset(found for text in texts for found in find_brackets(text))

    @cached_property
    def _read(self) -> frozenset[tuple[str, str]]:
        """The brackets read in the blocks, each with the word before it."""
        found = set()
        for text in bodies_of(self._context):
            for bracket in BRACKET.finditer(text):
                before = text[max(0, bracket.start() - KEPT) : bracket.start()]
                found.add((_last_word(before), bracket[0]))
        return frozenset(found)

    def __call__(self, pieces: Iterable[AnswerPiece]) -> Iterator[AnswerPiece]:
        """The pieces, those brackets as text."""
        for piece in pieces:
            plain = isinstance(piece, CitationMark) and self._is_text(piece)
            yield PlainText(text=piece.text, start=piece.start) if plain else piece
            self._before = (self._before + piece.text)[-KEPT:]

    def _is_text(self, mark: CitationMark) -> bool:
        if not mark.unknown and is_index(self._before, mark.numbers):
            return True
        if (_last_word(self._before), mark.text) in self._read:
            return True
        if mark.unknown or self._shown.intersection(mark.numbers):
            return False
        return mark.text in self._source_brackets


def _last_word(before: str) -> str:
    """The end of the word before a bracket; empty at the start of a sentence."""
    return _WORD.search(before)[0].rstrip()  # type: ignore[index]
