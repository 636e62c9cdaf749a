"""Claude models: `anthropic:MODEL`, or `anthropic:MODEL@URL` for a compatible server.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from foveate.core.text.citation_markers import AnswerPiece, CitationMark, MarkerScanner
from foveate.ports import Message, ProviderCitation, Reply, Usage, text_from_content
from foveate.providers.chat.http_client import ProviderError
from foveate.providers.chat.http_provider import Connection, HttpProvider, Vendor
from foveate.providers.chat.request import ChatRequest, parse_count, parse_text

_ANTHROPIC = Vendor(
    name="anthropic",
    path="/v1/messages",
    key_variable="ANTHROPIC_API_KEY",
    answer="message",
    home="https://api.anthropic.com",
    takes=frozenset({"text", "search_result", "document", "image"}),
    finish={"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"},
)
_PROTOCOL_VERSION = "2023-06-01"


class AnthropicProvider(HttpProvider):
    """Streams one answer; what was read is known at its start, what was written at its end."""

    vendor = _ANTHROPIC

    def _headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": _PROTOCOL_VERSION, **({"x-api-key": key} if key else {})}

    async def _stream(
        self, connection: Connection, asked: ChatRequest
    ) -> AsyncGenerator[str | Reply, None]:
        r"""Text as it comes; thinking and pings are signs of life.

        `[n]` behind a stretch of text is the nth block with citations that was sent. A number in
        brackets that a citing model writes itself was copied from a document: it becomes `[\n]`.
        """
        answer = CitedAnswer(cites=_has_citable_parts(asked))
        finish, usage, model = "", Usage(), self._model
        async with aclosing(self._events(connection, asked)) as events:
            async for event in events:
                text, kind = "", event.get("type")
                if kind == "message_start":
                    model = parse_text(event["message"].get("model")) or model
                    usage = _prompt_usage(event["message"].get("usage") or {})
                elif kind == "content_block_delta":
                    text = answer.add_delta(event["delta"])
                elif kind in ("content_block_start", "content_block_stop"):
                    text = answer.flush_citations()
                elif kind == "message_delta":
                    finish = parse_text(event["delta"].get("stop_reason")) or finish
                    wrote = parse_count((event.get("usage") or {}).get("output_tokens"))
                    usage = replace(usage, completion=wrote)
                yield text
        rest = answer.flush_citations(end=True) if finish else ""
        if rest:
            yield rest
        yield self._reply(answer.texts, finish, usage, model, quoted=tuple(answer.quoted))

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        system, turns = split_system_messages(asked)
        stops = [mark for mark in asked.stop if mark.strip()]  # white space alone is refused
        options: dict[str, Any] = {
            "model": self._model,
            "messages": turns,
            "max_tokens": asked.max_tokens,
            "stream": True,
        }
        if not self._rejected_options:
            options["temperature"] = min(1.0, asked.temperature)
        if system:
            options["system"] = system
        if stops:
            options["stop_sequences"] = stops
        return options

    def _rejected_option(self, error: ProviderError, options: Mapping[str, Any]) -> str:
        """Newer models take no temperature and say so."""
        about = error.status == 400 and "temperature" in error.why
        return "temperature" if about and "temperature" in options else ""


def split_system_messages(asked: ChatRequest) -> tuple[str, list[Message]]:
    """System messages as one text, and the turns."""
    system = [text_from_content(m["content"]) for m in asked.messages if m["role"] == "system"]
    turns = [m for m in asked.messages if m["role"] != "system"]
    return "\n\n".join(system), turns


def _has_citable_parts(asked: ChatRequest) -> bool:
    """Whether blocks are sent that the model cites by itself."""
    contents = [m["content"] for m in asked.messages]
    parts = [part for one in contents if not isinstance(one, str) for part in one]
    return any(part.get("type") in ("document", "search_result") for part in parts)


def _prompt_usage(said: Mapping[str, Any]) -> Usage:
    """`input_tokens` leaves out what was read from the cache and what was put into it."""
    read = parse_count(said.get("input_tokens"))
    if read is None:
        return Usage()
    cached = parse_count(said.get("cache_read_input_tokens")) or 0
    kept = parse_count(said.get("cache_creation_input_tokens")) or 0
    return Usage(prompt=read + cached + kept, cached=cached)


class CitedAnswer:
    """The text of an answer and its citations, one stretch after the other."""

    def __init__(self, *, cites: bool) -> None:
        self.texts: list[str] = []
        self._scanner = MarkerScanner() if cites else None
        self.quoted: list[ProviderCitation] = []
        self._size = self._span_start = 0
        self._pending_citations: list[Mapping[str, Any]] = []
        self._line_end = ""  # the end of a line, which markers must stand before

    def add_delta(self, delta: Mapping[str, Any]) -> str:
        """A piece of text, or a citation of the stretch that it belongs to."""
        if delta.get("type") == "citations_delta":
            self._pending_citations.append(delta["citation"])
        if delta.get("type") != "text_delta":
            return ""
        text = parse_text(delta.get("text"))
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
            self.quoted.append(ProviderCitation(span=(self._span_start, self._size), citation=one))
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
    """The piece, with a bracket that is no marker of ours escaped."""
    return f"{piece.text[0]}\\{piece.text[1:]}" if isinstance(piece, CitationMark) else piece.text


def _block_index(citation: Mapping[str, Any]) -> int | None:
    """The block's place among those of its kind, from 0; None where it is of none that was sent."""
    is_result = citation.get("type") == "search_result_location"
    return parse_count(citation.get("search_result_index" if is_result else "document_index"))
