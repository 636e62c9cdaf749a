"""Checks the citations that a provider gives itself against what was sent.

Kinds: Anthropic's `search_result_location` and `char_location`, which name a block that was sent. A
citation is confirmed, with the marker of the block and its text at the stated place, or refused
with a reason. Nothing is guessed or repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from foveate.answer.places import CitableBlock, citable_blocks
from foveate.core.types import Context, Span
from foveate.ports import ProviderCitation

RefusalReason: TypeAlias = Literal[
    "no_such_block",
    "no_such_place",
    "other_text",
    "misplaced",
    "other_source",
    "outside_answer",
    "broken",
    "unknown_kind",
]
"""Why a provider's citation is refused.

`no_such_block`: its number is none that was sent. `no_such_place`: its range is empty or reaches
beyond the block. `other_text`: the text that it quotes is not in the block; `misplaced`: it is, at
another place. `other_source`: it names another source or title than the block has.
`outside_answer`: its range of the answer is none. `broken`: a field is missing or of the wrong
kind. `unknown_kind`: a kind of citation that is not known here.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedCitation:
    """A provider's citation that holds. `span`: the range of the answer that it supports.

    `context_spans`: where the quoted text is in the context.
    """

    kind: str
    span: Span
    markers: tuple[int, ...]
    cited_text: str = ""
    context_spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCitation:
    """A provider's citation that does not hold, and why. `markers`: of the block it points at."""

    kind: str
    span: Span
    reason: RefusalReason
    markers: tuple[int, ...] = ()
    cited_text: str = ""


def check_provider_citations(
    text: str, said: Iterable[ProviderCitation], context: Context
) -> tuple[tuple[ConfirmedCitation, ...], tuple[RefusedCitation, ...]]:
    """Check the citations of an answer's text: the confirmed ones, and the refused ones.

    >>> from foveate import assemble
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("How old?", found, budget=99, format="anthropic-document")
    >>> cited = {"type": "char_location", "document_index": 0, "document_title": "mill.md"}
    >>> cited |= {"start_char_index": 22, "end_char_index": 26, "cited_text": "1880"}
    >>> said = [ProviderCitation(span=(6, 10), citation=cited)]
    >>> (one,), refused = check_provider_citations("Since 1880.", said, context)
    >>> one.markers, one.cited_text, refused
    ((1,), '1880', ())
    """
    blocks = citable_blocks(context)
    judged = [_judge(one, blocks, len(text)) for one in said]
    given = tuple(one for one in judged if isinstance(one, ConfirmedCitation))
    return given, tuple(one for one in judged if isinstance(one, RefusedCitation))


class _CitationError(Exception):  # it leaves no function of this file
    """A citation that does not hold; `sent`: the block that it names."""

    def __init__(self, reason: RefusalReason, sent: CitableBlock | None = None) -> None:
        super().__init__(reason)
        self.reason, self.block = reason, sent


def _judge(
    said: ProviderCitation, blocks: Sequence[CitableBlock], length: int
) -> ConfirmedCitation | RefusedCitation:
    """One citation, confirmed or refused; `length`: of the answer."""
    kind, quoted = said.citation.get("type"), said.citation.get("cited_text")
    known = RefusedCitation(
        kind=str(kind),
        span=said.span,
        reason="unknown_kind",
        cited_text=quoted if isinstance(quoted, str) else "",
    )
    place = _PLACES.get(kind) if isinstance(kind, str) else None
    if place is None:
        return known
    if not 0 <= said.span[0] <= said.span[1] <= length:
        return replace(known, reason="outside_answer")
    try:
        sent, start, end = place(said, blocks)
        return _check_quotation(said, sent, start, end)
    except _CitationError as wrong:
        markers = () if wrong.block is None else (wrong.block.block.marker,)
        return replace(known, reason=wrong.reason, markers=markers)


def _search_result_place(
    said: ProviderCitation, blocks: Sequence[CitableBlock]
) -> tuple[CitableBlock, int, int]:
    """A range of the texts of a search result; its source and title come back with it."""
    sent = _block_at(said, "search_result_index", "search_result", blocks)
    titles = (None, sent.part["title"])
    if _get_text(said, "source") != sent.part["source"] or said.citation.get("title") not in titles:
        raise _CitationError("other_source", sent)
    first = _get_integer(said, "start_block_index")
    behind = _get_integer(said, "end_block_index")
    _check_range(sent, first, behind, len(sent.texts))
    start = sum(map(len, sent.texts[:first]))
    return sent, start, start + sum(map(len, sent.texts[first:behind]))


def _document_place(
    said: ProviderCitation, blocks: Sequence[CitableBlock]
) -> tuple[CitableBlock, int, int]:
    """A range of characters of a document of plain text."""
    sent = _block_at(said, "document_index", "document", blocks)
    if said.citation.get("document_title") not in (None, sent.part.get("title", "")):
        raise _CitationError("other_source", sent)
    start, end = _get_integer(said, "start_char_index"), _get_integer(said, "end_char_index")
    _check_range(sent, start, end, len(sent.text))
    return sent, start, end


def _block_at(
    said: ProviderCitation, name: str, kind: str, blocks: Sequence[CitableBlock]
) -> CitableBlock:
    place = _get_integer(said, name)
    own = [sent for sent in blocks if sent.part["type"] == kind]
    if not 0 <= place < len(own):
        raise _CitationError("no_such_block")
    return own[place]


def _check_quotation(
    said: ProviderCitation, sent: CitableBlock, start: int, end: int
) -> ConfirmedCitation:
    """Confirm the citation if the quoted text is at this place."""
    text = _get_text(said, "cited_text")
    if sent.text[start:end] != text:
        raise _CitationError("misplaced" if text and text in sent.text else "other_text", sent)
    return ConfirmedCitation(
        kind=str(said.citation["type"]),
        span=said.span,
        markers=(sent.block.marker,),
        cited_text=text,
        context_spans=(sent.context_span(start, end),),
    )


def _check_range(sent: CitableBlock, start: int, end: int, size: int) -> None:
    if not 0 <= start < end <= size:
        raise _CitationError("no_such_place", sent)


def _get_integer(said: ProviderCitation, name: str) -> int:
    value = said.citation.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _CitationError("broken")
    return value


def _get_text(said: ProviderCitation, name: str) -> str:
    value = said.citation.get(name)
    if not isinstance(value, str):
        raise _CitationError("broken")
    return value


_PLACES: Mapping[
    str,
    Callable[[ProviderCitation, Sequence[CitableBlock]], tuple[CitableBlock, int, int]],
] = {"search_result_location": _search_result_place, "char_location": _document_place}
