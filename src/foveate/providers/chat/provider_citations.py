"""An answer that arrives with its citations beside it, as a text with markers in it."""

from __future__ import annotations

from typing import Any

from foveate.core.text.citation_markers import AnswerPiece, CitationMark, MarkerScanner
from foveate.ports import ProviderCitation
from foveate.providers.chat.response_types import parse_text


class CitedAnswer:
    """What was written, and what comes beside it: citations of one stretch after the other."""

    def __init__(self, *, cites: bool) -> None:
        self.texts: list[str] = []
        self._scanner = MarkerScanner() if cites else None
        self.quoted: list[ProviderCitation] = []
        self._size = self._span_start = 0
        self._pending_citations: list[Any] = []
        self._line_end = ""  # the end of a line, which markers must stand before

    def add_delta(self, delta: Any) -> str:
        """A piece of text, or a citation of the stretch that it belongs to."""
        if delta.type == "citations_delta":
            self._pending_citations.append(delta.citation)
        if delta.type != "text_delta":
            return ""
        text = parse_text(delta.text)
        if self._scanner is not None:
            text = "".join(map(_escape_marker, self._scanner.feed(text)))
        return self._hold_line_end(text)

    def _hold_line_end(self, text: str) -> str:
        """The text up to the end of its last line, which is held back."""
        text = self._line_end + text
        said = text.rstrip()
        if "\n" not in text[len(said) :]:
            said = text
        self._line_end = text[len(said) :]
        return self._append(said)

    def flush_citations(self, *, end: bool = False) -> str:
        """The markers behind the stretch, each once, then the end of the line."""
        places = dict.fromkeys(
            place for one in self._pending_citations if (place := _block_index(one)) is not None
        )
        last = ""
        if self._scanner is not None and (places or end):  # a bracket may go on in the next stretch
            last = self._hold_line_end("".join(map(_escape_marker, self._scanner.finish())))
            self._scanner = MarkerScanner()
        for one in self._pending_citations:
            said = one.model_dump(warnings=False)
            self.quoted.append(ProviderCitation(span=(self._span_start, self._size), citation=said))
        self._pending_citations = []
        text = " " + "".join(f"[{place + 1}]" for place in places) if places else ""
        text, self._line_end = self._append(text + self._line_end), ""
        self._span_start = self._size
        return last + text

    def _append(self, text: str) -> str:
        self.texts.append(text)
        self._size += len(text)
        return text


def _escape_marker(piece: AnswerPiece) -> str:
    """What a bracket says that is no marker of ours; anything else as it is."""
    return f"{piece.text[0]}\\{piece.text[1:]}" if isinstance(piece, CitationMark) else piece.text


def _block_index(citation: Any) -> int | None:
    """The block's place among those of its kind, from 0; None where it is of none that was sent."""
    name = "document_index"
    if citation.type == "search_result_location":
        name = "search_result_index"
    place = getattr(citation, name, None)
    counts = isinstance(place, int) and not isinstance(place, bool) and place >= 0
    return place if counts else None
