"""Claude models: `anthropic:MODEL`, or `anthropic:MODEL@URL` for what speaks the same protocol.

The key: `ANTHROPIC_API_KEY`, for an address in the name `FOVEATE_MODEL_KEY`. The system prompt
stands apart from the messages. https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from foveate.adapters.models.asked import Asked
from foveate.adapters.models.cited import Answer
from foveate.adapters.models.sent import count_in, text_in
from foveate.adapters.models.trouble import (
    Seen,
    Trouble,
    broken,
    cut_off,
    odd,
    refused,
    unreachable,
)
from foveate.adapters.models.wire import (
    OWN_KEY,
    check_address,
    http_options,
    key_in,
    refuse_keyless,
)
from foveate.core.errors import MissingExtra
from foveate.ports import Message, Reply, Usage, text_of

_HOME = "https://api.anthropic.com"
_VERSION = "2023-06-01"
"""Of the protocol."""
_FINISH: dict[str, Literal["stop", "length"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
}


class AnthropicSpeaker:
    """Streams one answer; what was read is known at its start, what was written at its end."""

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._own = bool(url)
        self._refused: frozenset[str] = frozenset()  # options that this model does not take
        self._url = url or check_address(os.environ.get("ANTHROPIC_BASE_URL") or _HOME)

    @property
    def name(self) -> str:
        """`anthropic:`, the model, and the address where one was given."""
        return f"anthropic:{self._model}" + (f"@{self._url}" if self._own else "")

    @property
    def where(self) -> str:
        """The address, where the name does not say it."""
        return "" if self._own else self._url

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
        return key_in(self._variable)

    @property
    def _variable(self) -> str:
        return OWN_KEY if self._own else "ANTHROPIC_API_KEY"

    def check(self) -> None:
        """The vendor's client with the part that it loads at first use; the provider's key."""
        try:
            import anthropic.resources.messages  # noqa: F401
        except ImportError:
            raise MissingExtra("anthropic", "anthropic") from None
        if self._url == _HOME:
            refuse_keyless(self.name, self._variable)

    def ready(self) -> None:
        """Nothing takes long."""

    async def speak(self, asked: Asked) -> AsyncGenerator[str | Reply, None]:
        """One attempt; a model that takes no temperature is asked again at once without it."""
        import httpx2
        from anthropic import AsyncAnthropic

        key, seen = self.key(), Seen()
        headers = {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}
        wire = http_options(
            httpx2, connect=asked.connect, seen=seen, headers=headers, own=self._own
        )
        async with AsyncAnthropic(
            api_key=key or "none",
            base_url=self._url,
            max_retries=0,
            http_client=httpx2.AsyncClient(**wire),
        ) as client:
            stream = await self._opened(client.messages.create, asked, seen)
            async with (
                stream,
                aclosing(_pieces(stream, self._model, seen, cites=_cites(asked))) as pieces,
            ):
                async for piece in pieces:
                    yield piece

    async def _opened(self, create: Any, asked: Asked, seen: Seen) -> Any:
        """The stream, once the model takes what it is asked; raises `Trouble`."""
        while True:
            options = self._options(asked)
            try:
                return await create(**options)
            except _kinds() as error:
                trouble, refused_one = _trouble(error, seen), _not_taken(error, options)
            if not refused_one:
                raise trouble
            self._refused = self._refused | {refused_one}

    def _options(self, asked: Asked) -> dict[str, Any]:
        system, turns = apart(asked)
        stops = [mark for mark in asked.stop if mark.strip()]  # white space alone is refused
        return {
            "model": self._model,
            "messages": turns,
            "max_tokens": asked.max_tokens,
            "stream": True,
            **(
                {}
                if self._refused
                else {"extra_body": {"temperature": min(1.0, asked.temperature)}}
            ),
            **({"system": system} if system else {}),
            **({"stop_sequences": stops} if stops else {}),
        }


def apart(asked: Asked) -> tuple[str, list[Message]]:
    """System messages as one text, and the turns."""
    system = [text_of(m["content"]) for m in asked.messages if m["role"] == "system"]
    turns = [m for m in asked.messages if m["role"] != "system"]
    return "\n\n".join(system), turns


def _cites(asked: Asked) -> bool:
    """Whether blocks are sent that the model cites by itself."""
    contents = [m["content"] for m in asked.messages]
    parts = [part for one in contents if not isinstance(one, str) for part in one]
    return any(part.get("type") in ("document", "search_result") for part in parts)


async def _pieces(
    stream: Any, model: str, seen: Seen, *, cites: bool
) -> AsyncGenerator[str | Reply, None]:
    r"""Text as it comes; thinking and pings are signs of life.

    Behind a stretch of text that the provider gives sources for stand their markers: `[n]` is the
    nth block with citations on that was sent. Who `cites` by itself writes none: a number in
    brackets was copied from a document, and becomes `[\n]`.
    """
    answer = Answer(cites=cites)
    finish, usage = "", Usage()
    trouble: Trouble | None = None
    try:
        async for event in stream:
            text = ""
            if event.type == "message_start":
                model = text_in(event.message.model) or model
                usage = _read(event.message.usage)
            elif event.type == "content_block_delta":
                text = answer.more(event.delta)
            elif event.type in ("content_block_start", "content_block_stop"):
                text = answer.settled()
            elif event.type == "message_delta":
                finish = text_in(event.delta.stop_reason) or finish
                usage = _written(usage, event.usage)
            yield text
    except Exception as error:  # noqa: BLE001
        trouble = _trouble(error, seen)
    if trouble is not None:
        raise trouble
    if not finish:
        raise cut_off()
    if rest := answer.settled(end=True):
        yield rest
    yield Reply(
        text="".join(answer.said),
        finish=_FINISH.get(finish, "other"),
        usage=usage,
        model=model,
        quoted=tuple(answer.quoted),
    )


def _read(said: Any) -> Usage:
    """`input_tokens` leaves out what was read from the cache and what was put into it."""
    read = count_in(said.input_tokens) if said is not None else None
    if read is None:
        return Usage()
    cached = count_in(said.cache_read_input_tokens) or 0
    kept = count_in(said.cache_creation_input_tokens) or 0
    return Usage(prompt=read + cached + kept, cached=cached)


def _written(usage: Usage, said: Any) -> Usage:
    if said is None:
        return usage
    wrote = count_in(said.output_tokens)
    return Usage(prompt=usage.prompt, cached=usage.cached, completion=wrote)


def _not_taken(error: Exception, options: Mapping[str, Any]) -> str:
    """Newer models take no temperature and say so; empty where that is not what is wrong."""
    from anthropic import BadRequestError

    sent = "temperature" in options.get("extra_body", {})
    about = isinstance(error, BadRequestError) and "temperature" in _said(error)
    return "temperature" if sent and about else ""


def _kinds() -> tuple[type[Exception], ...]:
    """What the client raises; anything else is a fault of ours."""
    import anthropic
    import httpx2

    return (anthropic.APIError, httpx2.RequestError, httpx2.InvalidURL, Trouble)


def _trouble(error: Exception, seen: Seen) -> Trouble:
    """The vendor's errors, ours where one comes through."""
    import anthropic
    import httpx2

    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, Trouble):
            return inner
        inner = inner.__cause__
    if isinstance(error, anthropic.APIStatusError):
        # An error inside a stream comes with the stream's own status, which is 200.
        if error.status_code == 200:
            return broken(_said(error), seen)
        return refused(error.status_code, _said(error), seen)
    if isinstance(error, anthropic.APIConnectionError | httpx2.RequestError | httpx2.InvalidURL):
        return unreachable(error, seen)
    return odd(f"sent what is no message ({type(error).__name__}: {error})", seen)


def _said(error: Any) -> str:
    """The server's own words: `{"error": {"message": ...}}`."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else body
    return message if isinstance(message, str) else str(error.message)
