"""What a bracket's words can name in a context: a source shown, or a chunk that was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from foveate.core.text.marks import Mark, Names, Piece, Plain, brackets_in
from foveate.core.types import Context

_LEAD = re.compile(r"(?:doc(?:ument)?|source|file|bron|quelle)[ ]*:[ ]*", re.IGNORECASE)


def names_of(context: Context) -> Names:
    """Labels, sources, titles, document ids and chunk ids → markers; what two share names both.

    Corroborating sources count as shown. A chunk that the context does not show gives its own
    name, so that citing it is noticed.
    """
    shown: dict[str, set[int]] = {}
    for one in context.citations:
        label = one.label.removeprefix("[").removesuffix("]")
        copies = [n for c in one.corroborating for n in (c.source, c.document_id, c.chunk_id)]
        for name in (label, one.source, one.title, one.document_id, *one.chunk_ids, *copies):
            if name:
                shown.setdefault(name.casefold(), set()).add(one.marker)
    gone = left_out(context)

    def named(words: str) -> tuple[int, ...] | str | None:
        for name in (words.casefold(), _LEAD.sub("", words, count=1).casefold()):
            if name in shown:
                return tuple(sorted(shown[name]))
            if name in gone:
                return words
        return words if _LEAD.match(words) else None

    return named


def left_out(context: Context) -> dict[str, str]:
    """Ids, in small letters, of candidates that the context does not show → stage and reason.

    What was merged into another and is not shown shares the fate of that other.
    """
    shown = {name for block in context.blocks for name in block.chunk_ids}
    found: dict[str, str] = {}
    hosts: dict[str, str] = {}
    for stage in context.trace:
        for decision in stage.decisions:
            if decision.action in ("dropped", "merged") and decision.chunk_id not in shown:
                found[decision.chunk_id] = f"{stage.stage}: {decision.reason}"
                if decision.action == "merged":
                    hosts[decision.chunk_id] = decision.by
    last: dict[str, str] = {}  # where each chain of mergers ends; each link is walked once
    for name, by in hosts.items():
        chain, host = {name: None}, by
        while host in hosts and host not in last and host not in chain:
            chain[host] = None
            host = hosts[host]
        last.update(dict.fromkeys(chain, last.get(host, host)))
        found[name] = found.get(last[name], found[name])
    return {name.casefold(): reason for name, reason in found.items()}


class Meant:
    """Brackets that name nothing shown, and are no citations: `a[0]`, `[2019]` as a source has it.

    Fed with pieces in order, whoever cuts them; what stood before a bracket is remembered.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._shown = {one.marker for one in context.citations}
        self._before = ""

    @cached_property
    def _written(self) -> frozenset[str]:
        """The brackets that stand in the texts shown."""
        texts = (block.text for block in self._context.blocks)
        return frozenset(found for text in texts for found in brackets_in(text))

    def __call__(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces, those brackets as text."""
        for piece in pieces:
            plain = isinstance(piece, Mark) and self._is_text(piece)
            yield Plain(text=piece.text, start=piece.start) if plain else piece
            self._before = piece.text[-1:] or self._before

    def _is_text(self, mark: Mark) -> bool:
        if mark.unknown or self._shown.intersection(mark.numbers):
            return False
        attached = self._before.isalnum() or self._before == "_"
        return (attached and mark.numbers == (0,)) or mark.text in self._written


def meant(pieces: Iterable[Piece], context: Context) -> Iterator[Piece]:
    """The same for an answer as a whole."""
    return Meant(context)(pieces)
