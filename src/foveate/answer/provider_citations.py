"""Checks the citations of a provider's response and converts them to ours.

Kinds: Anthropic's `search_result_location`, `char_location` and `content_block_location`, which
name a block that was sent. A citation is confirmed, with the marker of the block and its text at
the stated place, or refused with a reason. Nothing is guessed or repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from foveate.answer.places import CitableBlock, citable_blocks
from foveate.core.errors import BadInput, BadOption
from foveate.core.text.citation_markers import CitationMark, MarkerScanner
from foveate.core.types import Citation, Context, Span
from foveate.pipeline.prompts import is_cited_by_provider
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

    `context_spans` and `document_spans`: where the quoted text is in the context, and in the
    document if that is known.
    """

    kind: str
    span: Span
    markers: tuple[int, ...]
    cited_text: str = ""
    context_spans: tuple[Span, ...] = ()
    document_spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCitation:
    """A provider's citation that does not hold, and why. `markers`: of the block it points at."""

    kind: str
    span: Span
    reason: RefusalReason
    markers: tuple[int, ...] = ()
    cited_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    r"""An answer with its provider's citations. `text`: as written; spans count in it.

    `marked_text`: with `[n]` after each supported range, as `check_answer` reads it, and `[\n]` for
    a bracketed number that the model wrote itself. `citations`: ours, each once, in the order of
    their markers.
    """

    text: str
    marked_text: str
    confirmed_citations: tuple[ConfirmedCitation, ...]
    refused_citations: tuple[RefusedCitation, ...]
    citations: tuple[Citation, ...]


def resolve_provider_citations(
    response: Any, context: Context, *, before: int = 0
) -> ProviderAnswer:
    """The answer with its provider's citations, checked against the context that was sent.

    `response`: Anthropic's message, as the client's object or plain JSON. `before`: the number of
    blocks of the same kind earlier in the request, which a provider counts too. Raises `BadInput`
    for another response, and `BadOption` for a bad `before`.

    >>> from foveate import assemble
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("How old?", found, budget=99, format="anthropic-document")
    >>> cited = {"type": "char_location", "document_index": 0, "document_title": "mill.md"}
    >>> cited |= {"start_char_index": 0, "end_char_index": 27}
    >>> cited |= {"cited_text": "The mill was built in 1880."}
    >>> part = {"type": "text", "text": "Since 1880.", "citations": [cited]}
    >>> answer = resolve_provider_citations({"type": "message", "content": [part]}, context)
    >>> answer.marked_text, [one.source for one in answer.citations]
    ('Since 1880. [1]', ['mill.md'])
    """
    text, said = _read_message(response)
    given, refused = check_provider_citations(text, said, context, before=before)
    markers = {marker for one in given for marker in one.markers}
    return ProviderAnswer(
        text=text,
        # Who cites blocks by itself was asked for no markers: its numbers name none of ours.
        marked_text=_insert_markers(
            text, given, _find_bracketed_numbers(text) if is_cited_by_provider(context) else ()
        ),
        confirmed_citations=given,
        refused_citations=refused,
        citations=tuple(one for one in context.citations if one.marker in markers),
    )


def _read_message(response: Any) -> tuple[str, list[ProviderCitation]]:
    """The text of a message and its citations, each for the part of the text that has it.

    What cannot be read is refused, for an answer with a part missing would be none.
    """
    content = _to_plain(response).get("content")
    if not isinstance(content, list):
        raise BadInput("is no message of Anthropic's; give it whole", field="response")
    text, said = "", []
    for part in map(_to_plain, content):
        if part.get("type") != "text":
            continue
        if not isinstance(part.get("text"), str):
            raise BadInput("has a text that is none; give the whole response", field="response")
        span = (len(text), len(text) + len(part["text"]))
        text += part["text"]
        listed = part.get("citations")
        for one in listed if isinstance(listed, list) else ():
            plain = one.model_dump(warnings=False) if hasattr(one, "model_dump") else one
            citation = plain if isinstance(plain, Mapping) else {}
            said.append(ProviderCitation(citation=citation, span=span))
    return text, said


def _to_plain(value: Any) -> Mapping[str, Any]:
    """The client's object as plain values; what a newer server says need not be of its types."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(warnings=False)
    if not isinstance(value, Mapping):
        what = type(value).__name__
        raise BadInput(f"must be the client's objects or their JSON, not {what}", field="response")
    return value


def check_provider_citations(
    text: str, said: Iterable[ProviderCitation], context: Context, *, before: int = 0
) -> tuple[tuple[ConfirmedCitation, ...], tuple[RefusedCitation, ...]]:
    """Check the citations of an answer's text: the confirmed ones, and the refused ones."""
    book = _CitationChecker(context, before)
    judged = [book.check(one, len(text)) for one in said]
    given = tuple(one for one in judged if isinstance(one, ConfirmedCitation))
    return given, tuple(one for one in judged if isinstance(one, RefusedCitation))


def _insert_markers(text: str, given: tuple[ConfirmedCitation, ...], own: Iterable[int]) -> str:
    """Insert markers after the supported ranges, each once a place.

    Markers come before trailing white space, because on the next line they would belong to its
    text. `own`: where a bracket opens that is no marker.
    """
    at: dict[int, dict[str, None]] = {place + 1: {"\\": None} for place in own}
    for one in given:
        start, end = one.span
        while end > start and text[end - 1].isspace():
            end -= 1
        behind = at.setdefault(end, {})
        behind.update(dict.fromkeys([*([] if behind else [" "]), *(f"[{n}]" for n in one.markers)]))
    found, last = [], 0
    for place in sorted(at):
        found += [text[last:place], *at[place]]
        last = place
    return "".join([*found, text[last:]])


def _find_bracketed_numbers(text: str) -> list[int]:
    """Where the model wrote a bracketed number of its own."""
    scanner = MarkerScanner()
    return [
        one.start
        for one in (*scanner.feed(text), *scanner.finish())
        if isinstance(one, CitationMark)
    ]


class _CitationError(Exception):  # it leaves no function of this file
    """A citation that does not hold; `sent`: the block that it names."""

    def __init__(self, reason: RefusalReason, sent: CitableBlock | None = None) -> None:
        super().__init__(reason)
        self.reason, self.block = reason, sent


class _CitationChecker:
    """Checks a citation of each kind against what was sent."""

    def __init__(self, context: Context, before: int) -> None:
        if isinstance(before, bool) or not isinstance(before, int) or before < 0:
            raise BadOption(f"before is {before!r}; give how many blocks stood before, 0 or more")
        self._before = before
        self._blocks = citable_blocks(context)

    def check(self, said: ProviderCitation, length: int) -> ConfirmedCitation | RefusedCitation:
        """One citation, confirmed or refused."""
        kind = said.citation.get("type")
        known = RefusedCitation(kind=str(kind), span=said.span, reason="unknown_kind")
        quoted = said.citation.get("cited_text")
        if isinstance(quoted, str):
            known = replace(known, cited_text=quoted)
        reader = _CHECKS_BY_KIND.get(kind) if isinstance(kind, str) else None
        if reader is None:
            return known
        if not 0 <= said.span[0] <= said.span[1] <= length:
            return replace(known, reason="outside_answer")
        try:
            return reader(self, said)
        except _CitationError as wrong:
            markers = () if wrong.block is None else (wrong.block.block.marker,)
            return replace(known, reason=wrong.reason, markers=markers)

    def check_search_result(self, said: ProviderCitation) -> ConfirmedCitation:
        """A range of the texts of a search result; its source and title come back with it."""
        sent = self._block_at(said, "search_result_index", "search_result")
        if _get_text(said, "source") != sent.part["source"]:
            raise _CitationError("other_source", sent)
        if said.citation.get("title") not in (None, sent.part["title"]):
            raise _CitationError("other_source", sent)
        return self._check_text_range(said, sent)

    def check_content_blocks(self, said: ProviderCitation) -> ConfirmedCitation:
        """A range of the texts of a document that was sent in several."""
        return self._check_text_range(said, self._document_block(said))

    def check_characters(self, said: ProviderCitation) -> ConfirmedCitation:
        """A range of characters of a document of plain text."""
        sent = self._document_block(said)
        start, end = _get_integer(said, "start_char_index"), _get_integer(said, "end_char_index")
        _check_range(sent, start, end, len(sent.text))
        return self._check_quotation(said, sent, start, end)

    def _document_block(self, said: ProviderCitation) -> CitableBlock:
        sent = self._block_at(said, "document_index", "document")
        if said.citation.get("document_title") not in (None, sent.part.get("title", "")):
            raise _CitationError("other_source", sent)
        return sent

    def _block_at(self, said: ProviderCitation, name: str, type: str) -> CitableBlock:
        place = _get_integer(said, name) - self._before
        own = [sent for sent in self._blocks if sent.part["type"] == type]
        if not 0 <= place < len(own):
            raise _CitationError("no_such_block")
        return own[place]

    def _check_text_range(self, said: ProviderCitation, sent: CitableBlock) -> ConfirmedCitation:
        first = _get_integer(said, "start_block_index")
        behind = _get_integer(said, "end_block_index")
        _check_range(sent, first, behind, len(sent.texts))
        start = sum(map(len, sent.texts[:first]))
        end = start + sum(map(len, sent.texts[first:behind]))
        return self._check_quotation(said, sent, start, end)

    def _check_quotation(
        self, said: ProviderCitation, sent: CitableBlock, start: int, end: int
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
            document_spans=sent.document_spans(start, end),
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


_CHECKS_BY_KIND: Mapping[str, Callable[[_CitationChecker, ProviderCitation], ConfirmedCitation]] = {
    "search_result_location": _CitationChecker.check_search_result,
    "char_location": _CitationChecker.check_characters,
    "content_block_location": _CitationChecker.check_content_blocks,
}
