"""What all chat providers over HTTP share; a subclass writes requests and streams answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias

from foveate.core.errors import MissingExtra
from foveate.ports import Reply, Usage
from foveate.providers.chat.http_client import (
    OWN_KEY,
    AttemptInfo,
    ProviderError,
    broken_stream_error,
    check_key_set,
    connection_error,
    http_options,
    protocol_error,
    read_key,
    status_error,
    truncated_error,
)
from foveate.providers.chat.request import ChatProvider, ChatRequest

FinishReason: TypeAlias = Literal["stop", "length", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A provider: its name, its client's modules, its key, and what it can be sent.

    `home`: the address where list prices hold; empty for none. `finish`: reasons why an answer
    ends; any other one is "other". `answer`: what an answer is called in errors.
    """

    name: str
    client: str
    http: str
    key_variable: str
    answer: str
    finish: Mapping[str, FinishReason]
    home: str = ""
    takes: frozenset[str] = frozenset()


class HttpProvider(ChatProvider):
    """A provider over HTTP; see `ChatProvider`."""

    vendor: ClassVar[Vendor]

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
        """Raise `MissingExtra` without the client's package, `ExternalError` without a key."""
        try:
            import_module(self.vendor.client)
        except ImportError:
            raise MissingExtra(self.vendor.name, self.vendor.name) from None
        if self.at_home:
            check_key_set(self.name, self._key_variable)

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """One attempt; an option that the model rejects is left out, and it is asked again."""
        key, seen = self.key(), AttemptInfo()
        options = http_options(
            import_module(self.vendor.http),
            connect=asked.connect,
            seen=seen,
            headers=self._headers(key),
            own=self._has_own_url,
        )
        failure: ProviderError | None = None
        async with self._connect(key or "none", options) as client:
            try:
                async with aclosing(self._stream(client, asked, seen)) as pieces:
                    async for piece in pieces:
                        yield piece
            except Exception as error:  # noqa: BLE001  # raised again below, without its request
                failure = self._convert_error(error, seen)
        if failure is not None:
            raise failure

    async def _create(self, create: Callable[..., Awaitable[Any]], asked: ChatRequest) -> Any:
        """The answer's stream, once the model takes the options."""
        while True:
            options = self._options(asked)
            try:
                return await create(**options)
            except Exception as error:
                option = self._rejected_option(error, options)
                if not option:
                    raise
            self._rejected_options |= {option}

    def _reply(self, texts: list[str], finish: str, usage: Usage, model: str, **more: Any) -> Reply:
        if not finish:
            raise truncated_error()
        reason: FinishReason = self.vendor.finish.get(finish, "other")
        return Reply(text="".join(texts), finish=reason, usage=usage, model=model, **more)

    def _convert_error(self, error: Exception, seen: AttemptInfo) -> ProviderError:
        """The error of one attempt; ours, if one comes through the client."""
        inner: BaseException | None = error
        while inner is not None:
            if isinstance(inner, ProviderError):
                return inner
            inner = inner.__cause__
        found = self._convert_client_error(error, seen)
        if found is not None:
            return found
        http = import_module(self.vendor.http)
        if isinstance(error, http.RequestError | http.InvalidURL | ConnectionError):
            return connection_error(error, seen)
        what = f"sent what is no {self.vendor.answer} ({type(error).__name__}: {error})"
        return protocol_error(what, seen)

    def _convert_client_error(self, error: Exception, seen: AttemptInfo) -> ProviderError | None:
        """The errors of OpenAI's and Anthropic's clients, which come from one generator."""
        client = import_module(self.vendor.client.partition(".")[0])
        if isinstance(error, client.APIStatusError):
            # An error inside a stream comes with the stream's own status.
            if error.status_code == 200:
                return broken_stream_error(self._error_message(error), seen)
            return status_error(error.status_code, self._error_message(error), seen)
        if isinstance(error, client.APIConnectionError):
            return connection_error(error, seen)
        if isinstance(error, client.APIError):
            return broken_stream_error(error.message, seen)
        return None

    def _error_message(self, error: Any) -> str:
        """The server's own words, without the status that the client puts before them."""
        body = error.body
        if isinstance(body, dict):
            inner = body.get("error")
            body = (inner if isinstance(inner, dict) else body).get("message")
        if isinstance(body, str):
            return body
        return str(error.message if error.status_code == 200 else error.response.text)

    def _rejected_option(self, error: Exception, options: Mapping[str, Any]) -> str:
        """The option that this model does not take; empty if the error is another."""
        return ""

    @abstractmethod
    def _default_url(self) -> str: ...

    def _headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    @abstractmethod
    def _connect(self, key: str, options: dict[str, Any]) -> AbstractAsyncContextManager[Any]: ...

    @abstractmethod
    def _options(self, asked: ChatRequest) -> dict[str, Any]: ...

    @abstractmethod
    def _stream(
        self, client: Any, asked: ChatRequest, seen: AttemptInfo
    ) -> AsyncGenerator[str | Reply, None]: ...
