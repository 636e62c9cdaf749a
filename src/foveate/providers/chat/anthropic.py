"""Claude models: `anthropic:MODEL`, or `anthropic:MODEL@URL` for a compatible server.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from foveate.core.errors import MissingExtra
from foveate.core.text.citation_markers import AnswerPiece, CitationMark, MarkerScanner
from foveate.ports import Message, ProviderCitation, Reply, Usage, text_from_content
from foveate.providers.chat.http_client import (
    OWN_KEY,
    AttemptInfo,
    ProviderError,
    broken_stream_error,
    check_address,
    check_key_set,
    connection_error,
    http_options,
    protocol_error,
    read_key,
    status_error,
    truncated_error,
)
from foveate.providers.chat.request import ChatRequest, parse_count, parse_text


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


_HOME = "https://api.anthropic.com"
_VERSION = "2023-06-01"
"""Of the protocol."""
_FINISH: dict[str, Literal["stop", "length"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
}


class AnthropicProvider:
    """Streams one answer; what was read is known at its start, what was written at its end."""

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._has_own_url = bool(url)
        self._rejected_options: frozenset[str] = (
            frozenset()
        )  # options that this model does not take
        self._url = url or check_address(os.environ.get("ANTHROPIC_BASE_URL") or _HOME)

    @property
    def name(self) -> str:
        """`anthropic:`, the model, and the address where one was given."""
        return f"anthropic:{self._model}" + (f"@{self._url}" if self._has_own_url else "")

    @property
    def address(self) -> str:
        """The address, where the name does not say it."""
        return "" if self._has_own_url else self._url

    @property
    def at_home(self) -> bool:
        """Not at an address of one's own, nor where the environment points elsewhere."""
        return self._url == _HOME

    @property
    def takes(self) -> frozenset[str]:
        """Text, and what the model cites by itself."""
        return frozenset({"text", "search_result", "document"})

    @property
    def scores(self) -> bool:
        """No: the protocol has no way to ask for it."""
        return False

    def key(self) -> str:
        """Read when it is used, and kept nowhere."""
        return read_key(self._key_variable)

    @property
    def _key_variable(self) -> str:
        return OWN_KEY if self._has_own_url else "ANTHROPIC_API_KEY"

    def check(self) -> None:
        """The vendor's client with the part that it loads at first use; the provider's key."""
        try:
            import anthropic.resources.messages  # noqa: F401
        except ImportError:
            raise MissingExtra("anthropic", "anthropic") from None
        if self._url == _HOME:
            check_key_set(self.name, self._key_variable)

    def load(self) -> None:
        """Nothing takes long."""

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """One attempt; a model that takes no temperature is asked again at once without it."""
        import httpx2
        from anthropic import AsyncAnthropic

        key, seen = self.key(), AttemptInfo()
        headers = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        wire = http_options(
            httpx2, connect=asked.connect, seen=seen, headers=headers, own=self._has_own_url
        )
        async with AsyncAnthropic(
            api_key=key or "none",
            base_url=self._url,
            max_retries=0,
            http_client=httpx2.AsyncClient(**wire),
        ) as client:
            stream = await self._open_stream(client.messages.create, asked, seen)
            async with (
                stream,
                aclosing(
                    _stream_pieces(stream, self._model, seen, cites=_has_citable_parts(asked))
                ) as pieces,
            ):
                async for piece in pieces:
                    yield piece

    async def _open_stream(self, create: Any, asked: ChatRequest, seen: AttemptInfo) -> Any:
        """The stream, once the model takes what it is asked; raises `ProviderError`."""
        while True:
            options = self._options(asked)
            try:
                return await create(**options)
            except _client_errors() as error:
                trouble, refused_one = _convert_error(error, seen), _rejected_option(error, options)
            if not refused_one:
                raise trouble
            self._rejected_options = self._rejected_options | {refused_one}

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        system, turns = split_system_messages(asked)
        stops = [mark for mark in asked.stop if mark.strip()]  # white space alone is refused
        return {
            "model": self._model,
            "messages": turns,
            "max_tokens": asked.max_tokens,
            "stream": True,
            **(
                {}
                if self._rejected_options
                else {"extra_body": {"temperature": min(1.0, asked.temperature)}}
            ),
            **({"system": system} if system else {}),
            **({"stop_sequences": stops} if stops else {}),
        }


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


async def _stream_pieces(
    stream: Any, model: str, seen: AttemptInfo, *, cites: bool
) -> AsyncGenerator[str | Reply, None]:
    r"""Text as it comes; thinking and pings are signs of life.

    Behind a stretch of text that the provider gives sources for stand their markers: `[n]` is the
    nth block with citations on that was sent. Who `cites` by itself writes none: a number in
    brackets was copied from a document, and becomes `[\n]`.
    """
    answer = CitedAnswer(cites=cites)
    finish, usage = "", Usage()
    trouble: ProviderError | None = None
    try:
        async for event in stream:
            text = ""
            if event.type == "message_start":
                model = parse_text(event.message.model) or model
                usage = _prompt_usage(event.message.usage)
            elif event.type == "content_block_delta":
                text = answer.add_delta(event.delta)
            elif event.type in ("content_block_start", "content_block_stop"):
                text = answer.flush_citations()
            elif event.type == "message_delta":
                finish = parse_text(event.delta.stop_reason) or finish
                usage = _add_completion_usage(usage, event.usage)
            yield text
    except Exception as error:  # noqa: BLE001
        trouble = _convert_error(error, seen)
    if trouble is not None:
        raise trouble
    if not finish:
        raise truncated_error()
    if rest := answer.flush_citations(end=True):
        yield rest
    yield Reply(
        text="".join(answer.texts),
        finish=_FINISH.get(finish, "other"),
        usage=usage,
        model=model,
        quoted=tuple(answer.quoted),
    )


def _prompt_usage(said: Any) -> Usage:
    """`input_tokens` leaves out what was read from the cache and what was put into it."""
    read = parse_count(said.input_tokens) if said is not None else None
    if read is None:
        return Usage()
    cached = parse_count(said.cache_read_input_tokens) or 0
    kept = parse_count(said.cache_creation_input_tokens) or 0
    return Usage(prompt=read + cached + kept, cached=cached)


def _add_completion_usage(usage: Usage, said: Any) -> Usage:
    if said is None:
        return usage
    wrote = parse_count(said.output_tokens)
    return Usage(prompt=usage.prompt, cached=usage.cached, completion=wrote)


def _rejected_option(error: Exception, options: Mapping[str, Any]) -> str:
    """Newer models take no temperature and say so; empty where that is not what is wrong."""
    from anthropic import BadRequestError

    sent = "temperature" in options.get("extra_body", {})
    about = isinstance(error, BadRequestError) and "temperature" in _error_message(error)
    return "temperature" if sent and about else ""


def _client_errors() -> tuple[type[Exception], ...]:
    """What the client raises; anything else is a fault of ours."""
    import anthropic
    import httpx2

    return (anthropic.APIError, httpx2.RequestError, httpx2.InvalidURL, ProviderError)


def _convert_error(error: Exception, seen: AttemptInfo) -> ProviderError:
    """The vendor's errors, ours where one comes through."""
    import anthropic
    import httpx2

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, ProviderError):
            return inner
        inner = inner.__cause__
    if isinstance(error, anthropic.APIStatusError):
        # An error inside a stream comes with the stream's own status, which is 200.
        if error.status_code == 200:
            return broken_stream_error(_error_message(error), seen)
        return status_error(error.status_code, _error_message(error), seen)
    if isinstance(error, anthropic.APIConnectionError | httpx2.RequestError | httpx2.InvalidURL):
        return connection_error(error, seen)
    return protocol_error(f"sent what is no message ({type(error).__name__}: {error})", seen)


def _error_message(error: Any) -> str:
    """The server's own words: `{"error": {"message": ...}}`."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else body
    return message if isinstance(message, str) else str(error.message)
