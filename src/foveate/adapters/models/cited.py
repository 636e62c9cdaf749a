"""An answer that arrives with its citations beside it, as a text with markers in it."""

from __future__ import annotations

from typing import Any

from foveate.adapters.models.sent import text_in
from foveate.core.text.marks import Mark, Piece, Scanner
from foveate.ports import Quoted


class Answer:
    """What was written, and what comes beside it: citations of one stretch after the other."""

    def __init__(self, *, cites: bool) -> None:
        self.said: list[str] = []
        self._scanner = Scanner() if cites else None
        self.quoted: list[Quoted] = []
        self._size = self._begun = 0
        self._cited: list[Any] = []
        self._held = ""  # the end of a line, which markers must stand before

    def more(self, delta: Any) -> str:
        """A piece of text, or a citation of the stretch that it belongs to."""
        if delta.type == "citations_delta":
            self._cited.append(delta.citation)
        if delta.type != "text_delta":
            return ""
        text = text_in(delta.text)
        if self._scanner is not None:
            text = "".join(map(_copied, self._scanner.feed(text)))
        return self._line(text)

    def _line(self, text: str) -> str:
        """The text up to the end of its last line, which is held back."""
        text = self._held + text
        said = text.rstrip()
        if "\n" not in text[len(said) :]:
            said = text
        self._held = text[len(said) :]
        return self._put(said)

    def settled(self, *, end: bool = False) -> str:
        """The markers behind the stretch, each once, then the end of the line."""
        places = dict.fromkeys(place for one in self._cited if (place := _place(one)) is not None)
        last = ""
        if self._scanner is not None and (places or end):  # a bracket may go on in the next stretch
            last = self._line("".join(map(_copied, self._scanner.finish())))
            self._scanner = Scanner()
        for one in self._cited:
            said = one.model_dump(warnings=False)
            self.quoted.append(Quoted(span=(self._begun, self._size), citation=said))
        self._cited = []
        text = " " + "".join(f"[{place + 1}]" for place in places) if places else ""
        text, self._held = self._put(text + self._held), ""
        self._begun = self._size
        return last + text

    def _put(self, text: str) -> str:
        self.said.append(text)
        self._size += len(text)
        return text


def _copied(piece: Piece) -> str:
    """What a bracket says that is no marker of ours; anything else as it is."""
    return f"{piece.text[0]}\\{piece.text[1:]}" if isinstance(piece, Mark) else piece.text


def _place(citation: Any) -> int | None:
    """The block's place among those of its kind, from 0; None where it is of none that was sent."""
    name = "document_index"
    if citation.type == "search_result_location":
        name = "search_result_index"
    place = getattr(citation, name, None)
    counts = isinstance(place, int) and not isinstance(place, bool) and place >= 0
    return place if counts else None
