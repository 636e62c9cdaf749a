"""What all chat providers over HTTP share; a subclass writes requests and reads events."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from foveate.ports import Reply, Usage
from foveate.providers.chat.http_client import (
    OWN_KEY,
    ProviderError,
    base_headers,
    broken_stream_error,
    check_address,
    check_key_set,
    import_httpx,
    is_encrypted,
    post_lines,
    protocol_error,
    read_key,
    truncated_error,
)
from foveate.providers.chat.request import ChatRequest

FinishReason: TypeAlias = Literal["stop", "length", "other"]
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A provider: its name, its key, and what it can be sent.

    `path`: behind the address. `home`: the address where list prices hold; empty for none.
    `finish`: reasons why an answer ends; any other one is "other". `answer`: what an answer is
    called in errors.
    """

    name: str
    path: str
    key_variable: str
    answer: str
    finish: Mapping[str, FinishReason]
    home: str = ""
    takes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Connection:
    """One attempt's client, and the key that errors must not repeat."""

    client: Any
    key: str

    def post(self, url: str, record: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """The lines of the answer; raises `ProviderError`."""
        return post_lines(self.client, url, record, key=self.key)


class HttpProvider(ABC):
    """One protocol: asks once, streams what comes, and raises `ProviderError`.

    `address`: the server, for errors. `at_home`: whether it is the provider's, whose list prices
    hold. `takes`: types of content parts besides text. `scores`: whether it scores a given text;
    None until it was asked.
    """

    vendor: ClassVar[Vendor]
    uses_proxy: ClassVar[bool] = True
    scores: bool | None = False

    def __init__(self, model: str, url: str = "") -> None:
        self._model = model
        self._has_own_url = bool(url)
        self._url = url or self._default_url()
        self._rejected_options: frozenset[str] = frozenset()
        self.name = f"{self.vendor.name}:{model}" + (f"@{url}" if url else "")
        self.address = "" if url else self._url
        self.at_home = bool(self.vendor.home) and self._url == self.vendor.home
        self.takes = self.vendor.takes

    def key(self) -> str:
        """The key, read from the environment at each use."""
        return read_key(self._key_variable)

    @property
    def _key_variable(self) -> str:
        return OWN_KEY if self._has_own_url else self.vendor.key_variable

    def check(self) -> None:
        """Raise `MissingExtra` without the package for HTTP, `ExternalError` without a key."""
        import_httpx(self.vendor.name)
        if self.at_home:
            check_key_set(self.name, self._key_variable)

    def load(self) -> None:  # noqa: B027 (most have nothing to load)
        """Load what takes long, outside all time limits."""

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """Pieces of the answer ("" as a sign of life), then the `Reply` or `ScoredReply`.

        An option that the model rejects is left out, and it is asked again.
        """
        key, httpx = self.key(), import_httpx(self.vendor.name)
        failure: ProviderError | None = None
        async with httpx.AsyncClient(
            headers=base_headers(self._headers(key)),
            timeout=httpx.Timeout(None, connect=min(_CONNECT_SECONDS, asked.timeout)),
            trust_env=self.uses_proxy,
            verify=is_encrypted(self._url),
        ) as client:
            try:
                async with aclosing(self._stream(Connection(client, key), asked)) as pieces:
                    async for piece in pieces:
                        yield piece
            except ProviderError as error:
                failure = error
            except Exception as error:  # noqa: BLE001  # whatever an answer of another shape causes
                what = f"sent what is no {self.vendor.answer} ({type(error).__name__}: {error})"
                failure = protocol_error(what, key)
        if failure is not None:
            raise failure

    async def _events(
        self, connection: Connection, asked: ChatRequest, more: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of the answer, once the model takes the options. `more`: further options."""
        while True:
            options = {**self._options(asked), **(more or {})}
            url = f"{self._url}{self.vendor.path}"
            try:
                async with aclosing(connection.post(url, options)) as lines:
                    async for line in lines:
                        if payload := self._payload(line):
                            yield _parse_event(payload, connection.key)
                return
            except ProviderError as error:
                option = self._rejected_option(error, options)
                if not option:
                    raise
            self._rejected_options |= {option}

    def _payload(self, line: bytes) -> bytes:
        """The data of an event of the server; empty for what has none."""
        data = line[5:].strip() if line.startswith(b"data:") else b""
        return b"" if data == b"[DONE]" else data

    def _reply(self, texts: list[str], finish: str, usage: Usage, model: str, **more: Any) -> Reply:
        if not finish:
            raise truncated_error()
        reason: FinishReason = self.vendor.finish.get(finish, "other")
        return Reply(text="".join(texts), finish=reason, usage=usage, model=model, **more)

    def _rejected_option(self, error: ProviderError, options: Mapping[str, Any]) -> str:
        """The option that this model does not take; empty if the error is another."""
        return ""

    def _default_url(self) -> str:
        said = os.environ.get(f"{self.vendor.name.upper()}_BASE_URL")
        return check_address(said or self.vendor.home)

    def _headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    @abstractmethod
    def _options(self, asked: ChatRequest) -> dict[str, Any]: ...

    @abstractmethod
    def _stream(
        self, connection: Connection, asked: ChatRequest
    ) -> AsyncGenerator[str | Reply, None]: ...


def _parse_event(payload: bytes, key: str) -> dict[str, Any]:
    event = json.loads(payload.decode(errors="replace"))
    if not isinstance(event, dict):
        raise TypeError("an event is no object")
    if event.get("error"):
        raise broken_stream_error(event["error"], key)
    return event
